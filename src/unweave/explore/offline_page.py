"""Export the page of one run as a single file that computes the model in the browser, without Python or a network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.explore.bundle import make_page, pack, runtime
from unweave.explore.description import describe, summary_of
from unweave.explore.offline_examples import Examples, choose_examples
from unweave.interop.onnx import make_decoder_graph, make_encoder_graph
from unweave.latents import Summary
from unweave.plain_json import to_plain
from unweave.store.files import write_text
from unweave.training import Run

MOST_WEIGHTS = 12_000_000  # bytes of both halves, beyond which the encoder is left out


@dataclass(frozen=True)
class ExportedPage:
    """A page that was written: its size, the part of it that is weights, and what it can do."""

    path: Path
    size: int  # bytes
    weights: int  # bytes
    difference: float  # between the images of the graph and those of PyTorch
    encoder: bool  # whether pictures of the reader's own can be encoded


def export_page(run: Run, path: str | Path, *, data: FactorData | None = None, no_data: str = "") -> ExportedPage:
    """Write the page of a run: with the decoder, images of ``data`` to start from, and the encoder unless it is large.

    Both halves are checked against PyTorch first, see :func:`unweave.interop.onnx.export_onnx`.

    Args:
        run: The run to show.
        path: The path of the file.
        data: The data set whose images the page starts from; without it, the page starts at the mean code.
        no_data: Why there are no images, which the page then says.

    Returns:
        The path, the size and the parts of the page.
    """
    path = _checked(path)
    decoder, encoder = make_decoder_graph(run), make_encoder_graph(run)
    with_encoder = len(decoder.model) + len(encoder.model) <= MOST_WEIGHTS
    summary = summary_of(run, data)
    examples = None if data is None else choose_examples(data)
    description = describe(run, data, summary, no_data)
    description["can"] |= {"encode": with_encoder, "live": False}
    material = {
        "description": description,
        "marginals": marginals(run, summary),
        "examples": None if examples is None else _described(run, examples),
    }
    weights = {"decoder": pack(decoder.model)} | ({"encoder": pack(encoder.model)} if with_encoder else {})
    images = {} if examples is None else {"images": pack(examples.images.permute(0, 2, 3, 1).numpy().tobytes())}
    text = json.dumps(to_plain(material), allow_nan=False)
    packed = {"wasm": runtime(), **weights, **images, "material": pack(text.encode())}
    page = make_page(f"{description['title']} · Unweave", packed)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)
    share = sum(4 * -(-len(part) // 3) for part in weights.values())  # base64 takes four letters for three bytes
    return ExportedPage(path, len(page.encode()), share, decoder.difference, with_encoder)


def marginals(run: Run, summary: Summary | None) -> list[dict[str, Any]] | None:
    """Return the distribution that random codes are drawn from, per latent, like that of :meth:`Run.sample`."""
    if run.has_posterior:
        return [{"mean": 0.0, "std": 1.0}] * run.model.latent.size
    if summary is None:
        return None
    values = run.model.values
    if values is not None and summary.usage is not None:
        return [
            {"values": levels, "usage": usage}
            for levels, usage in zip(values.cpu().tolist(), summary.usage, strict=True)
        ]
    return [{"mean": mean, "std": std} for mean, std in zip(summary.mean, summary.std, strict=True)]


def _described(run: Run, examples: Examples) -> dict[str, Any]:
    return {
        "codes": [[round(value, 6) for value in code] for code in run.encode(examples.images).tolist()],
        "factors": None if examples.factors is None else examples.factors.tolist(),
        "roots": examples.roots,
    }


def _checked(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"an exported page is an HTML file, such as {path.stem or 'page'}.html, got {str(path)!r}.")
    if path.is_dir():
        raise InputError(f"cannot write a page to {path}: it is a folder.")
    return path
