from __future__ import annotations

import pytest

from unweave.data.sets import SETS
from unweave.errors import MissingExtra, extra, unknown
from unweave.metrics import METRICS
from unweave.names import DATA, METHODS, SCORES, spelled, words
from unweave.recipes import RECIPES


def test_every_recipe_and_data_set_has_a_spelling() -> None:
    assert METHODS.keys() == RECIPES.keys()
    assert DATA.keys() == SETS.keys()
    assert SCORES.keys() <= METRICS.keys()
    assert not any("_" in printed for printed in (*METHODS.values(), *DATA.values()))


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("beta_vae", "β-VAE"),
        ("beta_vae 0.5", "β-VAE 0.5"),
        ("beta_vae (kl 2)", "β-VAE (kl 2)"),
        ("beta_vae on dsprites", "β-VAE on dSprites"),
        ("tripod_without_nhp", "Tripod without NHP"),
        ("ae+fsq+jacobian_l1", "AE + FSQ + jacobian L1"),
        ("beta_vae+my_term:Sparsity-kl", "β-VAE + my_term:Sparsity − KL"),
        ("my_beta_vae", "my_beta_vae"),
        ("vae_of_mine", "vae_of_mine"),
        ("tests.study.tiny:Dots", "tests.study.tiny:Dots"),
        ("vae:vae", "vae:vae"),
        ("my pictures", "my pictures"),
        ("β-VAE", "β-VAE"),
    ],
)
def test_known_names_are_spelled_and_others_kept(name: str, printed: str) -> None:
    assert spelled(name) == printed


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("dci.disentanglement", "DCI disentanglement"),
        ("beta_vae_score", "BetaVAE score"),
        ("infomec.modularity", "InfoMEC modularity"),
        ("mpi3d_real_complex", "MPI3D real complex"),
        ("beta_vae 0.5", "β-VAE 0.5"),
        ("tests.study.tiny:Dots", "tests.study.tiny:Dots"),
        ("my_recipe", "my recipe"),
        ("beta", "β"),
    ],
)
def test_names_as_words(name: str, printed: str) -> None:
    assert words(name) == printed


def test_long_names_are_broken_into_lines() -> None:
    assert words("total_correlation_sampled", 12) == "total\ncorrelation\nsampled"


def test_an_unknown_name_suggests_the_nearest() -> None:
    assert str(unknown("recipe", "betavae", ["beta_vae", "ae"])) == "unknown recipe 'betavae': did you mean 'beta_vae'?"


def test_a_name_near_nothing_lists_all() -> None:
    assert str(unknown("kind", "zzz", ["ordered", "cyclic"])) == "unknown kind 'zzz': expected one of cyclic, ordered."


def test_a_missing_extra_says_what_to_type() -> None:
    with pytest.raises(MissingExtra, match=r"this needs raay, .*: pip install -e '\.\[cluster\]'"):
        extra("raay.tune", "cluster")
    assert extra("json", "cluster").loads("1") == 1
