"""The published protocols, which ship as specifications."""

from __future__ import annotations

import pytest

from unweave.study import Study
from unweave.study.grid import configured
from unweave.study.spec import shipped_names

RUNS = {
    "challenging-assumptions/paper": 12_600,  # 7 data sets × 6 methods × 6 strengths × 50 seeds
    "challenging-assumptions/lite": 3 * 6 * 4 * 5 + 4 * 5,  # data sets × methods × strengths × seeds, and full dSprites
    "local-disentanglement/paper": 150,  # 15 methods and strengths × 10 seeds
    "local-disentanglement/lite": 90,  # 6 × 10 and 6 × 5
    "adversarial-squares/paper": 160 + 160 + 40,  # Table A4 of Michlo et al. 2023
    "adversarial-squares/lite": 54,
    "tripod/paper": 4 * 2 * (5 + 5 + 36 + 36),  # data sets × seeds × Table 5 of Hsu et al. 2024
    "tripod/lite": 16,
    "combinations/lite": 27,
    "mpi3d-multi/paper": 2,  # one model of each method, figure 3 of Rhodes & Lee 2021
    "mpi3d-multi/lite": 3 + 3,
    "natural-patches/paper": 3 + 3 + 8,
    "natural-patches/lite": 15 + 15 + 8,
}


def test_every_specification_is_listed_here() -> None:
    assert set(shipped_names()) == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_a_protocol_has_the_published_number_of_runs(name: str) -> None:
    study = Study(name)
    assert len(study.planned) == RUNS[name]
    assert study.spec.name == name.replace("/", "-")


def test_the_large_study_has_the_published_settings() -> None:
    configurations = [run.configuration for run in Study("challenging-assumptions/paper").planned]
    assert {c.start for c in configurations} == {"tensorflow"}
    assert {(c.steps, c.batch, c.optimiser.lr, c.latent.size) for c in configurations} == {(300_000, 64, 1e-4, 10)}
    assert {c.seed for c in configurations} == set(range(50))


def test_the_published_study_of_tripod_has_all_methods_that_its_claims_compare() -> None:
    from unweave.papers.tripod import PUBLISHED

    study = Study("tripod/paper")
    assert study.spec.select is not None
    tuned = {run.configuration.recipe for run in study.planned}
    assert tuned | set(study.spec.select.ablations) == set(PUBLISHED)
    assert not tuned & set(study.spec.select.ablations)
    assert study.second_stage() == len(PUBLISHED) * 4 * 3  # methods × data sets × seeds of Table 1


def test_ablations_of_tripod_have_its_exact_configuration_but_for_one_part() -> None:
    """Hsu et al. 2024, sec. 4.2: "the exact configuration" of Tripod on each data set."""
    rule = Study("tripod/paper").spec.select
    assert rule is not None
    chosen = {"recipe": "tripod", "data": "shapes3d", "protocol": "paper", "nhp": 1e-2, "klm": 1e-4, "steps": 200_000}
    without_nhp, without_klm, finer = (configured(settings | {"seed": 100}) for settings in rule.ablated([chosen]))
    whole = configured(chosen | {"seed": 100})
    weights = {part.name: part.weight for part in whole.terms}
    assert {part.name: part.weight for part in finer.terms} == weights
    assert finer.latent != whole.latent
    assert {part.name for part in whole.terms} - {part.name for part in without_nhp.terms} == {"normalised_hessian"}
    assert {part.name for part in whole.terms} - {part.name for part in without_klm.terms} == {
        "kernel_multiinformation"
    }
    for each in (without_nhp, without_klm, finer):
        assert all(weights[part.name] == part.weight for part in each.terms)
        assert (each.optimiser, each.steps, each.net) == (whole.optimiser, whole.steps, whole.net)


def test_the_weights_on_mpi3d_multi_are_those_of_the_paper() -> None:
    runs = [run.configuration for run in Study("mpi3d-multi/paper").planned]
    weights = [{part.name: part.weight for part in run.terms if part.name != "reconstruction"} for run in runs]
    assert weights == [{"kl": 0.01, "jacobian_l1": 0.01}, {"kl": 0.01}]
    for run in runs:  # appendix D
        assert (run.steps, run.batch, run.optimiser.lr, run.latent.size) == (300_000, 64, 1e-4, 10)
        ramps = [part.schedule for part in run.terms if part.name != "reconstruction"]
        assert {(ramp.kind, round(ramp.over * run.steps)) for ramp in ramps} == {("linear", 100_000)}


def test_pairs_of_adversarial_squares_are_those_of_the_code() -> None:
    runs = [(run.settings["recipe"], run.configuration) for run in Study("adversarial-squares/paper").planned]
    paired = {(run.data.name, run.changed) for recipe, run in runs if recipe == "ada_gvae"}
    assert paired == {(name, "original") for name in ("dsprites", "shapes3d", "cars3d", "smallnorb", "xysquares")}
    batches = [(recipe, run.batch) for recipe, run in runs]
    assert batches.count(("beta_vae", 256)) == batches.count(("ada_gvae", 512)) == len(runs) // 2


def test_adversarial_squares_keeps_the_best_of_small_estimates() -> None:
    """The code of Michlo et al. 2023: MIG of 2,000 samples every 2,400 steps, DCI of 1,000 and 500."""
    study = Study("adversarial-squares/paper")
    score = study.spec.score
    assert (score.samples, score.test_samples, score.settings["dci"]) == (2_000, 500, {"train": 1_000})
    assert score.snapshot is not None
    assert score.snapshot.scores == ("mig", "dci.disentanglement")
    assert {run.configuration.steps / run.configuration.snapshots for run in study.planned} == {2_400}


def test_tripod_is_judged_by_the_published_rule() -> None:
    spec = Study("tripod/paper").spec
    assert spec.score.snapshot is not None
    assert spec.score.snapshot.by == "infomec.modularity"
    thresholds = {"shapes3d": 38, "mpi3d_real_complex": 42, "falcor3d": 34, "isaac3d": 40}  # Table 2, in dB
    assert spec.score.snapshot.psnr == thresholds
    assert spec.score.settings["psnr"] == {"wrapped": True, "truncated": True, "most": 10_000}
    assert spec.scoring_of(1).seed != spec.scoring_of(2).seed


def test_every_method_of_tripod_has_two_latents_per_factor() -> None:
    factors = {"shapes3d": 6, "mpi3d_real_complex": 7, "falcor3d": 7, "isaac3d": 9}  # Table 2 of Hsu et al. 2024
    for run in Study("tripod/paper").planned:
        assert run.configuration.latent.size == 2 * factors[run.settings["data"]], run.settings


@pytest.mark.parametrize("name", ["challenging-assumptions/paper", "challenging-assumptions/lite"])
def test_the_large_study_compares_by_the_six_metrics_of_the_paper(name: str) -> None:
    spec = Study(name).spec
    assert sorted(spec.disentanglement) == [
        "beta_vae_score",
        "dci.disentanglement",
        "factor_vae_score",
        "mig",
        "modularity",
        "sap",
    ]  # Locatello et al. 2019, sec. 4


@pytest.mark.parametrize(
    ("study", "filter", "reduced"),
    [
        ("challenging-assumptions/paper", "lanczos", {"cars3d": "lanczos", "smallnorb": "lanczos"}),
        ("adversarial-squares/paper", "bilinear", {"cars3d": "bilinear"}),  # 96 to 64 was always bilinear
        ("tripod/paper", "bicubic", {"falcor3d": "bicubic", "isaac3d": "bicubic"}),
    ],
)
def test_published_specs_name_the_filter_of_their_authors(study: str, filter: str, reduced: dict[str, str]) -> None:
    """The identity has the filter of sets that are reduced by another one than in earlier versions, and of no other."""
    runs = Study(study).planned
    named = {run.data.name: run.data.options.get("filter") for run in runs}
    assert {data: by for data, by in named.items() if by is not None} == reduced
    assert {run.settings.get("data.filter") for run in runs if run.data.name != "xysquares"} == {filter}
