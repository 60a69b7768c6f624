from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.study.tiny import SPEC
from unweave.errors import InputError, Unavailable
from unweave.study import Study
from unweave.study.spec import parse_spec, read_spec

ISSUE = """
name = "strengths"
metrics = ["mig", "dci", "infomec"]

[fixed]
steps = 10_000
lr = 1e-3
"data.size" = 32

[[grid]]                      # each grid is a product; a study is the union of its grids
recipe = "beta_vae"
data = ["dsprites", "rooms3d"]
beta = [1, 4, 16]
seed = [0, 1, 2]

[[grid]]
recipe = ["qlae", "ae"]
net = "conv64"
data = "rooms3d"
seed = [0, 1, 2]
"""


def test_a_study_is_the_union_of_products() -> None:
    points = list(parse_spec(ISSUE).points())
    assert len(points) == 2 * 3 * 3 + 2 * 3
    assert points[0] == {
        "steps": 10_000,
        "lr": 1e-3,
        "data.size": 32,
        "recipe": "beta_vae",
        "data": "dsprites",
        "beta": 1,
        "seed": 0,
    }
    assert {point["recipe"] for point in points[18:]} == {"qlae", "ae"}


def test_options_of_a_data_set_can_be_written_behind_its_name() -> None:
    text = 'name = "z"\n[[grid]]\nrecipe = "vae"\ndata = ["xysquares,size=16", "xysquares"]\n'
    assert list(parse_spec(text).points()) == [
        {"recipe": "vae", "data": "xysquares", "data.size": 16},
        {"recipe": "vae", "data": "xysquares"},
    ]
    with pytest.raises(InputError, match=r"grid 1: data.size is given twice"):
        list(parse_spec(text + '"data.size" = 32\n').points())


def test_metrics_can_be_replaced() -> None:
    spec = parse_spec(ISSUE)
    assert spec.with_fixed({"metrics": ["sap"]}).metrics == spec.with_fixed({"metrics": "sap"}).metrics == ("sap",)
    assert spec.with_fixed({"batch": 32}).metrics == ("mig", "dci", "infomec")


def test_values_that_go_together_are_zipped() -> None:
    zipped = "zip = {lr = [1e-3, 1e-4], batch = [64, 128]}"
    text = f'name = "z"\n[[grid]]\nrecipe = "vae"\ndata = "dsprites"\nseeds = 2\n{zipped}\n'
    points = list(parse_spec(text).points())
    assert [(p["lr"], p["batch"], p["seed"]) for p in points] == [
        (1e-3, 64, 0),
        (1e-3, 64, 1),
        (1e-4, 128, 0),
        (1e-4, 128, 1),
    ]
    nested = list(parse_spec(text.replace("seeds = 2", "changed = [[1, 2]]")).points())
    assert [p["changed"] for p in nested] == [[1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[fixed]", "[fxed]"), "line 9: unknown key of a study 'fxed': did you mean 'fixed'"),
        (('name = "tiny"', "name = 3"), "line 2: name must be a word"),
        (("[[grid]]", "[[gird]]"), "did you mean 'grid'"),
        (("beta = [1, 4]", "beta = []"), "line 18: grid 1: beta has no values"),
        (('recipe = ["ae"]\n', ""), "grid 2 has no recipe"),
        (("seeds = 2", "seeds = 2\nseed = 3"), "grid 2: give seed or seeds, not both"),
        (("seeds = 2", "seeds = 0"), "line 24: grid 2: seeds must be a number of seeds from 1 to 100,000, got 0"),
        (("seeds = 2", "seed = [0, 3, 0]"), "line 24: grid 2: seed lists 0 twice"),
        (("seeds = 2", "seed = 0\nlr = [1, 0.5, 1.0]"), "line 25: grid 2: lr lists 1.0 twice"),
        (("samples = 60", "samplez = 60"), r"line 6: unknown setting of \[score\] 'samplez'"),
        (("seeds = 2", "zip = {a = [1, 2], b = [1]}"), "line 24: grid 2: zip needs lists of one length"),
        (("seeds = 2", "zip = 3"), "line 24: grid 2: zip must map settings to lists of values"),
        (("seeds = 2", "zip = {steps = [1, 2]}"), "line 24: grid 2: steps is given twice, once in a zip"),
        (("seeds = 2", 'strength = "bet"'), "line 24: grid 2: strength must be the name of a setting of the grid"),
        (('name = "tiny"\n', ""), "a study needs a name"),
        (('metrics = ["mig"]', 'metrics = "mig"'), "line 3: metrics must be a list of names, got 'mig'"),
        (('metrics = ["mig"]', 'metrics = ["mig", "mig"]'), "line 3: metrics lists 'mig' twice"),
        (("[fixed]", '[select]\nby = "mig"\n\n[fixed]'), r"line 9: \[select\]: seeds is missing"),
        (("[fixed]", '[select]\nby = "mig"\nseeds = [1]\nbest = "hi"\n\n[fixed]'), "line 12: .*'highest' or 'lowest'"),
        (("samples = 60", "samples = 1"), r"line 6: \[score\]: samples"),
        (("samples = 60", "samples = 1"), "samples must be greater than or equal to 2"),
        (("samples = 60", "sample = 60"), "unknown setting of .* 'sample': did you mean 'samples'"),
        (("beta = [1, 4]", "beta = [1, 4"), "this is not TOML"),
        (("samples = 60", 'samples = "60"'), r"line 6: \[score\]: samples must be a valid integer, got '60'"),
        (("steps = 3", 'steps = "3"'), r"line 10: \[fixed\]: steps must not be a text, got '3'"),
        (("beta = [1, 4]", 'beta = [1, "4"]'), "line 18: grid 1: beta must not be a text, got '4'"),
        (("steps = 3", "steps = 3\ndata.dark = 3"), r'line 11: \[fixed\]: write "data.dark" in quotes'),
        (("seeds = 2", "[grid.zip]\na = [1, 2]\nb = [1]"), "line 24: grid 2: zip needs lists of one length"),
        (("seeds = 2", 'seeds = 2\n[select]\nby = "mig"\nseeds = 3'), "line 27: .*seeds must be a list, got 3"),
    ],
)
def test_mistakes_are_sentences_with_the_line(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(parse_spec(SPEC.replace(*change)).points())


def test_files_are_read_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    with pytest.raises(Unavailable, match=r"cannot read the study .*study.toml"):
        read_spec(path)
    path.write_text(SPEC)
    assert read_spec(path).name == "tiny"
    path.write_text("name = ")
    with pytest.raises(InputError, match=r"study.toml: this is not TOML"):
        read_spec(path)


@pytest.mark.parametrize("name", ["natural-patches/lite", "natural_patches/lite"])
def test_a_specification_that_comes_with_unweave_has_a_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_spec(name).name == "natural-patches-lite"
    file = tmp_path / name
    file.parent.mkdir()
    file.write_text('name = "mine"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\n')
    assert read_spec(name).name == "mine"  # a file with the path of a name comes first


@pytest.mark.parametrize(
    ("name", "message"),
    [("tripod/light", "did you mean 'tripod/lite'"), ("tripod", "'tripod/lite'"), ("own", r"write \./own")],
)
def test_a_word_is_a_name_and_not_a_file(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").touch()
    with pytest.raises(InputError, match=message):
        read_spec(name)


def test_more_than_a_million_runs_are_refused_by_their_count() -> None:
    axes = "".join(f"s{axis} = {list(range(100))}\n" for axis in range(3))
    grid = f'name = "x"\n[[grid]]\nrecipe = "vae"\ndata = "dsprites"\n{axes}'
    assert len(list(parse_spec(grid.replace("s2 =", "# s2 =")).points())) == 10_000
    parse_spec(grid)  # exactly a million
    with pytest.raises(InputError, match=r"line 2: grid 1: the study has 2,000,000 runs, but at most 1,000,000"):
        parse_spec(grid + "seeds = 2\n")
    many = "".join(f"t{axis} = {list(range(100))}\n" for axis in range(20))
    with pytest.raises(InputError, match=r"about 10\^46 runs"):
        parse_spec(grid + many)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9" * 10_000, "line 10: 99999999999999999999… is too long to be read"),
        ("0x" + "f" * 10_000, "line 10: 0xffffffffffffffffff… is too long to be read"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (f"1\n[fixed{'.a' * 100_000}]", "line 11: .a.a.a.a.a.a.a.a.a.a… is too long to be read"),
        (
            "100000000000000000000",
            "line 10: .*steps must be less than or equal to 10000000000, got 100000000000000000000",
        ),
    ],
    ids=["digits", "hexadecimal digits", "lists", "tables", "steps"],
)
def test_values_beyond_all_bounds_are_sentences(value: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        assert Study(SPEC.replace("steps = 3", f"steps = {value}")).planned
    assert len(str(raised.value)) < 300


LINES = SPEC.strip().splitlines()
VALUES = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e400",
    "1e-400",
    "0.5",
    "99999999999999999999",
    "0x1F",
    "true",
    '""',
    '"3"',
    '"é"',
    '"\\u0000"',
    '"vae"',
    '"module:name"',
    '"a:b:c"',
    '":"',
    '"mig"',
    "[]",
    "[[]]",
    "[nan]",
    '[1,"a"]',
    "[{}]",
    "{}",
    "{a=1}",
    '{name="vae"}',
    "{name=1}",
    '{kind="x"}',
    "1979-05-27",
    "07:32:00",
    "[0,0]",
    "[true,1]",
    '["mig","mig"]',
]
KEYS = [
    "name",
    "metrics",
    "titles",
    "score",
    "fixed",
    "grid",
    "select",
    "zip",
    "seed",
    "seeds",
    "steps",
    "data",
    "recipe",
    "net",
    "latents",
    "terms",
    "tag",
    "strength",
    "beta",
    "data.size",
    '"data.size"',
    '""',
    "latent",
    "score.snapshot",
    "disentanglement",
    "samples",
    "by",
    "per",
    "lr",
    "batch",
    "schedule",
    "optimizer",
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["value", "value", "key", "line", "cut", "again", "table", "character"]))
        key, _, value = lines[place].partition("=")
        if kind == "value":
            lines[place] = f"{key}= {draw(st.sampled_from(VALUES))}"
        elif kind == "key":
            lines[place] = f"{draw(st.sampled_from(KEYS))} = {value}"
        elif kind == "line":
            lines.insert(place, f"{draw(st.sampled_from(KEYS))} = {draw(st.sampled_from(VALUES))}")
        elif kind == "table":
            lines.insert(place, f"[{draw(st.sampled_from(KEYS))}]")
        elif kind == "again":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines[place])
        elif kind == "cut" and len(lines) > 1:
            lines.pop(place)
        elif kind == "character":
            at = draw(st.integers(0, len(lines[place])))
            lines[place] = lines[place][:at] + draw(st.characters(codec="utf-8")) + lines[place][at + 1 :]
    return "\n".join(lines) + "\n"


@given(mutated())
def test_a_mutated_specification_is_planned_or_refused(text: str) -> None:
    try:
        planned = Study(text).planned
    except InputError:
        return
    assert planned
