"""The zoo: trained models that come with Unweave, as a store of labelled runs. ``zoo:LABEL`` names one of them."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from functools import cache
from pathlib import Path

from unweave.data.files import data_folder
from unweave.errors import Unavailable

PREFIX = "zoo:"
MODELS = Path(__file__).parent / "models"


def zoo_store() -> Path:
    """Return the zoo as a store that can be written to: a copy in the data folder, made when it is first needed.

    Scores and labels are kept with a run, and the folder of an installed package may be read-only. Other weights are
    another copy, so that scores never belong to the weights of an earlier version.
    """
    store = data_folder() / "zoo" / _digest()
    if not store.is_dir():
        try:
            store.parent.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(dir=store.parent))
            shutil.copytree(MODELS, aside, dirs_exist_ok=True)
            aside.chmod(0o755)
            try:
                aside.rename(store)
            except OSError:  # another process was faster
                shutil.rmtree(aside)
        except OSError as error:
            raise Unavailable(f"cannot copy the zoo to {store}: {error.strerror or error}.") from error
    return store


@cache
def _digest() -> str:
    """Return a name for the content of the packaged models."""
    content = hashlib.sha256()
    for path in sorted(path for path in MODELS.rglob("*") if path.is_file()):
        content.update(path.relative_to(MODELS).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()[:16]
