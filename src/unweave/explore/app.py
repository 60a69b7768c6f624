"""The application: what the page asks for, and the answers. Errors are JSON with one sentence."""

from __future__ import annotations

import json
import struct
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteError

from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.explore import examples
from unweave.explore.gate import BusyError, Gate
from unweave.explore.guard import Guard, policy_of
from unweave.explore.opened import Library, Opened
from unweave.explore.pictures import MOST_BYTES, from_file, from_rgba, to_rgba
from unweave.explore.progress import Watch
from unweave.explore.shelf import Shelf
from unweave.explore.table import Table
from unweave.training.streams import stream

STATIC = Path(__file__).parent / "static"
QUEUE = 16  # requests that may wait for the model
SHOWN = 8  # images whose reconstructions are shown
router = APIRouter(prefix="/api")


def make_app(shelf: Shelf, *, host: str = "127.0.0.1") -> Guard:
    """Return the ASGI application that serves the page of a shelf."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.library, app.state.table, app.state.watch = Library(shelf), Table(shelf), Watch()
    app.state.gate, app.state.slow = Gate(QUEUE), Gate(QUEUE // 2)
    app.include_router(router)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    app.add_exception_handler(Exception, _failed)
    for kind in (StarletteError, RequestValidationError, *STATUS):
        app.add_exception_handler(kind, _answered)
    return Guard(app, host=host, policy=policy_of((STATIC / "index.html").read_text(encoding="utf-8")))


async def _body(request: Request) -> bytes:
    """Return the body of a request, which must not be too large."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"at most {MOST_BYTES >> 20} MB are accepted.")
    return bytes(body)


async def _fields(body: Annotated[bytes, Depends(_body)]) -> dict[str, Any]:
    """Return the body of a request as a JSON object."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("the body must be JSON.") from error
    if not isinstance(found, dict):
        raise InputError("the body must be a JSON object.")
    return found


async def _opened(request: Request, name: str) -> Opened:
    library: Library = request.app.state.library
    ready = library.ready(name)
    return await run_in_threadpool(library.open, name) if ready is None else ready


async def _gate(request: Request) -> Gate:
    return request.app.state.gate  # type: ignore[no-any-return]


Body = Annotated[bytes, Depends(_body)]
Fields = Annotated[dict[str, Any], Depends(_fields)]
Run = Annotated[Opened, Depends(_opened)]
Turn = Annotated[Gate, Depends(_gate)]


@router.get("/page")
def page(request: Request) -> dict[str, Any]:
    """Return what to show first."""
    shelf: Shelf = request.app.state.library.shelf
    return {"kind": shelf.kind, "title": shelf.title, "run": shelf.run, "version": version("unweave")}


@router.get("/table")
def table(request: Request, known: int | None = None) -> Response:
    """Return the runs as a table; it is large, and written directly."""
    found = request.app.state.table.look(known)
    return Response(json.dumps(found, allow_nan=False), media_type="application/json")


@router.get("/runs/{name}")
def description(request: Request, run: Run) -> dict[str, Any]:
    """Return the description of a run; the first time, a sample of the data is encoded."""
    with request.app.state.slow():
        return run.description()


@router.get("/runs/{name}/progress")
def progress(request: Request, name: str) -> dict[str, Any]:
    """Return how far a run is."""
    state = request.app.state
    return state.watch.progress(state.library.shelf.folder(name))  # type: ignore[no-any-return]


@router.post("/runs/{name}/decode")
def decode(run: Run, body: Body, turn: Turn) -> Response:
    """Return the pictures of codes."""
    codes = run.codes(body)
    with turn():
        images = run.run.decode(codes)
    return _bytes(to_rgba(images))


@router.post("/runs/{name}/jacobian")
def jacobian(run: Run, body: Body, turn: Turn) -> Response:
    """Return the derivatives of the picture of one code by each latent, as float32."""
    codes = run.codes(body)
    if len(codes) != 1:
        raise InputError(f"the Jacobian is computed at one code, got {len(codes)}.")
    with turn():
        columns = run.columns(codes[0])
    return _bytes(columns.numpy().tobytes())


@router.post("/runs/{name}/encode")
def encode(run: Run, body: Body, turn: Turn, width: int | None = None, height: int | None = None) -> Response:
    """Return the code of a picture: a file, or RGBA bytes if width and height are given."""
    shape = run.run.configuration.data.shape
    image = from_file(body, shape) if width is None or height is None else from_rgba(body, width, height, shape)
    with turn():
        codes = run.run.encode(image[None])[0]
    return _framed({"codes": codes.tolist()}, to_rgba(image[None]))


@router.post("/runs/{name}/example")
def example(run: Run, fields: Fields, turn: Turn) -> Response:
    """Return an image of the data by its factors, or a random one, with its code."""
    data = run.needed_data()
    if "factors" in fields:
        image, factors = examples.by_factors(data, fields["factors"])
    else:
        image, factors = examples.at_random(data, fields.get("seed"))  # type: ignore[assignment]
    with turn():
        codes = run.run.encode(image[None])[0]
    return _framed({"codes": codes.tolist(), "factors": factors}, to_rgba(image[None]))


@router.post("/runs/{name}/sample")
def sample(run: Run, fields: Fields, turn: Turn) -> Response:
    """Return a random code and its picture."""
    generator = stream(examples.seed_of(fields.get("seed")), "explore")
    with turn():
        codes = run.sample(generator)
        images = run.run.decode(codes)
    return _framed({"codes": codes[0].tolist()}, to_rgba(images))


@router.post("/runs/{name}/factor")
def factor(run: Run, fields: Fields) -> Response:
    """Return images of the data in which one factor moves."""
    images, values = examples.along_factor(run.needed_data(), fields.get("factor"), fields.get("factors"))
    return _framed({"values": values}, to_rgba(images))


@router.get("/runs/{name}/reconstructions")
def reconstructions(run: Run, turn: Turn) -> Response:
    """Return some images of the data, and then their reconstructions."""
    images = examples.several(run.needed_data(), SHOWN)
    with turn():
        again = run.run.reconstruct(images)
    return _framed({"n": len(images)}, to_rgba(images) + to_rgba(again))


def _bytes(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


def _framed(fields: dict[str, Any], content: bytes) -> Response:
    """Return JSON and bytes in one answer: the length of the JSON (4 bytes, little-endian), the JSON, the bytes."""
    head = json.dumps(fields).encode()
    return _bytes(struct.pack("<I", len(head)) + head + content)


STATUS: dict[type[Exception], int] = {
    LookupError: 404,
    InputError: 400,
    Unavailable: 409,
    MissingExtra: 501,
    BusyError: 503,
}


async def _answered(request: Request, error: Exception) -> Response:
    if isinstance(error, StarletteError):
        return JSONResponse({"error": str(error.detail)}, error.status_code)
    if isinstance(error, RequestValidationError):
        return JSONResponse({"error": "the request has a parameter of a wrong type."}, 400)
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    return JSONResponse({"error": str(error.args[0]) if isinstance(error, LookupError) else str(error)}, status)


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"the server failed with {type(error).__name__}; its terminal shows where."}, 500)
