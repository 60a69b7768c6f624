from __future__ import annotations

import re

import pytest

from tests.study.test_spec import ISSUE
from tests.study.tiny import SPEC
from unweave.errors import InputError
from unweave.study.grid import by_data, plan, varying
from unweave.study.spec import parse_spec


def test_every_run_is_planned_once() -> None:
    runs = plan(parse_spec(SPEC))
    assert len(runs) == 6
    assert len({run.name for run in runs}) == 6
    assert varying(runs) == ["recipe", "beta", "seed"]
    assert list(by_data(runs)) == [("tests.study.tiny:Dots", 6)]
    twice = SPEC + '\n[[grid]]\nrecipe = "vae"\ndata = "tests.study.tiny:Dots"\nseeds = 3\n'
    same = plan(parse_spec(twice))
    assert (len(same), len({run.name for run in same})) == (9, 7)  # a VAE is a β-VAE with β = 1
    repeated = SPEC + '\n[[grid]]\nrecipe = "ae"\ndata = "tests.study.tiny:Dots"\nseed = 1\n'
    whole = SPEC + '\n[[grid]]\nrecipe = "beta_vae"\ndata = "tests.study.tiny:Dots"\nbeta = 4.0\nseed = 1\n'
    with pytest.raises(InputError, match="line 26: grid 3 repeats a run of grid 1"):
        plan(parse_spec(whole), whole)
    with pytest.raises(InputError, match="line 26: grid 3 repeats a run of grid 2"):
        plan(parse_spec(repeated), repeated)


def test_the_example_of_the_documentation_plans_without_opening_data() -> None:
    runs = plan(parse_spec(ISSUE))
    assert len(runs) == 24
    assert {run.configuration.data.shape for run in runs} == {(1, 32, 32), (3, 32, 32)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('recipe = "beta_vae"', 'recipe = "betavae"'), "line 16: grid 1: unknown recipe 'betavae'"),
        (("beta = [1, 4]", "bta = [1, 4]"), "line 18: grid 1: unknown setting of beta_vae 'bta': did you mean 'beta'"),
        (("beta = [1, 4]", 'beta = [1, "x"]'), "line 18: grid 1: beta_vae: beta must be a valid number"),
        (("beta = [1, 4]", "beta = [1, -4]"), "line 18: grid 1: .* must be greater than or equal to 0, got -4"),
        (("steps = 3", "steps = true"), "line 10: .*steps must not be a boolean"),
        (("batch = 4", "batch = [[4]]"), "line 11: .*batch must be a valid integer"),
        (("batch = 4", 'device = "cuda"'), "line 11: .*'device' says how runs are carried out"),
        (("seed = [0, 1]", "seed = [0, -1]"), "line 19: .*seed must be greater than or equal to 0, got -1"),
        (("seeds = 2", "seeds = 2\nzip = {lr = [1e-3, -1.0]}"), "line 25: grid 2: .*lr must be greater than 0"),
        (("seeds = 2", 'seeds = 2\n"data.dark" = 3'), "line 25: grid 2: unknown setting of .* 'dark'"),
        (("samples = 60", "samples = 60\nsettings = {mig = {bin = 3}}"), "line 7: unknown setting of mig 'bin'"),
        (("[fixed]", "[score.settings]\nmgi = {bins = 3}\n[fixed]"), "line 10: unknown metric 'mgi'"),
        (("[fixed]", "[score.settings.mig]\nbin = 3\n[fixed]"), "line 9: unknown setting of mig 'bin'"),
        (("[fixed]", "[score.settings]\nmig = {bins = -4}\n[fixed]"), "line 10: .*bins must be .*, got -4"),
        (("[fixed]", "[score.settings]\n\nmig = {bins = 'a'}\n[fixed]"), "line 11: mig: bins must be a valid integer"),
        (
            ("samples = 60", "samples = 60\nsettings = {mig = {bins = 2.5}}"),
            "line 7: mig: bins must be a valid integer",
        ),
        (
            ("[fixed]", "[score.settings.mig]\nbins = true\n[fixed]"),
            "line 9: mig: bins must not be a boolean, got True",
        ),
        (
            ("[fixed]", "[score.settings]\ndci = {importance = 'svm'}\n[fixed]"),
            "line 10: settings of dci, which is not among metrics",
        ),
        (("seeds = 2", 'seeds = 2\ngrouping = "exchange"\nbatch = 3'), "line 26: .*batch must be even, got 3"),
        (
            ("seeds = 2", 'seeds = 2\ngrouping = "exchange"\nchanged = 3'),
            "line 26: .*changed=3 must be between 0 and 2",
        ),
        (
            ("seeds = 2", 'seeds = 2\n[select]\nby = "mig"\nseeds = [1]'),
            "line 27: .*seeds must be fresh, but the first stage has 1",
        ),
        (
            ("[fixed]", '[select]\nby = "dci"\nseeds = [5]\n[fixed]'),
            "line 10: .* needs the metric dci, but metrics are mig",
        ),
        (("[fixed]", '[select]\nby = "mig"\nseeds = [5]\nper = ["sed"]\n[fixed]'), "line 12: .*did you mean 'seed'"),
        (("[fixed]", '[select]\nby = "mig"\nseeds = []\n[fixed]'), "line 11: .*seeds must be different seeds"),
        (("[fixed]", '[select]\nby = "mig"\nseeds = [5, -1]\n[fixed]'), "line 11: .*seeds must be different seeds"),
        (("[fixed]", '[select]\nby = "mig"\nseeds = [5, 1]\n[fixed]'), "line 11: .*fresh, but the first stage has 1"),
        (
            ("[fixed]", '[select]\nby = "mig.scor"\nseeds = [5]\n[fixed]'),
            r"line 10: unknown score in \[select\] by 'mig.scor'",
        ),
        (
            ('net = "tests.study.tiny:linear"', 'net = "conv64"'),
            "line 13: grid 1: net 'conv64' needs images .* got 8 × 8",
        ),
        (
            ('metrics = ["mig"]', 'metrics = ["mig"]\ndisentanglement = ["mig", "sap"]'),
            "line 4: disentanglement: 'sap' needs the metric sap, but metrics are mig",
        ),
        (
            ('metrics = ["mig"]', 'metrics = ["dci"]\ndisentanglement = ["dci.disentangled"]'),
            "line 4: unknown score in disentanglement 'dci.disentangled': did you mean 'dci.disentanglement'",
        ),
        (('metrics = ["mig"]', 'metrics = ["migg"]'), "line 3: unknown metric 'migg': did you mean 'mig'"),
        (('recipe = ["ae"]', 'recipe = ["ae"]\nterms = {kl = 1.0}'), "line 23: grid 2: the term kl cannot be combined"),
        (('data = "tests.study.tiny:Dots"\nbeta', 'data = "./nowhere"\nbeta'), "line 17: grid 1: there is no file"),
        (('data = "tests.study.tiny:Dots"\nbeta', 'data = "dsprite"\nbeta'), "line 17: grid 1: unknown data set"),
    ],
)
def test_mistakes_are_sentences_with_the_line(change: tuple[str, str], message: str) -> None:
    text = SPEC.replace(*change)
    with pytest.raises(InputError, match=message):
        plan(parse_spec(text), text)


def test_settings_that_a_specification_refuses_are_not_suggested() -> None:
    text = SPEC.replace("beta = [1, 4]", "qqqq = 1")
    with pytest.raises(
        InputError, match=r"unknown setting of beta_vae 'qqqq': unweave recipes show beta_vae lists all; the main"
    ) as error:
        plan(parse_spec(text), text)
    assert not {"device", "threads", "log_steps", "tensorboard"} & set(re.findall(r"\w+", str(error.value)))


def test_the_size_of_the_latent_is_not_that_of_the_images() -> None:
    text = ISSUE.replace("lr = 1e-3", "latents = 0")
    with pytest.raises(
        InputError, match="line 7: grid 1: the gaussian latent: size must be greater than or equal to 1"
    ):
        plan(parse_spec(text), text)


def test_the_only_weight_that_varies_in_a_grid_is_its_strength() -> None:
    runs = plan(parse_spec(ISSUE))
    assert {(run.settings["recipe"], run.settings.get("strength")) for run in runs} == {
        ("beta_vae", 1),
        ("beta_vae", 4),
        ("beta_vae", 16),
        ("qlae", None),
        ("ae", None),
    }
    assert varying(runs) == ["recipe", "data", "beta", "seed", "net"]
    two = ISSUE.replace("beta = [1, 4, 16]", "beta = [1, 4]\nlr = [1e-3, 1e-4]\nlatents = [5, 9]")
    assert {run.settings.get("strength") for run in plan(parse_spec(two))} == {1, 4, None}
    weights = ISSUE.replace("beta = [1, 4, 16]", '"kl.weight" = [1, 4]\n"reconstruction.weight" = [1, 2]')
    assert {run.settings.get("strength") for run in plan(parse_spec(weights))} == {None}


def test_a_study_may_measure_nothing() -> None:
    text = SPEC.replace('metrics = ["mig"]\n', "")
    assert len(plan(parse_spec(text), text)) == 6
    wrong = text.replace("samples = 60", "samples = 60\nsettings = {mig = {bin = 3}}")
    with pytest.raises(InputError, match="unknown setting of mig 'bin'"):
        plan(parse_spec(wrong), wrong)


def test_grids_with_tags_may_share_runs_which_are_trained_once() -> None:
    grid = '\n[[grid]]\ntag = "{}"\nrecipe = "ae"\ndata = "tests.study.tiny:Dots"\n{}\n'
    text = SPEC.partition("[[grid]]")[0] + grid.format("figure 6", "seeds = 2") + grid.format("figure 9", "seeds = 3")
    runs = plan(parse_spec(text), text)
    assert [run.settings["tag"] for run in runs] == ["figure 6"] * 2 + ["figure 9"] * 3
    assert len({run.name for run in runs}) == 3
    plain = plan(
        parse_spec(text.replace('tag = "figure 9"\n', "").replace('tag = "figure 6"\nrecipe = "ae"', 'recipe = "vae"'))
    )
    assert {run.name for run in plain} >= {run.name for run in runs}  # a tag is no part of what is learned
    assert varying(runs) == ["seed"]


@pytest.mark.parametrize("tag", ["6", '["a", "b"]', "true"])
def test_a_tag_is_one_text(tag: str) -> None:
    text = SPEC.replace("[[grid]]", f"[[grid]]\ntag = {tag}", 1)
    with pytest.raises(InputError, match=r"line 16: grid 1: tag must be one text, as in tag = \"figure 6\""):
        parse_spec(text)
