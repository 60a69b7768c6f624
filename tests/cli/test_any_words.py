"""Any words on the command line: a sentence or help, never a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.core import TyperGroup
from typer.main import get_command

from tests.cli.running import run
from tests.study.conftest import tasks
from tests.study.tiny import SPEC
from unweave.cli.app import app
from unweave.study import Study
from unweave.study.engines.worker import Worker

LONG = ("9" * 10_000, "0x" + "f" * 10_000, "[" * 5_000, "a" * 5_000)
HOSTILE = [
    *(
        "",
        " ",
        "-1",
        "0",
        "nan",
        "inf",
        "1e400",
        "99999999999999999999",
        "abc",
        "é",
        "\udcff",
        "=",
        "a=",
        "=1",
        "a=b=c",
    ),
    *("mig.bins=nan", "dci.importance=1", "data.size=0", "x.y.z=1", "module:name", ":", "zoo:", "public:", "s3://"),
    *(
        "1/0",
        "3/2",
        f"{'9' * 5_000}/3",
        "/dev/null/x",
        "/dev/null",
        "..",
        "-",
        "--",
        "-h",
        "{}",
        "[1,",
        "[bold]",
        "%s",
        "*",
        "study.toml",
        "vae",
        *LONG,
    ),
]
# Words that keep a command short, whatever else it is given: before the others, which may replace them, or after.
TINY = ("vae", "tests.study.tiny:Dots", "--net", "tests.study.tiny:linear", "--steps", "1")
BEFORE = {"train": TINY, "study plan": ("study.toml", "--no-estimate"), "study run": ("study.toml",)}
AFTER = {"study run": ("--store", "finished"), "explore": ("--port", "-1")}
SKIPPED = {"verify", "paper run", "data fetch", "zoo fetch"}  # download or train without any option


def _commands() -> dict[str, list[str]]:
    """Return the long options of every command."""
    found, left = {}, [("", get_command(app))]
    for name, command in left:
        if isinstance(command, TyperGroup):
            left += [(f"{name} {each}".strip(), inner) for each, inner in command.commands.items()]
        else:
            found[name] = [option for each in command.params for option in each.opts if option.startswith("--")]
    return found


COMMANDS = {name: options for name, options in _commands().items() if name not in SKIPPED}


@st.composite
def typed(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(sorted(COMMANDS) + sorted(BEFORE | AFTER)))
    words = draw(st.lists(st.sampled_from(HOSTILE), max_size=0 if command in BEFORE else 2))
    for option in draw(st.lists(st.sampled_from(COMMANDS[command]), max_size=3)):
        words += [option, *draw(st.lists(st.sampled_from(HOSTILE), max_size=1))]
    return [*command.split(), *BEFORE.get(command, ()), *words, *AFTER.get(command, ())]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the tiny study has nothing left to train."""
    store, worker = tmp_path_factory.mktemp("finished") / "store", Worker()
    for task in tasks(Study(SPEC, store=store)):
        worker.carry_out(task)
    return store


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(typed())
def test_any_words_are_answered_with_a_sentence(
    tmp_path: Path, finished: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (tmp_path / "study.toml").write_text(SPEC)
    if not (tmp_path / "finished").exists():
        (tmp_path / "finished").symlink_to(finished)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        code = run(patch, *words)
    said = "".join(capsys.readouterr())
    assert code in (0, 1, 2)
    assert "Traceback" not in said
    assert not code or len(said) < 5_000, words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("study plan study.toml --store study.toml/x", "the store must be a folder, but study.toml is a file."),
        ("study status study.toml --store /dev/null/x/y", "the store must be a folder, but /dev/null is a file."),
        ("study run study.toml --store /dev/null/x", "the store must be a folder, but /dev/null is a file."),
        (f"study status study.toml --store {'a' * 300}", "cannot be a folder: File name too long."),
        (f"study run study.toml --part {'9' * 5_000}/3", "--part takes I/N, as in 1/8, got '9999"),
        ("study run study.toml --device cuda", "this machine has no device 'cuda'"),
        ("study run study.toml --device cuda --engine ray", "this machine has no device 'cuda'"),
        (
            "score --set factor_vae_score.threshold=abc",
            "factor_vae_score: threshold must be a valid number, got 'abc'.",
        ),
        ("score --set irs.quantile=nan", "irs: quantile must be a valid number, got 'nan'."),
        ("score --set dci.importance=1", "dci: importance must be 'gbt', 'gbt-exact', 'forest' or 'svm', got 1."),
        ("score --set infomec.variant=3", "infomec: variant must be 'tripod', 'qlae' or 'qlae-training', got 3."),
        (f"score --set mig.bins={LONG[0]}", f"mig: bins must be a valid integer, got '{'9' * 39}… (10,003 characters)"),
        (f"cite {LONG[0]}", "File name too long: '999"),
        (f"score --set mig.bins={LONG[1]}", "mig: bins must be a valid integer, got '0xfff"),
    ],
)
def test_mistakes_are_refused_before_any_work(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "cuda" in words and torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(SPEC)
    np.save("codes.npy", np.eye(4))
    data = ("--codes", "codes.npy", "--factors", "codes.npy") if words.startswith("score") else ()
    assert run(monkeypatch, *words.split(), *data) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1
    assert not Path("runs").exists()
