"""Runs on the Hugging Face hub, ``hf://OWNER/NAME``: the files of one run, with a list of their checksums.

Weights are safetensors and everything else is JSON or text, so nothing is unpickled. A repository without the list is
not a run of Unweave, and a file that does not agree with the list is refused. ``HF_ENDPOINT`` is the address of a
mirror of the hub; the token is that of ``hf auth login``, or ``HF_TOKEN``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from unweave.data.files import data_folder
from unweave.errors import InputError, Unavailable, extra, first_line
from unweave.store.files import checksum, write_text
from unweave.store.folder import CONFIGURATION, LABEL, LOG, NAME, SCORES, STATE, SUMMARY, WEIGHTS

PREFIX = "hf://"
ADDRESS = re.compile(r"hf://(?P<repository>[\w.-]+/[\w.-]+?)(@(?P<revision>[\w./-]+))?")
LIST = "unweave.json"  # the name of the run and the checksums of its files
NEEDED = (CONFIGURATION, STATE, WEIGHTS, SUMMARY)
FILES = (*NEEDED, LOG, SCORES, LABEL)  # what a run is moved with
CARD = "README.md"
CLIENTS = ("httpx", "httpx2", "requests")  # modules whose errors the client of the hub passes on


class HubAddress(NamedTuple):
    """A repository of the hub, and a branch, tag or commit of it."""

    repository: str
    revision: str | None = None

    @classmethod
    def of(cls, text: str) -> HubAddress:
        """Read ``hf://OWNER/NAME`` or ``hf://OWNER/NAME@REVISION``."""
        found = ADDRESS.fullmatch(text)
        if found is None:
            raise InputError(f"expected hf://OWNER/NAME, a repository of the Hugging Face hub, got {text!r}.")
        return cls(found["repository"], found["revision"])

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def is_on_hub(name: object) -> bool:
    """Return whether the name of a run is an address of the hub."""
    return isinstance(name, str) and name.startswith(PREFIX)


def upload_run(folder: Path, name: str, address: HubAddress, *, private: bool = False) -> str:
    """Upload the files of a folder as one commit, and return the address of the repository for browsers.

    A repository that has files but is not a run of Unweave is left as it is.

    Args:
        folder: The folder, which has the files of a run, its card and pictures.
        name: The name of the run.
        address: Where to.
        private: Whether a repository that does not exist yet is made private.

    Returns:
        The address.
    """
    if address.revision is not None:
        raise InputError(f"a run is pushed to the main branch: write hf://{address.repository}.")
    files = {path.name: checksum(path) for path in sorted(folder.iterdir()) if path.is_file()}
    write_text(folder / LIST, json.dumps({"run": name, "files": files}, indent=1) + "\n")
    api = _api()
    with _explained(address):
        api.create_repo(address.repository, private=private, exist_ok=True)
        present = {each.rfilename for each in api.model_info(address.repository).siblings or ()}
        if present - {".gitattributes"} and LIST not in present:
            raise InputError(f"{address} has files and is not a run of Unweave: choose another name.")
        old = [each for each in FILES if each in present and each not in files]  # of a run that was there before
        api.upload_folder(
            repo_id=address.repository,
            folder_path=str(folder),
            commit_message=f"Push the run {name}",
            delete_patterns=old or None,
        )
    return f"{api.endpoint}/{address.repository}"


def download_run(address: HubAddress) -> Path:
    """Return the folder of a run of the hub; what is not on this machine is downloaded.

    The last commit is asked for each time. If the hub cannot be reached, the copy that was downloaded last is used.
    """
    place = data_folder("models") / address.repository.replace("/", "--")
    api = _api()
    try:
        with _explained(address):
            info = api.model_info(address.repository, revision=address.revision)
    except Unavailable:
        known = sorted(place.glob(f"*/*/{CONFIGURATION}"), key=lambda path: path.stat().st_mtime)
        if not known or address.revision is not None:
            raise
        return known[-1].parent
    commit = str(info.sha)
    found = sorted((place / commit).glob(f"*/{CONFIGURATION}"))
    if found:
        return found[0].parent
    present = {each.rfilename for each in info.siblings or ()}
    for name in (LIST, *NEEDED):
        if name not in present:
            raise Unavailable(f"{address} is not a run of Unweave: it has no {name}.")
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix="partial-") as aside, _explained(address):
        for name in (LIST, *(each for each in FILES if each in present)):
            api.hf_hub_download(address.repository, name, revision=commit, local_dir=aside)
        run = _checked(address, Path(aside))
        target = place / commit / run
        target.parent.mkdir(exist_ok=True)
        whole = Path(aside) / run
        whole.mkdir()
        for name in FILES:
            if (Path(aside) / name).is_file():
                shutil.move(Path(aside) / name, whole / name)
        if not target.exists():  # another process may have been faster
            whole.rename(target)
    return target


def _checked(address: HubAddress, folder: Path) -> str:
    """Return the name of a run whose files agree with its list."""
    try:
        told = json.loads((folder / LIST).read_text(encoding="utf-8"))
        name, files = told["run"], dict(told["files"])
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError("the name of the run is not 16 digits")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{address} is not a run of Unweave: its {LIST} is not a list of files ({error}).") from error
    for each in FILES:
        if (folder / each).is_file() and checksum(folder / each) != files.get(each):
            raise Unavailable(f"{address}: {each} was changed after the run was pushed, so the run is not opened.")
    return name


def _api() -> Any:
    """Return the client of the hub."""
    hub = extra("huggingface_hub", "hub")
    return hub.HfApi(endpoint=(os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/"))


@contextmanager
def _explained(address: HubAddress) -> Iterator[None]:
    """Say in a sentence what the hub answered."""
    errors = extra("huggingface_hub.errors", "hub")
    try:
        yield
    except errors.HfHubHTTPError as error:
        code = getattr(error.response, "status_code", None)
        answers = {
            401: f"{address} is not a public model of the hub; for others, log in with hf auth login, or set HF_TOKEN.",
            403: f"the token that is used has no permission for {address}.",
            404: f"there is no public model {address} on the hub.",
        }
        other = f"the hub answered {code} for {address}: {first_line(error)}."
        raise Unavailable(answers.get(code or 0, other)) from error
    except Unavailable:
        raise
    except (OSError, RuntimeError) as error:  # the client raises RuntimeError if an upload fails
        raise Unavailable(f"{address}: {first_line(error)}.") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in CLIENTS:
            raise
        raise Unavailable(f"the hub cannot be reached for {address}: {error}") from error
