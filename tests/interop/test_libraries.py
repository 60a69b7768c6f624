"""Scores of other libraries beside ours: computed where the library is installed, a sentence where it is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from tests.cli.running import run
from unweave.errors import InputError, MissingExtra
from unweave.interop.libraries import LIBRARIES, compare_with

EXACT = 1e-6  # scores without random numbers
MODULES = {"sae-lens": "sae_lens", "disentanglement_lib": "disentanglement_lib"}


def sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, (3, 4), (400, 2))
    codes = factors @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(400, 5))
    return np.where(codes > 0, codes, 0), factors


@pytest.mark.parametrize("library", LIBRARIES)
def test_both_compute_the_same(library: str) -> None:
    pytest.importorskip(MODULES[library])
    for pair in compare_with(library, *sample()):
        assert pair.difference == pytest.approx(0, abs=0.05 if pair.score.startswith("dci") else EXACT)


@pytest.mark.parametrize("library", [name for name in LIBRARIES if importlib.util.find_spec(MODULES[name]) is None])
def test_a_library_that_is_missing_is_named_with_its_install_line(library: str) -> None:
    with pytest.raises(MissingExtra, match=r"cannot be imported .*; install it by: pip install"):
        compare_with(library, *sample())


def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes, factors = sample()
    with pytest.raises(InputError, match="unknown library 'sae_lens': did you mean 'sae-lens'"):
        compare_with("sae_lens", codes, factors)
    gaps = factors.astype(object)
    gaps[3, 0] = None
    with pytest.raises(InputError, match="sae-lens: takes no missing values of factors"):
        compare_with("sae-lens", codes, gaps)
    with pytest.raises(InputError, match=r"sae-lens: needs dense codes, and \(400, 200000\) are too many"):
        compare_with("sae-lens", sparse.csr_array((400, 200_000)), factors)
    assert run(monkeypatch, "score", "some-run", "--against", "sae-lens") == 2
    assert "--against compares the usual scores of --codes, without a run" in capsys.readouterr().err
    assert run(monkeypatch, "score", "--against", "sae-lens", "--null", "5", "--matrix") == 2
    assert "without --null, --matrix" in capsys.readouterr().err
    assert run(monkeypatch, "score", "--against", "sae-lens") == 2
    assert "--against needs --codes FILE and --factors FILE" in capsys.readouterr().err
