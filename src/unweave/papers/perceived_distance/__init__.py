"""Tables A1 and A2 of Michlo et al. 2023: how far a change of each factor moves an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.data.check import PUBLISHED_CONSTANTS
from unweave.errors import Unavailable, extra
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {  # mean and standard deviation, Table A1
    "cars3d": {
        "random": (0.0519, 0.0188),
        "azimuth": (0.0355, 0.0185),
        "object_type": (0.0349, 0.0176),
        "elevation": (0.0174, 0.0100),
    },
    "shapes3d": {
        "random": (0.2432, 0.0918),
        "wall_hue": (0.1122, 0.0661),
        "floor_hue": (0.1086, 0.0623),
        "object_hue": (0.0416, 0.0292),
        "shape": (0.0207, 0.0161),
        "scale": (0.0182, 0.0153),
        "orientation": (0.0116, 0.0079),
    },
    "smallnorb": {
        "random": (0.0535, 0.0529),
        "lighting": (0.0531, 0.0563),
        "category": (0.0113, 0.0066),
        "azimuth": (0.0090, 0.0071),  # which the paper calls rotation
        "instance": (0.0068, 0.0048),
        "elevation": (0.0034, 0.0030),
    },
    "dsprites": {
        "random": (0.0754, 0.0289),
        "y": (0.0584, 0.0378),
        "x": (0.0559, 0.0363),
        "scale": (0.0250, 0.0148),
        "shape": (0.0214, 0.0095),
        "orientation": (0.0172, 0.0106),
    },
    "xysquares": {
        "random": (0.0308, 0.0022),
        **{f"{axis}{square}": (0.0104, 0.0) for square in range(3) for axis in "xy"},
    },
}
CONSTANTS = {  # mean and standard deviation of each channel, Table A2
    name: (known.mean, known.std) for name, known in PUBLISHED_CONSTANTS.items() if name in PUBLISHED
}
SPACINGS = range(1, 9)
SEED = 0


def measure(study: Study | None = None) -> pandas.DataFrame:
    """Measure the sets that are on this machine; drawn ones always are."""
    import torch

    from unweave.data import load
    from unweave.data.distances import channel_statistics, distance_matrices, factor_importance

    pandas = extra("pandas", "study")
    rows = []
    for name, published in PUBLISHED.items():
        try:
            data = load(name, **PUBLISHED_CONSTANTS[name].options)
        except Unavailable:
            continue
        generator = torch.Generator().manual_seed(SEED)
        correlations = {each.factor: each.correlation for each in distance_matrices(data, generator)}
        for each in factor_importance(data, generator):
            if each.factor in published:
                correlation = correlations.get(each.factor)
                rows.append(_row(name, each.factor, each.mean, each.std, correlation))
        constants = channel_statistics(data, generator)
        for channel, (mean, std) in enumerate(zip(constants.mean, constants.std, strict=True)):
            rows.append(_row(name, f"channel {channel}", float(mean), float(std), None))
    for spacing in SPACINGS:
        data = load("xysquares", spacing=spacing)
        matrix = distance_matrices(data, torch.Generator().manual_seed(SEED), traversals=10)[0]
        rows.append(_row(f"xysquares, spacing {spacing}", "x0", float(matrix.perceived.max()), 0.0, matrix.correlation))
    return pandas.DataFrame(rows)


def _row(data: str, factor: str, mean: float, std: float, correlation: float | None) -> dict[str, object]:
    return {"data": data, "factor": factor, "mean": mean, "std": std, "correlation": correlation}


def answer(table: pandas.DataFrame) -> Answer:
    """Compare the measured distances with the published ones."""
    pandas = extra("pandas", "study")
    channels = table["factor"].str.startswith("channel")
    spacing = table["data"].str.contains("spacing")
    distances = table[~channels & ~spacing].drop(columns="correlation")
    measured_sets = sorted(distances["data"].unique())
    published = pandas.DataFrame(
        [
            {"data": name, "factor": factor, "mean": mean, "std": std}
            for name in PUBLISHED
            for factor, (mean, std) in PUBLISHED[name].items()
        ]
    )
    constants = pandas.DataFrame(
        [
            {"data": name, "factor": f"channel {channel}", "mean": mean, "std": std}
            for name, (means, stds) in CONSTANTS.items()
            for channel, (mean, std) in enumerate(zip(means, stds, strict=True))
        ]
    )
    digits = constants.assign(mean=constants["mean"].map(str), std=constants["std"].map(str))  # all that were published
    both = distances.merge(published, on=["data", "factor"], suffixes=("", " published"))
    error = ((both["mean"] - both["mean published"]).abs() / both["mean published"]).max()
    standard = table[channels].drop(columns="correlation").merge(constants, on=["data", "factor"], suffixes=("", " p"))
    off = (standard[["mean", "std"]].to_numpy() - standard[["mean p", "std p"]].to_numpy()).__abs__().max()
    lines = table[spacing].assign(spacing=lambda rows: rows["data"].str.extract(r"(\d+)$")[0].astype(int))
    lines = lines.sort_values("spacing")
    flat = lines[lines["spacing"] == 8]["correlation"].isna().all()
    near = float(lines[lines["spacing"] == 1]["correlation"].iloc[0])
    return Answer(
        [
            Claim(
                "The distances of Table A1 are reproduced to 5 %.",
                bool(error < 0.05),
                f"Largest relative difference of a mean on {', '.join(measured_sets)}: {error:.1%}. Sets "
                "that are not on the machine were not measured.",
            ),
            Claim(
                "The constants of Table A2 are reproduced.",
                bool(off < 1e-4),
                f"Largest difference of a constant: {off:.1e}.",
            ),
            Claim(
                "With spacing 8 all distances along a factor of XYSquares are equal; with less spacing they increase "
                "with the distance of the factors.",
                bool(flat and near > 0.7),
                f"With spacing 8 the perceived distance {'is' if flat else 'is not'} constant; with spacing 1 its "
                f"correlation with the distance of the factors is {near:.2f}.",
            ),
        ],
        [
            Part("Mean perceived distances (Table A1)", distances.round(4), published),
            Part("Constants for standardisation (Table A2)", table[channels].drop(columns="correlation"), digits),
            Part(
                "XYSquares along x at each spacing (figure 8)",
                lines[["spacing", "mean", "correlation"]].round(4).rename(columns={"mean": "largest distance"}),
                note="The correlation is that of the distance between images with the distance between the factors; "
                "with spacing 8 there is none, because all images are equally far apart.",
            ),
        ],
    )


def draw_factors(study: Study | None = None) -> Figure:
    """Draw the distances along each factor of dSprites (figure 3)."""
    return _distances([{}], "dsprites")


def draw_spacings(study: Study | None = None) -> Figure:
    """Draw the distances along a factor of XYSquares for four spacings (figure 8)."""
    return _distances([{"spacing": spacing} for spacing in (8, 4, 2, 1)], "xysquares")


def _distances(options: list[dict[str, int]], name: str) -> Figure:
    import torch

    from unweave.data import load
    from unweave.figures.data_distances import draw_data_distances, make_data_distances

    data = [load(name, **each) for each in options]
    return draw_data_distances(make_data_distances(data, torch.Generator().manual_seed(SEED)))


FINDING = Finding(
    "perceived-distance",
    "Michlo et al. 2023, Tables A1 and A2, figures 3 and 8",
    "A reconstruction loss perceives the values of some factors as farther apart than those of others, and squares "
    "that do not overlap as equally far apart.",
    answer,
    measure,
    views=(
        Picture("factors", "Distances along the factors of dSprites (figure 3).", draw_factors),
        Picture(
            "spacings", "Distances along a factor of XYSquares with less and less spacing (figure 8).", draw_spacings
        ),
    ),
)
