"""A self-contained HTML file: modules, style sheet and compressed data in one page that makes no network requests."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path

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
