"""The facts about a representation in a report; those of a run are read also if it failed or its data is missing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unweave.data import SETS, DataIdentity, FactorData
from unweave.errors import InputError, Unavailable
from unweave.latents import LATENTS
from unweave.metrics import METRICS
from unweave.metrics.scoring.catalogue import source_of
from unweave.metrics.scoring.worth import Worth
from unweave.names import spelled
from unweave.progress import duration
from unweave.recipes import RECIPES
from unweave.recipes.published import idea_of
from unweave.recipes.recipe import base_of
from unweave.representation import Codes, Representation
from unweave.store.measurements import Measurement, name_of_data, read_protocol
from unweave.store.record import Record, read_record
from unweave.terms import TERMS
from unweave.training import open_run, score
from unweave.training.configuration import Configuration, read_configuration

PERMUTATIONS = 100  # of the factors, for the chance level of each score that a report measures; fewer of slow metrics
PROTOCOL = (
    "samples",
    "test_samples",
    "seed",
    "settings",
    "source",
    "groups",
)  # what must be equal for two scores to be comparable


@dataclass(frozen=True)
class Score:
    """One number that was measured of a run."""

    name: str  # such as dci.completeness
    metric: str
    value: float
    protocol: dict[str, Any]
    worth: Worth | None = None  # its chance level and interval, if they were computed


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of a report about a representation: a run, an encoder with data, or codes with factors."""

    scores: tuple[Score, ...]
    run: Representation | None  # None for a run without weights
    data: FactorData | None  # None if it cannot be opened here
    notes: tuple[str, ...] = ()  # what is missing, and why

    @property
    def label(self) -> str:
        """A short name, for columns and legends."""
        return self._opened.label or spelled(self._opened.method)

    @property
    def title(self) -> str:
        """The heading of the report."""
        return self._opened.title

    @property
    def identity(self) -> DataIdentity | None:
        """The data that scores were measured on."""
        return None if self.data is None else self.data.identity

    @property
    def psnr(self) -> float | None:
        """The PSNR at the end of training."""
        return None

    @property
    def about(self) -> str:
        """The idea of its method in a sentence, "" if it is not known."""
        return ""

    @property
    def sentence(self) -> str:
        """Return a sentence or two that say what it is."""
        parts = {"encoder": self._opened.encodes, "decoder": self._opened.decodes}
        has = " and ".join(f"{'an' if there else 'no'} {part}" for part, there in parts.items()).replace("an d", "a d")
        what = "images" if self.data is not None and self.data.has_images else "rows"
        rows = "" if self.data is None else f" for {self.data.num_images:,} {what}"
        return f"{self.title} has {self._opened.size} latents{rows}, with {has}."

    @property
    def overview(self) -> list[object]:
        """Its row in the table of a comparison."""
        return [self.label, "", spelled(self._opened.method), spelled(self._opened.data_label), *[None] * 5]

    @property
    def _opened(self) -> Representation:
        assert self.run is not None
        return self.run


@dataclass(frozen=True, kw_only=True)
class RunFacts(Facts):
    """A run as far as it can be read: opened, or only its files."""

    folder: Path
    configuration: Configuration
    record: Record

    @property
    def label(self) -> str:
        """The label that the user gave to the run, or its recipe with the first digits of its name."""
        return self.record.label or f"{spelled(self.configuration.recipe)} {self.folder.name[:6]}"

    @property
    def title(self) -> str:
        """Return what was trained on what, after the label if there is one."""
        named = f"{spelled(self.configuration.recipe)} on {spelled(self.configuration.data.label)}"
        return f"{self.record.label}: {named}" if self.record.label else named

    @property
    def status(self) -> str:
        """The state of the run, such as "finished"."""
        return self.record.state

    @property
    def identity(self) -> DataIdentity:
        """The data that the run was trained on."""
        return self.configuration.data

    @property
    def psnr(self) -> float | None:
        """The PSNR at the end of training."""
        return self.record.psnr

    @property
    def about(self) -> str:
        """The first line of the description of its recipe."""
        return idea_of(self.configuration.base)

    @property
    def sentence(self) -> str:
        """Return a sentence: what was trained on what, for how long, and how well it reconstructs."""
        c, record = self.configuration, self.record
        channels, height, width = c.data.shape
        images = f"{c.data.num_images:,} images of {height} × {width} pixels" + (", in colour" if channels == 3 else "")
        length = "" if c.linear else f" for {record.step:,} of {c.steps:,} steps"
        if record.step == c.steps and not c.linear:
            length = f" for {c.steps:,} steps"
        time = f" in {duration(record.seconds)}" if record.seconds else ""
        text = (
            f"{spelled(c.recipe)} was trained on {spelled(c.data.label)} ({images}){length} with seed {c.seed}{time}."
        )
        if self.status != "finished":
            text += f" The run is {self.status}" + (f": {record.error}" if record.error else ".")
        if record.psnr is not None:
            text += f" It reconstructs images with a PSNR of {record.psnr:.1f} dB"
            text += "." if record.baseline is None else f"; the mean image alone reaches {record.baseline:.1f} dB."
        return text

    @property
    def overview(self) -> list[object]:
        """Its row in the table of a comparison."""
        c, record = self.configuration, self.record
        named = [self.label, self.folder.name, spelled(c.recipe), spelled(c.data.label), str(c.seed)]
        time = duration(record.seconds) if record.status else ""
        return [*named, None if c.linear else c.steps, self.status, time, record.psnr]


def measure_facts(run: Representation, data: FactorData | None = None, metrics: str | Sequence[str] = "all") -> Facts:
    """Score a representation that is no run, with every metric that applies or those named; nothing is stored."""
    own = run.data() if data is None else data
    measured = score(run, data, metrics=metrics, null=PERMUTATIONS)
    sizes = (len(run.values), None) if isinstance(run, Codes) else (10_000, 5_000)
    common = dict(zip(("samples", "test_samples"), sizes, strict=True))
    scores = []
    for metric in measured:
        protocol: dict[str, Any] = {**common, "seed": 0, "settings": {}, "source": source_of(metric, "pool")}
        names = (name for name in measured.table if name == metric or name.startswith(f"{metric}."))
        scores += [Score(name, metric, measured.table[name], protocol, measured.worth.get(name)) for name in names]
    return Facts(scores=tuple(scores), run=run, data=own)


def read_facts(folder: Path, data: FactorData | None = None, *, trust: bool = True) -> RunFacts:
    """Read a run; without ``data``, the data set that it was trained on is opened.

    Without ``trust``, a run that needs code outside of Unweave is refused.
    """
    configuration, record, given = read_configuration(folder, trust=trust), read_record(folder), data
    if not record.is_readable:
        raise Unavailable(record.error)
    notes: list[str] = []
    run = None
    try:
        run = open_run(folder, trust=trust)
    except Unavailable as error:
        notes.append(f"Figures are left out: {error}")
    if data is None and run is not None:
        try:
            data = run.data()
        except (InputError, Unavailable) as error:
            notes.append(f"Figures are left out, because the data cannot be opened: {error}")
    elif data is not None:
        if data.shape != configuration.data.shape:
            raise InputError(
                f"the images of {data.name} have the shape {data.shape}, and the run {folder.name} was trained on "
                f"images of the shape {configuration.data.shape}."
            )
        if data.identity != configuration.data:
            notes.append(f"Figures show {data.name}, not the data that the run was trained on.")
    return RunFacts(
        folder=folder,
        configuration=configuration,
        record=record,
        scores=_scores(record, given),
        run=run,
        data=data,
        notes=tuple(notes),
    )


def _scores(record: Record, data: FactorData | None) -> tuple[Score, ...]:
    """Return the scores of a run in the order of the catalogue, on the data of the report if that is given."""
    chosen = record.scores_on(None if data is None else name_of_data(data.identity.canonical()))
    order = [*(name for name in METRICS if name in chosen), *(name for name in chosen if name not in METRICS)]
    return tuple(score for name in order for score in scores_in(chosen[name]))


def scores_in(found: Measurement) -> list[Score]:
    """Return the numbers of one measurement."""
    protocol = dict(read_protocol(found.protocol))
    worth = {name: Worth(**given) for name, given in found.worth.items()}
    return [Score(name, found.metric, value, protocol, worth.get(name)) for name, value in found.scores.items()]


def protocol_of(protocol: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what must be equal for two scores to be comparable."""
    return tuple(repr(protocol.get(key)) for key in PROTOCOL)


def sources_of(record: Record) -> list[str]:
    """Return the texts that name the sources of the recipe, latent, terms, metrics and data of a run."""
    kind, names = record.fields["latent"]["name"], [weighted["term"]["name"] for weighted in record.fields["terms"]]
    latent, terms = LATENTS.get(kind), [TERMS.get(name) for name in names]
    measured = {each.metric for each in record.measured if each.metric in METRICS}
    base = base_of(record.fields["recipe"], names, kind)
    parts = [RECIPES.get(base), inspect.getmodule(latent), latent]
    parts += [METRICS[metric].function for metric in sorted(measured)]
    texts = [inspect.getdoc(part) or "" for part in parts if part is not None]
    used = record.fields["data"]["name"]
    return [*texts, *(str(term.paper) for term in terms if term), *([SETS[used].card.citation] if used in SETS else [])]
