from __future__ import annotations

from pathlib import Path

from tests.training.small import bars, trained
from unweave.cli.options import draw_pictures


def test_two_runs_write_files_of_their_own(tmp_path: Path) -> None:
    for seed in (0, 1):
        draw_pictures(trained(tmp_path / "runs", steps=2, seed=seed), bars(), tmp_path / "seen")
    assert len(list((tmp_path / "seen").glob("beta_vae-*-traversals.png"))) == 2
    assert len(list((tmp_path / "seen").glob("beta_vae-*-reconstructions.png"))) == 2
