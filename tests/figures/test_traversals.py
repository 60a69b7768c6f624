from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures import draw_traversals, make_traversals
from unweave.figures.drawing.strips import to_bytes
from unweave.figures.drawing.style import INACTIVE
from unweave.figures.traversals import Traversals, traversal_frames, write_animation
from unweave.latents import Summary


def test_latents_are_ordered_by_kl_with_their_values_above(
    gaussian: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_traversals(gaussian, data, generator, steps=3, inactive="show")
    kl = gaussian.summary.kl
    assert kl is not None
    order = sorted(range(4), key=lambda latent: -kl[latent])
    assert [label for label, _ in result.rows] == [f"z{latent}, {kl[latent]:.2f} nats" for latent in order]
    assert all(images.shape == (3, 1, 16, 16) for _, images in result.rows)
    assert result.values == ((-2.0, 0.0, 2.0),) * 4
    assert result.title.endswith("latents by KL, ±2 standard deviations of the prior")
    figure = draw_traversals(result)
    assert len(figure.axes) == 4
    assert [text.get_text() for text in figure.texts].count("−2") == 4


def test_quantised_latents_show_each_level_once_by_entropy(
    quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_traversals(quantised, data, generator)
    assert result.title.endswith("latents by entropy, each level once")
    codebook = quantised.model.values
    assert codebook is not None
    for latent, values in zip(result.latents, result.values, strict=True):
        assert values == pytest.approx(sorted(codebook[latent].tolist()))  # all ten levels, each once
    by_spread = make_traversals(quantised, data, generator, order="spread")
    std = quantised.summary.std
    assert list(by_spread.latents) == sorted(range(3), key=lambda latent: -std[latent])
    assert "latents by standard deviation" in by_spread.title


def test_the_range_of_the_data_is_that_of_its_quantiles(
    plain: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_traversals(plain, data, generator, steps=5)
    codes = plain.encode(data.rows(torch.arange(72))).sort(dim=0).values  # all images; the summary saw a sample
    assert result.title.endswith("latents by standard deviation, 1 % to 99 % quantile of the data")
    for latent, values in zip(result.latents, result.values, strict=True):
        assert codes[0, latent] <= values[0] <= codes[2, latent]
        assert codes[-3, latent] <= values[-1] <= codes[-1, latent]
        assert values == pytest.approx([values[0] + (values[-1] - values[0]) * k / 4 for k in range(5)], abs=1e-5)


def test_several_start_images_have_rows_of_their_own(gaussian: Run, data: FactorData) -> None:
    result = make_traversals(gaussian, data, torch.Generator().manual_seed(3), steps=3, starts=2, inactive="show")
    images = data.sample(2, torch.Generator().manual_seed(3)).images
    codes = gaussian.encode(images)
    first, second = result.rows[0][1], result.rows[1][1]
    assert [label for label, _ in result.rows[1::2]] == [""] * 4
    for code, shown in zip(codes, (first, second), strict=True):
        moved = code.repeat(3, 1)
        moved[:, result.latents[0]] = torch.tensor([-2.0, 0.0, 2.0])
        assert torch.equal(shown, to_bytes(gaussian.decode(moved)))


def test_inactive_latents_are_marked_or_dropped(
    gaussian: Run, data: FactorData, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = Summary([0.0] * 4, [1.0, 0.05, 0.5, 0.2], [2.0, 0.01, 1.0, 0.5], None)
    monkeypatch.setitem(vars(gaussian), "summary", summary)
    marked = make_traversals(gaussian, data, generator, steps=3)
    assert marked.latents == (0, 2, 3, 1)
    assert marked.inactive == (False, False, False, True)  # a variance of 0.0025
    assert marked.rows[3][0] == "z1, 0.01 nats\ninactive"
    texts = {text.get_text(): text.get_color() for text in draw_traversals(marked).texts}
    assert texts["z1, 0.01 nats\ninactive"] == INACTIVE
    assert texts["z0, 2.00 nats"] == "black"
    assert make_traversals(gaussian, data, generator, steps=3, inactive="drop").latents == (0, 2, 3)
    assert make_traversals(gaussian, data, generator, steps=3, inactive="drop", most=2).latents == (0, 2)


def test_wrong_ranges_and_orders_are_refused(
    gaussian: Run, quantised: Run, plain: Run, data: FactorData, generator: torch.Generator
) -> None:
    with pytest.raises(InputError, match="over=levels needs quantised latents"):
        make_traversals(gaussian, data, generator, over="levels")
    with pytest.raises(InputError, match="over=prior needs a Gaussian posterior"):
        make_traversals(quantised, data, generator, over="prior")
    with pytest.raises(InputError, match="order=kl needs a Gaussian posterior"):
        make_traversals(plain, data, generator, order="kl")
    with pytest.raises(InputError, match="starts must be a whole number of at least 1"):
        make_traversals(plain, data, generator, starts=0)


def test_values_that_are_zero_up_to_rounding_are_captioned_zero() -> None:
    images = torch.zeros(4, 1, 8, 8, dtype=torch.uint8)
    rows = (("z0", images), ("z1", images), ("z2", images))
    values = ((-2.0, -3e-08, 0.25, 2.0), (-2e-09, -1e-09, 1e-09, 2e-09), (0.0, -0.0, 0.0, 0.0))
    texts = [text.get_text() for text in draw_traversals(Traversals("title", rows, values)).texts]
    assert texts[2:6] == ["−2", "0", "0.25", "2"]
    assert texts[7:11] == ["−2e−09", "−1e−09", "1e−09", "2e−09"]  # a latent of small values keeps them
    assert texts[12:16] == ["0", "0", "0", "0"]


def test_frames_move_there_and_back(gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    frames = traversal_frames(make_traversals(gaussian, data, generator, steps=4))
    assert len(frames) == 6  # 0 1 2 3 2 1
    np.testing.assert_array_equal(frames[1], frames[5])
    np.testing.assert_array_equal(frames[2], frames[4])
    assert (frames[0] != frames[3]).any()


def test_files_hold_all_frames(tmp_path: Path, quantised: Run, data: FactorData, generator: torch.Generator) -> None:
    av = pytest.importorskip("av")
    frames = traversal_frames(make_traversals(quantised, data, generator, starts=2, steps=3))
    assert len(frames) == 4
    write_animation(frames, tmp_path / "moving.gif")
    with Image.open(tmp_path / "moving.gif") as image:
        assert (getattr(image, "n_frames", 1), image.size) == (4, frames[0].shape[1::-1])
        assert image.info["loop"] == 0
    write_animation(frames, tmp_path / "moving.mp4")
    with av.open(str(tmp_path / "moving.mp4")) as video:
        shown = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(shown) == 4
    height, width = shown[2].shape[:2]
    assert np.abs(shown[2].astype(int) - frames[2][:height, :width]).mean() < 8  # lossy, but the same picture
    with pytest.raises(InputError, match=r"ends in .gif or .mp4"):
        write_animation(frames, tmp_path / "moving.avi")
