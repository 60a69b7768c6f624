"""How long until a run passes a fixed score? ``python benchmarks/speedrun.py [RECIPE …]`` trains, with one thread.

Each recipe is trained with its ``fast`` preset to the end, some of them in bfloat16, too. With the published settings,
and with disent's defaults where it is installed and has the method, it is trained until it passes the bar, or until it
has had five times as long as the preset took to pass. Scores are of images that are drawn anew. Rows are added to
``speedrun.csv`` one by one, and rows that are there are not trained again; ``speedrun.md`` is written from them.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

import unweave
from steps import has_disent
from unweave.papers.local_disentanglement import POINTS, SEED, share_of_one_dot, spread_places
from unweave.recipes.presets import FAST

TABLE, PAGE = (Path(__file__).with_name(f"speedrun.{suffix}") for suffix in ("csv", "md"))
SEEDS = (910, 911, 912)
RIVALS = SEEDS[:1]  # of the published settings and of disent, which take five times as long
SAMPLES = 5_000
SOONER = 5  # times
CHECKS = 50  # of a run with the preset; of other runs, after the same numbers of steps
PRECISIONS = ("beta_vae", "beta_tcvae", "qlae", "jl1_vae")  # are also trained in bfloat16
RIVAL_FORMS = ("published", "disent")
DISENT = {"beta_vae": "BetaVae", "ada_gvae": "AdaGVaeMinimal"}  # the loss of its BetaTcVae becomes infinite
HEAD = f"""# Time to a good model

Written by `python benchmarks/speedrun.py`: CPU minutes of one thread, without scoring, until a run passes a score on
images that are drawn anew; medians over the seeds {SEEDS[0]} to {SEEDS[-1]}. Other seeds chose the presets; those of
JL1-VAE and Ada-GVAE were changed, by runs of other seeds, after a first form had failed on these. The runs with the
published settings, and with the defaults of disent 0.8.0 on its 64 × 64 images, have the seed {RIVALS[0]}. They were
trained until they passed, or for {SOONER} times as long as the preset took to pass; ">" means that this was not
enough. disent's β-TCVAE is left out, because its loss became infinite with its defaults."""
Measure = Callable[[Any, unweave.FactorData], dict[str, float]]


def scores(*metrics: str) -> Measure:
    """Return a function that scores a model on images that are drawn for it."""

    def measure(model: Any, data: unweave.FactorData) -> dict[str, float]:
        return dict(unweave.score(model, data, metrics=metrics, samples=SAMPLES, seed=1, workers=1).table)

    return measure


def isolation(model: Any, data: unweave.FactorData) -> dict[str, float]:
    """Return how far the columns of the Jacobian move single dots."""
    places = spread_places(POINTS, torch.Generator().manual_seed(SEED))
    return {"isolation": share_of_one_dot(model.jacobian(model.encode(data.images(places))), places)}


@dataclass(frozen=True)
class Bar:
    """What a run must pass: a value of each score, on one data set of 32 × 32 pixels."""

    data: str
    least: dict[str, float]
    measures: tuple[Measure, ...]  # cheap ones first

    def try_to_pass(self, model: Any, data: unweave.FactorData) -> bool:
        """Return whether all scores reach their values; nothing is measured after the first that does not."""
        return all(self._reached(measure(model, data)) for measure in self.measures)

    def scores_of(self, model: Any, data: unweave.FactorData) -> dict[str, float]:
        """Return all scores."""
        found = {name: value for measure in self.measures for name, value in measure(model, data).items()}
        return {name: found[name] for name in self.least}

    def _reached(self, found: dict[str, float]) -> bool:
        return all(found[name] >= value for name, value in self.least.items() if name in found)

    @property
    def title(self) -> str:
        """The bar as it is printed."""
        return f"{self.data}: " + ", ".join(f"{name} ≥ {value:g}" for name, value in self.least.items())


ROOMS = Bar("rooms3d", {"dci.disentanglement": 0.6, "psnr": 27.0}, (scores("psnr"), scores("dci")))
SPRITES = Bar("dsprites", {"mig": 0.1}, (scores("mig"),))
# A model that has learned one or two dots isolates them well, so that the isolation alone is passed at once.
DOTS = Bar("three_dots", {"isolation": 0.7, "psnr": 17.0}, (scores("psnr"), isolation))
BARS = {
    "beta_vae": SPRITES,
    "annealed_vae": SPRITES,
    "beta_tcvae": SPRITES,
    "factor_vae": SPRITES,
    "ada_gvae": SPRITES,
    "jl1_vae": DOTS,
    "qlae": ROOMS,
    "tripod": ROOMS,
}


class Enough(Exception):
    """Raised to end a run."""


class Watch:
    """A callback that notes the CPU minutes of training, without scoring, and when the bar was passed."""

    def __init__(self, bar: Bar, data: unweave.FactorData, limit: float | None) -> None:
        self._bar, self._data, self._limit = bar, data, limit
        self._start = time.process_time()
        self.passed: float | None = None
        self.minutes, self.step, self.model = 0.0, 0, None

    def __call__(self, step: int, model: Any) -> None:
        before = time.process_time()
        self.minutes, self.step, self.model = (before - self._start) / 60, step, model
        if self.passed is None and self._bar.try_to_pass(model, self._data):
            self.passed = self.minutes
        self._start += time.process_time() - before
        late = self._limit is not None and self.minutes >= self._limit
        if self._limit is not None and (self.passed is not None or late):
            raise Enough


@contextlib.contextmanager
def largest_gradient() -> Iterator[list[float]]:
    """Note the largest norm of a gradient, of all parameters together, while the block runs."""
    largest = [0.0]

    def note(optimiser: torch.optim.Optimizer, *_: object) -> None:
        gradients = [p.grad for group in optimiser.param_groups for p in group["params"] if p.grad is not None]
        largest[0] = max(largest[0], float(torch.nn.utils.get_total_norm(gradients)))

    handle = register_optimizer_step_pre_hook(note)
    try:
        yield largest
    finally:
        handle.remove()


def train_ours(recipe: str, form: str, seed: int, data: unweave.FactorData, watch: Watch) -> None:
    """Train a recipe in one of its forms."""
    settings: dict[str, Any] = {"fast": True} if form != "published" else {}
    settings |= {"precision": "bf16-mixed"} if form == "bfloat16" else {}
    settings |= {"callback": lambda moment: watch(moment.step, moment.representation), "threads": 1, "device": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        unweave.train(recipe, data, seed=seed, store=folder, callback_steps=every(recipe), **settings)


def train_disent(recipe: str, seed: int, data: unweave.FactorData, watch: Watch) -> None:
    """Train disent's method with its defaults, without Lightning's trainer, until ``watch`` ends it."""
    from disent.frameworks import vae
    from disent.model import AutoEncoder
    from disent.model.ae import DecoderConv64, EncoderConv64
    from lightning.pytorch import Trainer

    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    net = {"x_shape": (1, 64, 64), "z_size": 10}
    method = getattr(vae, DISENT[recipe])
    module = method(AutoEncoder(EncoderConv64(**net, z_multiplier=2), DecoderConv64(**net)), cfg=method.cfg())
    module.log_dict = lambda *_, **__: None  # needs a training that runs
    module.trainer = trainer = Trainer(barebones=True)  # noqa: F841  # the module has a weak reference
    optimiser = module.configure_optimizers()
    step = 0
    while True:
        if recipe == "ada_gvae":
            pairs = data.space.pairs(64, "original", generator)
            batch = tuple(data.images(factors) for factors in (pairs.first, pairs.second))
        else:
            batch = (data.sample(64, generator).images,)
        loss = module.training_step({"x_targ": tuple(x.float() / 255 for x in batch)}, step)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        step += 1
        if step % every(recipe) == 0:
            watch(step, lambda images: module.encode(images))


def every(recipe: str) -> int:
    """Return after how many steps the scores are measured."""
    return int(FAST[recipe]["steps"]) // CHECKS


def contest(recipe: str, form: str, seed: int, limit: float | None) -> dict[str, Any]:
    """Train one run and return its row; with a limit in minutes, until it passes the bar or the limit is over."""
    bar = BARS[recipe]
    data = unweave.load(bar.data, size=64 if form == "disent" else 32)
    watch = Watch(bar, data, limit)
    with contextlib.suppress(Enough), largest_gradient() as gradient:
        if form == "disent":
            train_disent(recipe, seed, data, watch)
        else:
            train_ours(recipe, form, seed, data, watch)
    row: dict[str, Any] = {"recipe": recipe, "form": form, "seed": seed}
    row |= {"passed": watch.passed, "minutes": watch.minutes, "steps": watch.step, "gradient": gradient[0]}
    return row | bar.scores_of(watch.model, data)


def results() -> pandas.DataFrame:
    """Return the rows that have been measured."""
    return pandas.read_csv(TABLE) if TABLE.exists() else pandas.DataFrame(columns=["recipe", "form", "seed"])


def measure_missing(recipe: str) -> None:
    """Train what the table does not have of a recipe, and write each row at once."""
    forms = ["fast", "bfloat16"] if recipe in PRECISIONS else ["fast"]
    forms += RIVAL_FORMS if recipe in DISENT and has_disent() else RIVAL_FORMS[:1]
    for form in forms:
        for seed in RIVALS if form in RIVAL_FORMS else SEEDS:
            done = results()
            known = done[(done["recipe"] == recipe) & (done["seed"] == seed)].set_index("form")
            if form in known.index:
                continue
            limit = None
            if form in RIVAL_FORMS:
                passed = known.loc["fast", "passed"]
                limit = SOONER * float(passed if passed == passed else known.loc["fast", "minutes"])
            row = contest(recipe, form, seed, limit)
            pandas.concat([results(), pandas.DataFrame([row])], ignore_index=True).to_csv(TABLE, index=False)


def page(table: pandas.DataFrame) -> str:
    """Return the page: who passes the bar when, and what bfloat16 changes."""
    names = [name for name in BARS if name in set(table["recipe"])]
    return "\n\n".join([HEAD, contests(table, names), bfloat16(table, [name for name in names if name in PRECISIONS])])


def contests(table: pandas.DataFrame, names: list[str]) -> str:
    """Return the table of contests: one row for each rival of the preset of each recipe."""
    lines = ["| recipe and rival | bar | fast | rival | sooner | target | scores of fast | of the rival |"]
    lines.append("|" + "---|" * 8)
    for recipe in names:
        fast = table[(table["recipe"] == recipe) & (table["form"] == "fast")]
        rivals = {form: table[(table["recipe"] == recipe) & (table["form"] == form)] for form in RIVAL_FORMS}
        rivals = {form: rows for form, rows in rivals.items() if len(rows)}
        cells = [BARS[recipe].title, minutes_or_more(fast)]
        if not rivals:
            lines.append(f"| {' | '.join([recipe, *cells, '–', '–', '', over_seeds(fast, recipe), '–'])} |")
        for form, rival in rivals.items():
            times = fast[fast["seed"].isin(rival["seed"])]
            ratio = rival["minutes"].median() / times["passed"].fillna(times["minutes"]).median()
            sooner = f"> {ratio:.1f}" if rival["passed"].isna().any() else f"{ratio:.1f}"
            target = f"≥ {SOONER}" if form == "published" else ""
            ends = [over_seeds(each, recipe) for each in (fast, rival)]
            row = [f"{recipe}, {form}", *cells, minutes_or_more(rival), sooner, target, *ends]
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def bfloat16(table: pandas.DataFrame, names: list[str]) -> str:
    """Return the table of precisions: scores at the end, CPU minutes, and the largest gradient of all steps."""
    lines = ["## The same presets in bfloat16", ""]
    lines += [
        "Means and ranges over the seeds at the end of the run; the gradient is the largest norm, of all parameters",
        "together, of any step of any seed, and stands beside float32's.",
        "",
        "| recipe | float32 | bfloat16 | minutes, float32 | bfloat16 | largest gradient, float32 | bfloat16 |",
        "|" + "---|" * 7,
    ]
    for recipe in names:
        both = [table[(table["recipe"] == recipe) & (table["form"] == form)] for form in ("fast", "bfloat16")]
        if any(each.empty for each in both):
            continue
        cells = [over_seeds(each, recipe) for each in both]
        cells += [f"{each['minutes'].median():.1f}" for each in both]
        cells += [f"{each['gradient'].max():.3g}" for each in both]
        lines.append(f"| {' | '.join([recipe, *cells])} |")
    return "\n".join(lines) + "\n"


def over_seeds(rows: pandas.DataFrame, recipe: str) -> str:
    """Return mean, least and greatest value of each score of the bar."""
    return ", ".join(
        f"{name} {rows[name].mean():.2f} ({rows[name].min():.2f} to {rows[name].max():.2f})"
        for name in BARS[recipe].least
    )


def minutes_or_more(rows: pandas.DataFrame) -> str:
    """Return the median of the minutes until the bar, and how many runs passed it if not all did."""
    passed = int(rows["passed"].notna().sum())
    minutes = rows["passed"].fillna(rows["minutes"]).median()
    return f"{minutes:.1f}" if passed == len(rows) else f"> {minutes:.1f} ({passed} of {len(rows)} passed)"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:] or BARS:
        measure_missing(name)
    PAGE.write_text(page(results()), encoding="utf-8")
