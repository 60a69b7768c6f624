"""Open the runs that a command names, without running code that they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unweave.store.folder import existing_store, find_run

if TYPE_CHECKING:
    from unweave.training import Run


def find_runs(names: Sequence[str], store: str | None) -> list[Path]:
    """Return the folders of runs that are given by name, label, first digits or path, each once."""
    return list(dict.fromkeys(find_run(name, existing_store(store)) for name in names))


def stem_of(run: Run) -> str:
    """Return how the files of a run are named: its recipe, without what cannot be in a name, and 8 digits."""
    recipe = re.sub(r"[^\w.+-]+", "_", run.configuration.recipe)
    return f"{recipe}-{run.name[:8]}"


def open_runs(names: Sequence[str], store: str | None, *, trust: bool) -> list[Run]:
    """Open runs; without ``trust``, those that need code outside of Unweave are refused before any is opened."""
    from unweave.store.folder import read_fields
    from unweave.training import open_run
    from unweave.training.trust import check_own_code

    folders = find_runs(names, store)
    for folder in folders if not trust else ():
        check_own_code(read_fields(folder), f"the run {folder}")
    return [open_run(folder, trust=trust) for folder in folders]
