"""Export the page of one run as a single file that computes the model in the browser, without Python or a network."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.explore.description import describe, latents_by_value, summary_of
from unweave.explore.examples import Examples, choose_examples
from unweave.interop.onnx import make_decoder_graph, make_encoder_graph
from unweave.latents import Summary
from unweave.plain_json import to_plain
from unweave.store.files import write_output
from unweave.training import Run

MOST_WEIGHTS = 12_000_000  # bytes of both halves, beyond which the encoder is left out
HERE = Path(__file__).parent
FOLDERS = (HERE / "static", HERE / "offline")  # where modules are found: unweave/canvas is canvas.js
RUNTIME = HERE / "offline" / "onnxruntime-web"
IMPORTED = re.compile(r'^import [^;]*?"([^"]+)";', re.MULTILINE)
# Scripts are those of the file itself. Nothing can be fetched, and nothing can be sent.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' data:; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
PAGE = """<!doctype html>
<!--
Made by Unweave. The model is computed by onnxruntime-web, which has this licence:

{licence}
-->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="{icon}">
<style>
{style}
</style>
<script type="importmap">{modules}</script>
</head>
<body>
<main id="page"><noscript>This page needs JavaScript.</noscript></main>
{packed}
<script type="module">import "unweave/main";</script>
</body>
</html>
"""


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
        "byValue": latents_by_value(run, data) if data is not None and data.has_factors else None,
    }
    weights = {"decoder": pack(decoder.model)} | ({"encoder": pack(encoder.model)} if with_encoder else {})
    images = {} if examples is None else {"images": pack(examples.images.permute(0, 2, 3, 1).numpy().tobytes())}
    text = json.dumps(to_plain(material), allow_nan=False)
    packed = {"wasm": runtime(), **weights, **images, "material": pack(text.encode())}
    page = make_page(f"{description['title']} · Unweave", packed)
    write_output(path, page)
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


def make_page(title: str, packed: Mapping[str, bytes]) -> str:
    """Return the page of ``offline/main.js``; ``packed`` are gzipped bytes by the id of their element."""
    elements = [
        f'<script type="application/gzip" id="{name}">{_base64(content)}</script>' for name, content in packed.items()
    ]
    return PAGE.format(
        licence=(RUNTIME / "LICENSE").read_text(encoding="utf-8").strip().replace("--", "- -"),
        policy=POLICY,
        title=html.escape(title),
        icon=_data_url("image/svg+xml", (HERE / "static" / "icon.svg").read_bytes()),
        style=(HERE / "static" / "style.css").read_text(encoding="utf-8"),
        modules=json.dumps({"imports": modules_of("unweave/main")}),
        packed="\n".join(elements),
    )


def modules_of(entry: str) -> dict[str, str]:
    """Return a module and all that it imports, by the names they are imported by, as data: addresses."""
    found: dict[str, str] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in found:
            content = _path_of(name).read_text(encoding="utf-8")
            found[name] = _data_url("text/javascript", content.encode())
            waiting += [] if name == "onnxruntime-web" else IMPORTED.findall(content)
    return found


def runtime() -> bytes:
    """Return the gzipped WebAssembly of onnxruntime."""
    return (RUNTIME / "ort-wasm-simd-threaded.wasm.gz").read_bytes()


def pack(content: bytes) -> bytes:
    """Compress bytes; the same bytes always give the same result."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def _path_of(name: str) -> Path:
    if name == "onnxruntime-web":
        return RUNTIME / "ort.wasm.bundle.min.mjs"
    stem = name.removeprefix("unweave/")
    folders = reversed(FOLDERS)  # both have a main.js
    return next(folder / f"{stem}.js" for folder in folders if (folder / f"{stem}.js").exists())


def _data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{_base64(content)}"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
