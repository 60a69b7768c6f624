from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures import make_traversals
from unweave.figures.drawing.animation import traversal_frames, write_animation


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
