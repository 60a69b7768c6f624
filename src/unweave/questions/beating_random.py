"""How often does a selected setting beat a random one? See Locatello et al. 2019, sec. 5.5, Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import TEXT, lay_out, panel_grid
from unweave.figures.drawing.style import DIVERGING
from unweave.metrics.scoring.inputs import Floats
from unweave.questions._question import Question
from unweave.study.columns import SETTING, TableError, choose_metrics, read_runs, sign_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

TIES = {"win": 1.0, "half": 0.5, "lose": 0.0}
KINDS = ("different", "same")  # metrics and data sets, in the order of Table 1


def beating_random(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    seeds: Literal["different", "any"] = "different",
    opponent: Literal["same seed", "any seed"] = "same seed",
    ties: Literal["win", "half", "lose"] = "win",
    against_itself: bool = True,
) -> pandas.DataFrame:
    """Probability that a selected setting performs at least as well as a randomly selected model (Table 1).

    A seed, a metric and a data set are drawn, and the setting (recipe and strength) with the best score among the
    models of that seed is selected. It is then compared with a random model on the same or a different metric and data
    set. Every draw is uniform. The paper averages 10,000 draws; here the expectation over all draws is computed
    exactly. If several settings share the best score, one of them is drawn. Where the paper leaves room, its caption
    and its text are choices of the arguments.

    Settings without a score on every data set are left out; so are draws that meet a failed run. A metric that is
    better when lower is reversed.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed`` (at least two) and at least one metric.
        metrics: The columns of metrics; by default all disentanglement metrics of the table.
        seeds: ``"different"``: the comparison uses another seed than the selection (caption); ``"any"`` draws it
            independently (text).
        opponent: ``"same seed"``: the random model has the seed of the model that it is compared with; ``"any seed"``
            draws its seed independently.
        ties: ``"win"``: equal performance counts as a success (text); ``"lose"`` demands more (caption), and ``"half"``
            counts one half.
        against_itself: Whether the random model may be the selected one, which then is a tie.

    Returns:
        Four rows: ``metric`` and ``data`` ("same" or "different"), ``probability``, and ``chance``, the value under the
        same rules if the setting is selected at random. With the defaults and 36 settings without ties, chance is 51.4
        %, not 50 %. The cells that need a second metric or data set are NaN if there is none.

    Examples:
        >>> import pandas
        >>> from unweave.questions import beating_random
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": [1, 1, 4, 4], "seed": [0, 1, 0, 1],
        ...     "mig": [0.1, 0.2, 0.3, 0.4]})
        >>> beating_random(table)[["probability", "chance"]].values.tolist()[0]  # same metric and data set
        [1.0, 0.75]
    """
    if seeds not in ("different", "any"):
        raise InputError(f"beating_random: seeds must be 'different' or 'any', got {seeds!r}.")
    if opponent not in ("same seed", "any seed"):
        raise InputError(f"beating_random: opponent must be 'same seed' or 'any seed', got {opponent!r}.")
    if ties not in TIES:
        raise InputError(f"beating_random: ties must be 'win', 'half' or 'lose', got {ties!r}.")
    metrics = choose_metrics("beating_random", table, metrics)
    cube = _cube(read_runs("beating_random", table, metrics), metrics)
    if seeds == "different" and cube.shape[3] < 2:
        raise TableError("beating_random", "needs at least two seeds, and the table has one.")
    if cube.shape[2] < 2:
        raise TableError("beating_random", "needs at least two settings that were trained on every data set.")
    success = np.array([[_success(s, TIES[ties], opponent, against_itself) for s in row] for row in cube])
    tested = _over_other_seeds(success) if seeds == "different" else _over_all_seeds(success)  # (D, M, C, S)
    best = cube == np.where(np.isnan(cube), -np.inf, cube).max(axis=2, keepdims=True)
    reached = _reached(best, tested)  # (D, M, D, M, S): selected on the first two, compared on the next two
    random = np.broadcast_to(_reached(~np.isnan(cube), tested), reached.shape)
    same_data = np.eye(len(cube), dtype=bool)[:, None, :, None]
    same_metric = np.eye(len(metrics), dtype=bool)[None, :, None, :]
    rows = []
    for metric, this_metric in (("same", same_metric), ("different", ~same_metric)):
        for data, this_data in (("same", same_data), ("different", ~same_data)):
            cell = np.broadcast_to(this_metric & this_data, reached.shape[:4])
            usable = ~np.isnan(reached[cell])
            probability, chance = (_mean(values[cell][usable]) for values in (reached, random))
            rows.append((metric, data, probability, chance))
    return extra("pandas", "study").DataFrame(rows, columns=["metric", "data", "probability", "chance"])


def draw_beating_random(result: pandas.DataFrame) -> Figure:
    """Draw the four cells, each with its probability and the chance level, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.beating_random`. Colours show the distance from chance.
    """
    cells = result.set_index(["metric", "data"])
    figure, axes = panel_grid(1, 1)
    panel = axes[0, 0]
    gain = np.array([[cells.loc[(m, d), "probability"] - cells.loc[(m, d), "chance"] for d in KINDS] for m in KINDS])
    image = panel.imshow(gain, cmap=DIVERGING, vmin=-0.5, vmax=0.5, aspect="auto")
    for row, metric in enumerate(KINDS):
        for column, data in enumerate(KINDS):
            probability, chance = cells.loc[(metric, data), ["probability", "chance"]]
            text = "–" if np.isnan(probability) else f"{probability:.1%}\nchance {chance:.1%}"
            color = "white" if abs(gain[row, column]) > 0.33 else "black"
            panel.text(column, row, text, ha="center", va="center", fontsize=TEXT, color=color)
    panel.set_xticks(range(2), [f"{name} data set" for name in KINDS], fontsize=TEXT)
    panel.set_yticks(range(2), [f"{name} metric" for name in KINDS], fontsize=TEXT)
    panel.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    panel.spines[:].set_visible(False)
    caption = (
        "Percentages: how often the setting with the best score on one data set and metric does at least as well as "
        "a random model, on the same or another data set and metric. Chance: the same for a setting chosen at random."
    )
    scale = (image, "probability above chance")
    return lay_out(figure, axes, height=1.3, width=4.0, caption=caption, scale=scale)


def _cube(runs: pandas.DataFrame, metrics: Sequence[str]) -> Floats:
    """Return the scores (data sets, metrics, settings, seeds), higher is better, NaN where there is no run."""
    codes = {name: runs[name].factorize(use_na_sentinel=False) for name in ("data", "seed")}
    keys = list(runs[list(SETTING)].itertuples(index=False, name=None))
    known = {key: place for place, key in enumerate(dict.fromkeys(map(repr, keys)))}
    setting = np.array([known[repr(key)] for key in keys])
    cube = np.full((len(codes["data"][1]), len(metrics), len(known), len(codes["seed"][1])), np.nan)
    for place, metric in enumerate(metrics):
        cube[codes["data"][0], place, setting, codes["seed"][0]] = sign_of(metric) * runs[metric].to_numpy()
    complete = (~np.isnan(cube)).any(axis=3).all(axis=(0, 1))  # (C,)
    return cube[:, :, complete]


def _success(scores: Floats, tie: float, opponent: str, against_itself: bool) -> Floats:
    """Return the mean success (C, S) of each model against its random opponents."""
    models = scores if opponent == "same seed" else scores.reshape(-1, 1)  # opponents are the rows of a column
    own, rivals = models[:, None], models[None]
    allowed = np.broadcast_to(~np.isnan(rivals), (len(models), *models.shape))
    if not against_itself:
        allowed = allowed & ~np.eye(len(models), dtype=bool)[:, :, None]
    won = ((own > rivals) + tie * (own == rivals)) * allowed
    mean = _divide(won.sum(1), allowed.sum(1).astype(float))
    result: Floats = np.where(np.isnan(models), np.nan, mean).reshape(scores.shape)
    return result


def _over_all_seeds(success: Floats) -> Floats:
    present = ~np.isnan(success)
    total, count = np.nansum(success, axis=-1, keepdims=True), present.sum(-1, keepdims=True)
    return np.broadcast_to(_divide(total, count), success.shape)


def _over_other_seeds(success: Floats) -> Floats:
    present = ~np.isnan(success)
    total, count = np.nansum(success, axis=-1, keepdims=True), present.sum(-1, keepdims=True)
    return _divide(total - np.nan_to_num(success), count - present)


def _reached(selected: Floats, tested: Floats) -> Floats:
    """Return the mean success over the selected settings, for every pair of origin and target (D, M, D, M, S)."""
    present = ~np.isnan(tested)
    total = np.einsum("dmcs,xycs->dmxys", selected.astype(float), np.nan_to_num(tested))
    count = np.einsum("dmcs,xycs->dmxys", selected.astype(float), present.astype(float))
    return _divide(total, count)


def _divide(total: Floats, count: Floats) -> Floats:
    ratio: Floats = np.divide(total, count, out=np.full(np.broadcast(total, count).shape, np.nan), where=count > 0)
    return ratio


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


BEATING_RANDOM = Question(
    "beating_random",
    "Beating random selection",
    asks="If a setting is selected by its score on one data set and metric, how often does it beat a randomly "
    "chosen model on the same or another data set and metric?",
    reads="Probabilities over all draws; chance is the value if the setting is selected at random.",
    table=beating_random,
    draw=draw_beating_random,
    paper="Locatello et al. 2019, Table 1",
    about_strengths=True,
)
