from __future__ import annotations

import pytest

from tests.study.test_spec import ISSUE
from tests.study.tiny import SPEC
from unweave.errors import InputError
from unweave.study.planning import by_data, plan, varying
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
        (("beta = [1, 4]", 'beta = [1, "x"]'), "grid 1: beta_vae: beta must be a valid number"),
        (("steps = 3", "steps = true"), "steps must not be a boolean"),
        (('metrics = ["mig"]', 'metrics = ["migg"]'), "line 3: unknown metric 'migg': did you mean 'mig'"),
        (('recipe = ["ae"]', 'recipe = ["ae"]\nterms = {kl = 1.0}'), "grid 2: the term kl cannot be combined"),
        (('data = "tests.study.tiny:Dots"\nbeta', 'data = "dsprite"\nbeta'), "line 17: grid 1: unknown data set"),
    ],
)
def test_mistakes_are_sentences_with_the_line(change: tuple[str, str], message: str) -> None:
    text = SPEC.replace(*change)
    with pytest.raises(InputError, match=message):
        plan(parse_spec(text), text)
