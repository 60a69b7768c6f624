"""The command line: every command calls the functions that a notebook would call."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import NoReturn

from unweave.progress import show_warnings_as_notes

OUTPUT_ERRORS = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EPIPE)  # of writing to a full, broken or closed stream


def main() -> None:
    """Run the command line.

    Errors that the user can fix are one sentence and exit code 2; a run that diverged and a store that cannot be
    reached exit with code 1, Ctrl-C with 130. A closed pipe, as in ``unweave runs list | head``, and a closed standard
    output end quietly.
    """
    _open_closed_streams()
    show_warnings_as_notes()
    try:
        from unweave.cli.app import app  # inside, so that Ctrl-C during imports is handled too
        from unweave.errors import Away, Diverged, InputError, MissingExtra, Unavailable, shortened
    except KeyboardInterrupt:
        _stop()
    try:
        app()
        sys.stdout.flush()
    except (InputError, Unavailable, MissingExtra, Diverged) as error:
        print(f"unweave: {shortened(str(error))}", file=sys.stderr)  # noqa: T201
        sys.exit(1 if isinstance(error, Diverged | Away) else 2)
    except KeyboardInterrupt:
        _stop()
    except BrokenPipeError:
        _silence(sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        if error.filename is None and error.errno in OUTPUT_ERRORS:  # for example, the output goes to a full disk
            print(f"unweave: cannot write the output: {error.strerror or error}.", file=sys.stderr)  # noqa: T201
            _silence(sys.stdout.fileno())
        else:
            print(f"unweave: {shortened(str(error))}", file=sys.stderr)  # noqa: T201
        sys.exit(2)


def _stop() -> NoReturn:
    """Exit after Ctrl-C; another one ends the process at once, without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(130)


def _open_closed_streams() -> None:
    """Replace streams that the caller has closed, which Python sets to None, by the null device.

    In this order each one also takes the descriptor that was closed, so that no other file gets it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _silence(descriptor: int) -> None:
    """Redirect a broken stream, so that Python does not fail again when it flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
