"""Make the pictures of the README and the docs: ``make pictures``, or those of the gallery that are named."""

import io
import re
import shlex
import sys
from pathlib import Path

import torch
from PIL import Image

import unweave
from unweave.cli.app import app
from unweave.data import SETS
from unweave.data.distances import blurred_mse, distance_matrices
from unweave.figures import FIGURES, Sheet, draw_contact_sheet, draw_distance_matrices, save_figure

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
COMMAND = re.compile(r"^unweave figure (\S+) (.+)$", re.MULTILINE)
MOST = 150_000  # bytes of a picture of the gallery
SIZES = ((1050, 0), (1050, 256), (840, 256), (700, 256), (560, 256))  # pixels across, and colours; 0 is all of them


def draw_gallery(names: list[str]) -> None:
    """Run the commands of docs/gallery.md, or those of the named figures, and make their pictures small."""
    for name, rest in COMMAND.findall((DOCS / "gallery.md").read_text()):
        if names and name not in names:
            continue
        path = PICTURES / "gallery" / f"{name}.png"
        app(["figure", name, *shlex.split(rest), "--out", str(path)], standalone_mode=False)
        path.write_bytes(smaller(path.read_bytes()))


def smaller(picture: bytes) -> bytes:
    """Return a PNG with fewer colours and fewer pixels, as far as needed to be small enough for the gallery."""
    content = b""
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    for width, colours in SIZES:
        size = (width, round(image.height * width / image.width))
        stream = io.BytesIO()
        reduced = image.resize(size, Image.Resampling.LANCZOS) if size != image.size else image
        counted = reduced.quantize(colours, kmeans=2, dither=Image.Dither.NONE) if colours else reduced
        counted.save(stream, "PNG", optimize=True)
        content = stream.getvalue()
        if len(content) <= MOST:
            break
    return content


def main() -> None:
    """Draw the gallery, images of every drawn set, a model of the zoo, and the distance matrices of XYSquares."""
    draw_gallery(sys.argv[1:])
    if sys.argv[1:]:
        return
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
    run, interventions = unweave.open("zoo:qlae-shapes3d-drawn"), FIGURES["interventions"]
    seen = interventions.of_runs([run], [run.data()], torch.Generator().manual_seed(0))
    save_figure(interventions.draw(seen), PICTURES / "interventions.png")


if __name__ == "__main__":
    main()
