"""Data sets of the Hugging Face hub, on Parquet files that the tests write and serve."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from PIL import Image

import unweave
from tests.cli.running import run
from tests.data.fabricated import noise
from tests.data.servers import Site, serve
from unweave.data.sets import identity_of, open_data
from unweave.errors import InputError, Unavailable

IMAGES = noise(12, 8, 8, 3)
SHAPES = np.array(["cube", "ball", "cone"])[np.arange(12) // 4]
ANGLES = np.arange(12) % 4 * 20
API = "/api/datasets/some-lab/toys.v2/parquet"


def png(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


def parquet(rows: slice, **more: list[object]) -> bytes:
    """A file as the hub makes them: pictures are structs of bytes and a path."""
    cells = [{"bytes": png(image), "path": f"{number}.png"} for number, image in enumerate(IMAGES[rows])]
    columns = {"image": cells, "shape": SHAPES[rows].tolist(), "angle": ANGLES[rows].tolist(), **more}
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), stream, row_group_size=3)
    return stream.getvalue()


@pytest.fixture
def hub(empty_data_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with serve(Site(b"", etag='"1"')) as site:
        root = site.url.removesuffix("/file.bin")
        monkeypatch.setenv("HF_ENDPOINT", root)
        site.pages = {f"{API}/default/train/{number}.parquet": parquet(rows) for number, rows in enumerate(PARTS)}
        site.pages[API] = json.dumps({"default": {"train": [f"{root}{path}" for path in site.pages]}}).encode()
        yield site


PARTS = (slice(0, 5), slice(5, 12))


def test_images_and_factors_are_those_of_the_files(hub: Site) -> None:
    data = unweave.load("hf:some-lab/toys.v2", kinds={"angle": "cyclic"})
    assert str(data.space) == "shape 3 · angle 4"
    assert data.space.kinds == ("categorical", "cyclic")
    assert np.array_equal(data.rows(torch.arange(12)).permute(0, 2, 3, 1).numpy(), IMAGES)
    names = ["ball", "cone", "cube"]  # categories in the order of their names
    expected = [[names.index(shape), angle // 20] for shape, angle in zip(SHAPES, ANGLES, strict=True)]
    assert data.labels is not None
    assert data.labels.tolist() == expected
    assert np.array_equal(data.images(torch.tensor([[2, 3]]))[0].permute(1, 2, 0).numpy(), IMAGES[3])
    assert len(hub.requests) == 3  # the list and two files
    again = unweave.load("hf:some-lab/toys.v2", kinds={"angle": "cyclic"})
    assert len(hub.requests) == 3
    assert again.identity == data.identity == unweave.load(IMAGES, factors=labels(), kinds={"angle": "cyclic"}).identity
    assert open_data(data.identity).identity == data.identity
    assert identity_of("hf:some-lab/toys.v2").label == "toys.v2"


def labels() -> object:
    import pandas

    return pandas.DataFrame({"shape": SHAPES, "angle": ANGLES})


def test_the_command_line_fetches_and_checks_a_set(
    hub: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "data", "fetch", "hf:some-lab/toys.v2") == 0
    assert "12 images with factors shape 3 · angle 4; 3×8×8" in capsys.readouterr().out
    assert run(monkeypatch, "data", "check", "hf:some-lab/toys.v2,size=4", "--json") == 0
    assert json.loads(capsys.readouterr().out)["images"] == 12


def test_an_interrupted_download_is_resumed(hub: Site) -> None:
    hub.cut_after = 600
    with pytest.raises(Unavailable, match="ended after 600 of"):
        unweave.load("hf:some-lab/toys.v2")
    hub.cut_after = None
    assert unweave.load("hf:some-lab/toys.v2").num_images == 12
    assert hub.requests[2]["range"] == "bytes=600-"


def test_columns_splits_and_sizes_are_chosen(hub: Site) -> None:
    root = hub.url.removesuffix("/file.bin")
    lists: list[object] = [[1, 2]] * 7
    hub.pages["/test"] = parquet(PARTS[1], second=[png(image[::-1]) for image in IMAGES[PARTS[1]]], box=lists)
    splits = json.loads(hub.pages[API])["default"]
    hub.pages[API] = json.dumps({"default": {"train": splits["train"][:1], "test": [f"{root}/test"]}}).encode()
    assert unweave.load("hf:some-lab/toys.v2").num_images == 5  # of the split train
    assert unweave.load("hf:some-lab/toys.v2", split="train+test", image="image", factors=["angle"]).num_images == 12
    with pytest.raises(InputError, match="has image columns image, second: choose one with image="):
        unweave.load("hf:some-lab/toys.v2", split="test")
    data = unweave.load("hf:some-lab/toys.v2", split="test", image="second", factors=["angle"], size=4, filter="box")
    small = Image.fromarray(IMAGES[5][::-1]).resize((4, 4), Image.Resampling.BOX)
    assert np.array_equal(data.rows([0])[0].permute(1, 2, 0).numpy(), np.asarray(small))
    assert data.space.names == ("angle",)
    assert data.notes == ("not used from hf:some-lab/toys.v2: image, shape, box",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "valid"}, "unknown split of hf:some-lab/toys.v2 'valid'"),
        ({"config": "small"}, "unknown config of hf:some-lab/toys.v2 'small'"),
        ({"image": "angle"}, "unknown column of hf:some-lab/toys.v2 'angle'"),
        ({"factors": ["colour"]}, "unknown column of hf:some-lab/toys.v2 'colour'"),
        ({"colour": 1}, "unknown setting of hf:some-lab/toys.v2 'colour'"),
        ({"filter": "nearest"}, "unknown filter of hf:some-lab/toys.v2 'nearest'"),
    ],
)
def test_wrong_options_are_named(hub: Site, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        unweave.load("hf:some-lab/toys.v2", **options)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            {"image": [b""], "shape": ["cube"]},
            "0.parquet has numbers in its column angle, but .*1.parquet does not have it",
        ),
        ({"shape": ["cube"], "angle": [1]}, "has images in its column image, but .*1.parquet does not have it"),
        (
            {"image": [b""], "shape": ["cube"], "angle": ["wide"]},
            "has numbers in its column angle, but .*1.parquet has words",
        ),
    ],
)
def test_files_that_differ_in_columns_are_refused(hub: Site, second: dict[str, list[object]], message: str) -> None:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(second), stream)
    hub.pages[f"{API}/default/train/1.parquet"] = stream.getvalue()
    with pytest.raises(InputError, match=message):
        unweave.load("hf:some-lab/toys.v2")


def test_other_types_of_parquet_and_missing_values(hub: Site) -> None:
    for number, rows in enumerate(PARTS):
        pictures = pyarrow.array([png(image) for image in IMAGES[rows]], pyarrow.large_binary())
        words = pyarrow.array(SHAPES[rows].tolist())
        words = pyarrow.DictionaryArray.dictionary_encode(words) if number else words.cast(pyarrow.large_string())
        angles = [None if angle == 60 else angle for angle in ANGLES[rows].tolist()]
        stream = io.BytesIO()
        table = pyarrow.table({"image": pictures, "shape": words, "angle": angles})
        pyarrow.parquet.write_table(table, stream)
        hub.pages[f"{API}/default/train/{number}.parquet"] = stream.getvalue()
    with pytest.raises(InputError, match="values are missing: angle has 3 of 12 rows"):
        unweave.load("hf:some-lab/toys.v2")
    data = unweave.load("hf:some-lab/toys.v2,missing=drop")
    assert np.array_equal(data.rows(torch.arange(12)).permute(0, 2, 3, 1).numpy(), IMAGES)
    assert data.labels is not None
    assert data.labels[:, 1].isnan().nonzero()[:, 0].tolist() == [3, 7, 11]
    assert open_data(data.identity).identity == data.identity


def test_what_is_not_on_the_hub_or_damaged_is_a_sentence(hub: Site) -> None:
    with pytest.raises(InputError, match="expected hf:OWNER/NAME"):
        unweave.load("hf:toys")
    hub.pages[f"{API}/default/train/1.parquet"] = b"not parquet"
    with pytest.raises(Unavailable, match=r"a file in .*some-lab--toys\.v2 cannot be read"):
        unweave.load("hf:some-lab/toys.v2")
    hub.status = 404
    with pytest.raises(Unavailable, match=r"hf:some-lab/other is not a public data set with Parquet files.*404"):
        unweave.load("hf:some-lab/other")
