from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import run

COMMAND = str(Path(sys.executable).with_name("unweave"))
LISTS = [
    ["--help"],
    ["-h"],
    ["--version"],
    ["train", "--help"],
    ["runs", "list"],
    *([group, "--help"] for group in ("study", "data", "metrics")),
]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_help_and_the_list_of_runs_import_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    heavy = ["torch", "sklearn", "scipy", "matplotlib", "pandas", "numba", "lightning_fabric"]
    script = (
        "import sys\nfrom unweave.cli import main\n"
        f"sys.argv = ['unweave', *{words!r}]\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        f"print('HEAVY', [name for name in {heavy} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "HEAVY []"


def test_a_closed_pipe_ends_quietly() -> None:
    done = subprocess.run(
        f"{COMMAND} recipes list | head -c 1", shell=True, capture_output=True, text=True, executable="/bin/bash"
    )
    assert done.stderr == ""


def test_ctrl_c_while_the_interpreter_exits_ends_it_without_a_traceback() -> None:
    again = """
import atexit, signal
import unweave.cli.app
from unweave.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may ignore the signal

def stopped():
    signal.raise_signal(signal.SIGINT)  # reaches this thread before the next line

unweave.cli.app.app = stopped
atexit.register(stopped)
main()
"""
    ended = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


def test_a_full_disk_behind_the_output_is_a_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([COMMAND, "recipes", "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "unweave: cannot write the output: No space left on device.\n"


def test_the_shell_can_complete_commands() -> None:
    command = (
        f"{COMMAND} --show-completion; exit $?"  # with a second command, bash stays the parent, which is looked for
    )
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, executable="/bin/bash")
    assert shown.returncode == 0
    assert "_UNWEAVE_COMPLETE" in shown.stdout


@pytest.mark.parametrize("words", ["--help", "runs list", "--version", "recipes list --json"])
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_a_closed_output_ends_quietly(words: str, closed: str, tmp_path: Path) -> None:
    done = subprocess.run(
        f"{COMMAND} {words} {closed}", shell=True, cwd=tmp_path, capture_output=True, text=True, executable="/bin/bash"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_output_that_cannot_be_written_to_is_a_sentence() -> None:
    done = subprocess.run(
        f"{COMMAND} recipes list 1</dev/null", shell=True, stderr=subprocess.PIPE, text=True, executable="/bin/bash"
    )
    assert done.returncode == 2
    assert done.stderr == "unweave: cannot write the output: Bad file descriptor.\n"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (PermissionError(13, "Permission denied", "secret.npy"), "[Errno 13] Permission denied: 'secret.npy'"),
        (OSError(28, "No space left on device", "weights"), "[Errno 28] No space left on device: 'weights'"),
        (TimeoutError("the server did not answer"), "the server did not answer"),
    ],
)
def test_errors_of_other_files_are_not_blamed_on_the_output(
    error: OSError, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("unweave.cli.runs.existing_store", fail)
    assert run(monkeypatch, "runs", "list") == 2
    assert capsys.readouterr().err == f"unweave: {shown}\n"


@pytest.mark.parametrize(
    "words",
    [["-q", "-v", "runs", "list"], ["train", "ae", "xysquares", "-qv"], ["-q", "train", "ae", "xysquares", "-v"]],
)
def test_quiet_and_verbose_exclude_each_other(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *words) == 2
    assert capsys.readouterr().err == "unweave: --quiet cannot be combined with --verbose: give one of them.\n"


def test_an_empty_folder_for_pictures_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["train", "ae", "xysquares", "--pictures", ""], ["runs", "pictures", "abc", "--out", " "]):
        assert run(monkeypatch, *words) == 2
        assert f"'{words[-2]}': expected a folder, got an empty path" in capsys.readouterr().err
    assert list(Path().iterdir()) == []
