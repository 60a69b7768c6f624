"""The runs that a page can show: one run, those of a study, or all runs of a store. Requests can name no other run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unweave.errors import NOT_ALLOWED, InputError, Unavailable
from unweave.own_code import guarded
from unweave.representation import Representation
from unweave.store.folder import CONFIGURATION, existing_store, find_run, runs_in, store_folder
from unweave.study.spec import shipped_spec
from unweave.study.table import Protocols
from unweave.training.adoption import locate_run

if TYPE_CHECKING:
    from unweave.study import Study

Kind = Literal["run", "study", "store", "representation"]


@dataclass
class Selection:
    """The runs that a page may open, by the names of their folders."""

    kind: Kind
    title: str
    store: Path
    run: str | None = None  # the run to open first
    settings: dict[str, dict[str, Any]] | None = None  # of the runs of a study, by their names
    study: Study | None = None
    protocols: dict[str, Protocols] = field(default_factory=dict)  # with which a study measures its runs
    trusted: bool = False  # whether code of the user's own, which a configuration names, may be imported
    note: str = ""  # what the user should know about how the argument was read
    given: Sequence[Representation] = ()  # encoders and codes that are in no store
    _folders: dict[str, Path] = field(default_factory=dict)

    def folders(self) -> Mapping[str, Path]:
        """Return the folders of all runs by name: those of a study whether they exist or not, or those in the store."""
        if self.given:
            return {}
        if self.settings is not None:
            return {name: self.store / name for name in self.settings}
        self._folders = {folder.name: folder for folder in runs_in(self.store)}
        return self._folders

    def folder(self, name: str) -> Path:
        """Return the folder of a run that was asked for by name. The name is only compared, never joined to a path."""
        found = self._folders.get(name) or self.folders().get(name)
        if found is None or not (found / CONFIGURATION).is_file():
            if name in (self.settings or ()):
                raise LookupError(f"the run {name} of the study {self.title} has not started.")
            raise LookupError(f"unknown run {name[:80]!r}: it is not here, or was deleted.")
        return found

    def guarded(self) -> AbstractContextManager[None]:
        """Import no code that a configuration names inside the block, unless the runs are trusted."""
        return guarded(self.trusted)


def find_selection(target: str | None, *, store: str | Path | None = None, trusted: bool = False) -> Selection:
    """Return what to show for the argument of ``unweave explore``.

    A path that ends in .toml is a study, and so is the name of one that comes with Unweave, as in tripod/lite. A folder
    with a configuration is a run, and any other folder a store. Everything else is the name, label or first digits of a
    run in the store; without an argument, the store is shown.
    """
    if target is None:
        folder = existing_store(store)
        return _stored(folder, trusted)
    path = Path(target).expanduser()
    if path.suffix == ".toml":
        return _study(path, store, trusted)
    if not path.exists() and shipped_spec(target) is not None:
        return _study(target, store, trusted)
    if path.is_dir() and not (path / CONFIGURATION).is_file() and store is None:
        selection = _stored(path, trusted)
        if os.sep not in target and _names_a_run(target):
            selection.note = (
                f"{target} is a folder here, and was taken as a store; to open the run of that name, add "
                f"--store {store_folder()}."
            )
        return selection
    folder = path.absolute() if (path / CONFIGURATION).is_file() else locate_run(target, existing_store(store))
    note = ""
    if path.is_dir() and not (path / CONFIGURATION).is_file():
        note = f"{target} was taken as a run of the store {folder.parent}; the folder {path} is named by ./{path.name}."
    return Selection("run", folder.name, folder.parent, folder.name, trusted=trusted, note=note)


def _names_a_run(target: str) -> bool:
    """Return whether the store that is used by default has a run of that name, label or first digits."""
    try:
        find_run(target, store_folder())
    except (InputError, Unavailable):
        return False
    return True


def select_given(given: Sequence[Representation]) -> Selection:
    """Return the selection of encoders and codes that are in no store; the page opens with the first."""
    first = given[0]
    return Selection("representation", first.title, Path(), first.name, given=given)


def _stored(folder: Path, trusted: bool) -> Selection:
    if not folder.is_dir():
        raise InputError(f"there is no store {folder}: train a run first, or give the folder of a store.")
    return Selection("store", folder.resolve().name, folder, trusted=trusted)


def _study(spec: str | Path, store: str | Path | None, trusted: bool) -> Selection:
    from unweave.study import Study

    selection = Selection("study", Path(spec).stem, Path(), trusted=trusted)
    try:
        with selection.guarded():
            study = Study(spec, store=store)
            stages = {stage: Protocols(study.spec, stage=stage) for stage in (1, 2)}
            planned = study.all_planned()
            selection.settings = {run.name: dict(run.settings) for run in planned}
            selection.protocols = {run.name: stages[run.stage] for run in planned}
    except InputError as error:
        if error.code == NOT_ALLOWED:
            raise InputError(f"{error} If you trust the author of the study, add --trust.") from error
        raise
    selection.title, selection.store, selection.study = study.spec.name, Path(study.store), study
    return selection
