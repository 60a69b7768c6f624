"""Make the pictures of the README and the docs: ``make pictures``."""

from pathlib import Path

import torch

import unweave
from unweave.data import SETS
from unweave.data.distances import blurred_mse, distance_matrices
from unweave.figures import FIGURES, Sheet, draw_contact_sheet, draw_distance_matrices, save_figure

PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    """Draw random images of every drawn set, a model of the zoo, and the distance matrices of XYSquares."""
    drawn = [name for name in SETS if not SETS[name].card.files or name == "dsprites"]
    generator = torch.Generator().manual_seed(3)
    rows = tuple((name, unweave.load(name).sample(16, generator).images) for name in drawn)
    draw_contact_sheet(Sheet("Drawn by Unweave: no download", rows)).savefig(PICTURES / "drawn.png")
    for name, distance in (("mse", None), ("blurred", blurred_mse)):
        options = {} if distance is None else {"distance": distance}
        matrices = distance_matrices(unweave.load("xysquares"), generator, traversals=20, **options)
        figure = draw_distance_matrices(matrices, title=f"XYSquares, {name}")
        figure.savefig(PICTURES / f"xysquares-{name}.png", dpi=80)
    spacings = [unweave.load("xysquares", spacing=spacing) for spacing in (8, 4, 2, 1)]
    perceived = FIGURES["perceived_distances"]
    save_figure(perceived.draw(perceived.make(spacings, generator)), PICTURES / "xysquares-spacings.png")
    run, interventions = unweave.open("zoo:qlae-rooms3d"), FIGURES["interventions"]
    seen = interventions.of_runs([run], [run.data()], torch.Generator().manual_seed(0))
    save_figure(interventions.draw(seen), PICTURES / "interventions.png")


if __name__ == "__main__":
    main()
