"""The web application: its routes and their responses. Errors are JSON with one sentence."""

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
from unweave.explore.middleware import BusyError, RequestQueue, SecurityMiddleware, policy_of
from unweave.explore.noise_floor import NoiseFloors
from unweave.explore.open_runs import OpenRun, OpenRuns
from unweave.explore.rgba import MOST_BYTES, from_file, from_rgba, to_rgba
from unweave.explore.run_selection import Selection
from unweave.explore.run_table import Table
from unweave.explore.server import LOOPBACK
from unweave.explore.training_progress import ProgressReader, RemainingTime, is_labelled_here
from unweave.store.folder import read_label, write_label
from unweave.streams import stream

STATIC = Path(__file__).parent / "static"
QUEUE = 16  # requests that may wait for the model
SHOWN = 8  # images whose reconstructions are shown
router = APIRouter(prefix="/api")


def make_app(selection: Selection, *, host: str = "127.0.0.1") -> SecurityMiddleware:
    """Return the ASGI application that serves the page of a selection."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.runs, app.state.table, app.state.progress = OpenRuns(selection), Table(selection), ProgressReader()
    app.state.floors, app.state.study = NoiseFloors(selection), RemainingTime(selection)
    app.state.writes = host in LOOPBACK  # other machines may look, and change nothing
    app.state.queue = RequestQueue(QUEUE)
    app.state.slow = RequestQueue(QUEUE // 2, at_once=2)  # so that a large model does not keep the others waiting
    app.include_router(router)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    app.add_exception_handler(Exception, _failed)
    for kind in (StarletteError, RequestValidationError, *STATUS):
        app.add_exception_handler(kind, _answered)
    return SecurityMiddleware(app, host=host, policy=policy_of((STATIC / "index.html").read_text(encoding="utf-8")))


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


async def _run(request: Request, name: str) -> OpenRun:
    runs: OpenRuns = request.app.state.runs
    ready = runs.ready(name)
    return await run_in_threadpool(runs.open, name) if ready is None else ready


async def _queue(request: Request) -> RequestQueue:
    return request.app.state.queue  # type: ignore[no-any-return]


Body = Annotated[bytes, Depends(_body)]
Fields = Annotated[dict[str, Any], Depends(_fields)]
Run = Annotated[OpenRun, Depends(_run)]
Queue = Annotated[RequestQueue, Depends(_queue)]


@router.get("/page")
def page(request: Request) -> dict[str, Any]:
    """Return what to show first."""
    selection: Selection = request.app.state.runs.selection
    return {"kind": selection.kind, "title": selection.title, "run": selection.run, "version": version("unweave")}


@router.get("/table")
def table(request: Request, known: int | None = None) -> Response:
    """Return the runs as a table; it is large, and written directly."""
    found = request.app.state.table.look(known)
    return Response(json.dumps(found, allow_nan=False), media_type="application/json")


@router.get("/study")
def study(request: Request) -> dict[str, Any]:
    """Return how long the runs of a study that are not done will take."""
    return request.app.state.study.look()  # type: ignore[no-any-return]


@router.get("/floors")
def floors(request: Request) -> dict[str, Any]:
    """Return the noise floor of the scores of each method, as far as it has been computed."""
    return request.app.state.floors.look(request.app.state.table.finished())  # type: ignore[no-any-return]


@router.get("/runs/{name}")
def description(request: Request, run: Run) -> dict[str, Any]:
    """Return the description of a run; the first time, a sample of the data is encoded."""
    with request.app.state.slow():
        return run.description()


@router.get("/runs/{name}/progress")
def progress(request: Request, name: str) -> dict[str, Any]:
    """Return the progress of a run."""
    state = request.app.state
    folder = state.runs.selection.folder(name)
    return {**state.progress.read(folder), "labelled": state.writes and is_labelled_here(folder)}


@router.post("/runs/{name}/label")
def label(request: Request, name: str, fields: Fields) -> dict[str, str]:
    """Give a run a label, "" for none, and return it."""
    folder = request.app.state.runs.selection.folder(name)
    if not request.app.state.writes:
        raise HTTPException(403, "labels are changed on the machine that serves this page: unweave runs label.")
    if not is_labelled_here(folder):
        raise InputError("models of the zoo are named by their labels, which stay as they are.")
    write_label(folder, fields.get("label"))  # type: ignore[arg-type]  # which is checked there
    return {"label": read_label(folder)}


@router.post("/runs/{name}/decode")
def decode(run: Run, body: Body, queue: Queue) -> Response:
    """Return the pictures of codes."""
    codes = run.codes(body)
    with queue():
        images = run.run.decode(codes)
    return _bytes(to_rgba(images))


@router.post("/runs/{name}/jacobian")
def jacobian(run: Run, body: Body, queue: Queue) -> Response:
    """Return the derivatives of the picture of one code by each latent, as float32."""
    codes = run.codes(body)
    if len(codes) != 1:
        raise InputError(f"the Jacobian is computed at one code, got {len(codes)}.")
    with queue():
        columns = run.columns(codes[0])
    return _bytes(columns.numpy().tobytes())


@router.post("/runs/{name}/encode")
def encode(run: Run, body: Body, queue: Queue, width: int | None = None, height: int | None = None) -> Response:
    """Return the code of a picture: a file, or RGBA bytes if width and height are given.

    Args:
        run: The open run of that name.
        body: The bytes of the file, or of the pixels row by row.
        queue: The queue in which requests wait for the model.
        width: The width in pixels of RGBA bytes; None for a file.
        height: The height in pixels of RGBA bytes; None for a file.

    Returns:
        The code as JSON, and the picture in RGBA as the encoder saw it.
    """
    shape = run.run.shape
    if shape is None or not run.run.encodes:
        raise InputError(f"{run.run.title} has no encoder, so pictures cannot be encoded.")
    image = from_file(body, shape) if width is None or height is None else from_rgba(body, width, height, shape)
    with queue():
        codes = run.run.encode(image[None])[0]
    return _framed({"codes": codes.tolist()}, to_rgba(image[None]))


@router.post("/runs/{name}/example")
def example(run: Run, fields: Fields, queue: Queue) -> Response:
    """Return an image of the data by its factors, or a random one, with its code."""
    data = run.needed_data()
    if "factors" in fields:
        image, factors = examples.by_factors(data, fields["factors"])
    else:
        image, factors = examples.at_random(data, fields.get("seed"))  # type: ignore[assignment]
    with queue():
        codes = run.run.encode(image[None])[0]
    return _framed({"codes": codes.tolist(), "factors": factors}, to_rgba(image[None]))


@router.post("/runs/{name}/sample")
def sample(run: Run, fields: Fields, queue: Queue) -> Response:
    """Return a random code and its picture."""
    generator = stream(examples.seed_of(fields.get("seed")), "explore")
    with queue():
        codes = run.sample(generator)
        images = run.run.decode(codes)
    return _framed({"codes": codes[0].tolist()}, to_rgba(images))


@router.post("/runs/{name}/factor")
def factor(run: Run, fields: Fields) -> Response:
    """Return images of the data in which one factor moves."""
    images, values = examples.along_factor(run.needed_data(), fields.get("factor"), fields.get("factors"))
    return _framed({"values": values}, to_rgba(images))


@router.post("/runs/{name}/latent")
def along_latent(run: Run, fields: Fields, queue: Queue) -> Response:
    """Return images of the data from the lowest to the highest value of a latent, for what has no decoder."""
    with queue():
        images, values = run.along_latent(fields.get("latent"))
    return _framed({"values": values}, to_rgba(images))


@router.post("/runs/{name}/nearest")
def nearest(request: Request, run: Run, body: Body) -> Response:
    """Return the images of the data whose codes are closest to one code; the first time, a sample is encoded."""
    codes = run.codes(body)
    if len(codes) != 1:
        raise InputError(f"the nearest images are those of one code, got {len(codes)}.")
    with request.app.state.slow():
        images, distances = run.nearest(codes[0])
    return _framed({"distances": distances}, to_rgba(images))


@router.get("/runs/{name}/values")
def by_value(request: Request, run: Run, latent: int, factor: int) -> dict[str, Any]:
    """Return the distribution of a latent given each value of a factor; the first time, a sample is encoded.

    Args:
        request: The request, whose application has the queue of slow computations.
        run: The open run of that name.
        latent: The number of the latent, from 0.
        factor: The number of the factor, from 0.

    Returns:
        Under ``values``, one list per value of the factor, as :func:`unweave.explore.description.latents_by_value`
        describes it.
    """
    with request.app.state.slow():
        found = run.by_value
    if not 0 <= latent < len(found) or not 0 <= factor < len(found[latent]):
        raise InputError(f"there is no latent {latent} with a factor {factor}.")
    return {"values": found[latent][factor]}


@router.get("/runs/{name}/strip")
def strip(run: Run, queue: Queue) -> Response:
    """Return images along some latents of a run, one latent after another."""
    _ = run.first_image  # which may take long, while others need the queue
    with queue():
        latents, images = run.strip
    return _framed({"latents": latents, "n": len(images), "shape": list(images.shape[1:])}, to_rgba(images))


@router.get("/runs/{name}/reconstructions")
def reconstructions(run: Run, queue: Queue) -> Response:
    """Return some images of the data, and then their reconstructions."""
    images = examples.several(run.needed_data(), SHOWN)
    with queue():
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
