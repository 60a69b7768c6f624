"""Data sets of the Hugging Face hub: an image column and one column per factor, read from their Parquet files."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.factor_data import check_image_size, digest
from unweave.data.files import data_folder
from unweave.data.files.arrays import Bytes, cached_array
from unweave.data.files.downloads import RemoteFile, fetch
from unweave.data.files.factor_tables import Missing, Table
from unweave.data.files.pictures import Filter, check_filter, listed, read_picture
from unweave.data.own import OwnImages
from unweave.errors import InputError, Unavailable, extra, unknown
from unweave.progress import progress

PREFIX = "hf:"
NAME = re.compile(r"hf:[\w.-]+/[\w.-]+")
CHUNK = 256  # rows read at a time
LISTING = "parquet.json"


def load_hub(
    name: str,
    /,
    *,
    config: str | None = None,
    split: str | None = None,
    image: str | None = None,
    factors: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "error",
    size: int | None = None,
    filter: Filter | None = "bilinear",
) -> OwnImages:
    """Load a public data set of the Hugging Face hub, ``hf:OWNER/NAME``, downloading its Parquet files once.

    The hub offers Parquet files of most of its data sets; their list and the files are stored in the data folder, so
    that a set stays the same until its folder is deleted. ``HF_ENDPOINT`` is the address of a mirror of the hub.

    Args:
        name: The name on the hub, as in ``hf:Ramos-Ramos/smallnorb``.
        config: The configuration; by default the only one, or ``default``.
        split: The split, or several as in ``train+test``; by default the only one, or ``train``.
        image: The column of images; needed if there are several.
        factors: The columns that are factors; by default all with numbers or words.
        kinds: The kind of factors by their name: "ordered", "cyclic", "categorical" or "continuous".
        missing: What happens to missing values of factors: "error" refuses them, "drop" leaves them out of that factor.
        size: The height and width that images are resized to; without it they keep their own.
        filter: The filter by which they are resized: "bilinear", "lanczos", "bicubic" or "box".

    Returns:
        The images as a data set.
    """
    parquet = extra("pyarrow.parquet", "hub")
    if not NAME.fullmatch(name):
        raise InputError(f"expected hf:OWNER/NAME, a data set of the Hugging Face hub, got {name!r}.")
    if size is not None:
        check_image_size(name, size)
    check_filter(name, filter)
    folder = data_folder("hub") / name.removeprefix(PREFIX).replace("/", "--")
    paths = _files(name, folder, config, split)
    try:
        kept = {path: _kinds(parquet.read_schema(path)) for path in paths}
        image, factors, unused = _choose(name, kept[paths[0]], image, factors)
        for path, column in itertools.product(paths, (image, *factors)):
            if (found := kept[path].get(column)) != (first := kept[paths[0]][column]):
                other = "does not have it" if found is None else f"has {found}"
                raise InputError(
                    f"{name}: {paths[0].name} has {first} in its column {column}, but {path.name} {other}."
                )
        tables = [parquet.read_table(path, columns=factors) for path in paths]
        columns = {key: np.concatenate([table.column(key).to_numpy() for table in tables]) for key in factors}
        images = _images(name, folder, paths, image)
    except (OSError, extra("pyarrow", "hub").ArrowException) as error:
        raise Unavailable(f"{name}: a file in {folder} cannot be read: {error}. Delete it and load again.") from error
    table = Table.of(columns, kinds, missing) if columns else None
    options: dict[str, Any] = {"config": config, "split": split, "image": image, "factors": list(factors)}
    options |= {"kinds": None if kinds is None else dict(kinds), "size": size, "filter": filter}
    options |= {} if missing == "error" else {"missing": missing}
    notes = (f"not used from {name}: {listed(unused)}",) if unused else ()
    source = {"path": name, "options": options}
    return OwnImages(images, table, name=name, size=size, filter=filter, source=source, notes=notes)


def _files(name: str, folder: Path, config: str | None, split: str | None) -> list[Path]:
    """Return the Parquet files of the splits, which are downloaded if they are not there."""
    listing = _listing(name, folder)
    config = _one(f"config of {name}", config, listing, "default")
    splits = listing[config]
    chosen = split.split("+") if split else [_one(f"split of {name}", None, splits, "train")]
    paths = []
    for each in chosen:
        _one(f"split of {name}", each, splits, "train")
        for number, url in enumerate(splits[each]):
            paths.append(fetch(RemoteFile(f"{config}-{each}-{number}.parquet", url), folder))
    if not paths:
        raise Unavailable(f"{name}: the hub lists no Parquet files of {', '.join(chosen)}.")
    return paths


def _listing(name: str, folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the addresses of the Parquet files by configuration and split, from the hub the first time."""
    path = folder / LISTING
    if not path.exists():
        endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
        url = f"{endpoint.rstrip('/')}/api/datasets/{name.removeprefix(PREFIX)}/parquet"
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "unweave"})
            with urllib.request.urlopen(request, timeout=60) as response:
                content = response.read()
            _parse(content)
        except urllib.error.HTTPError as error:
            with error:
                reason = f"{url} answered {error.code} {error.reason}"
            raise Unavailable(f"{name} is not a public data set with Parquet files on the hub: {reason}.") from None
        except (OSError, ValueError) as error:
            raise Unavailable(f"could not list the files of {name} from {url}: {error}.") from error
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(content)
        partial.replace(path)
    try:
        return _parse(path.read_bytes())
    except ValueError as error:
        raise Unavailable(f"{path} is damaged: delete it and load {name} again.") from error


def _parse(content: bytes) -> dict[str, dict[str, list[str]]]:
    listing = json.loads(content)
    if not isinstance(listing, dict) or not all(isinstance(splits, dict) for splits in listing.values()):
        raise ValueError("expected the files of each configuration and split")
    return listing


def _one(what: str, given: str | None, known: Mapping[str, object], usual: str) -> str:
    """Return the given name, or else the only or the usual one."""
    if given is not None:
        if given not in known:
            raise unknown(what, given, known)
        return given
    if len(known) == 1 or usual in known:
        return usual if usual in known else next(iter(known))
    raise InputError(f"{what}: choose one of {', '.join(known)}.")


def _kinds(schema: Any) -> dict[str, str]:
    """Return what each column has: images, numbers, words or something else."""
    types = extra("pyarrow", "hub").types
    found = {}
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_binary(kind) or types.is_large_binary(kind) or types.is_struct(kind):
            found[field.name] = "images"
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            found[field.name] = "numbers"
        elif types.is_string(kind) or types.is_large_string(kind):
            found[field.name] = "words"
        else:
            found[field.name] = str(kind)
    return found


def _choose(
    name: str, kinds: Mapping[str, str], image: str | None, factors: Sequence[str] | None
) -> tuple[str, Sequence[str], list[str]]:
    """Return the columns of images and of factors, and the names of the others."""
    images = [key for key, kind in kinds.items() if kind == "images"]
    if image is None and len(images) != 1:
        found = f"image columns {', '.join(images)}" if images else f"no image column, but {', '.join(kinds)}"
        raise InputError(f"{name} has {found}: choose one with image=.")
    image = images[0] if image is None else image
    scalars = [key for key, kind in kinds.items() if kind in ("numbers", "words")]
    for key, allowed in [(image, images), *((key, scalars) for key in factors or ())]:
        if key not in allowed:
            raise unknown(f"column of {name}", key, allowed)
    chosen = scalars if factors is None else list(factors)
    return image, chosen, [key for key in kinds if key != image and key not in chosen]


def _images(name: str, folder: Path, paths: Sequence[Path], image: str) -> NDArray[np.uint8]:
    """Return the pixels (N, H, W, C), decoded once and memory-mapped."""
    parquet = extra("pyarrow.parquet", "hub")
    rows = sum(parquet.ParquetFile(path).metadata.num_rows for path in paths)
    if not rows:
        raise InputError(f"{name} has no rows.")
    first = next(_pixels(name, paths, image))

    def decode(array: Bytes) -> None:
        with progress(f"decoding {name}", rows) as advance:
            for row, pixels in enumerate(_pixels(name, paths, image)):
                if pixels.shape != first.shape:
                    raise InputError(f"{name}: images differ in shape, {first.shape} and {pixels.shape} in row {row}.")
                array[row] = pixels
                advance(1)

    files = digest(image, *(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths))
    return cached_array(folder / f"images-{files}.npy", (rows, *first.shape), decode)


def _pixels(name: str, paths: Sequence[Path], image: str) -> Iterator[NDArray[np.uint8]]:
    """Yield the pixels (H, W, C) of each row; a cell is the bytes of a picture, or a struct that has them."""
    parquet = extra("pyarrow.parquet", "hub")
    row = 0
    for path in paths:
        for batch in parquet.ParquetFile(path).iter_batches(CHUNK, columns=[image]):
            for cell in batch.column(0).to_pylist():
                content = cell.get("bytes") if isinstance(cell, dict) else cell
                if not content:
                    raise InputError(f"{name}: row {row} has no picture in its column {image}.")
                try:
                    yield read_picture(io.BytesIO(content))
                except InputError as error:
                    raise InputError(f"{name}: the picture in row {row} cannot be read.") from error
                row += 1
