from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import unweave
from tests.metrics.samples import mixed
from unweave.errors import InputError
from unweave.metrics import METRICS, EncodedData

CODES, LABELS = mixed(300)


class Counter:
    """An encoder that finds each square of XYSquares, and counts the images it is given."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def __call__(self, images: Tensor) -> Tensor:
        assert images.dtype == torch.float32
        assert images.max() <= 1
        self.seen += [image.numpy().tobytes() for image in images]
        return torch.cat([images.amax(2).argmax(2), images.amax(3).argmax(2)], dim=1).float()


@pytest.fixture
def small() -> unweave.FactorData:
    return unweave.load("xysquares", size=8, square=2, grid=3, squares=2, spacing=2)


def test_all_metrics_on_two_matrices() -> None:
    scores = unweave.score_codes(CODES, LABELS)
    ready = [n for n, m in METRICS.items() if m.needs in ("labels", "codes", "pool") and not m.only_by_name]
    assert list(scores) == ready
    assert scores["mig"].score == unweave.metrics.mig(CODES, LABELS).score
    assert scores.table["mig"] == scores["mig"].score
    assert scores.table["dci.completeness"] == scores["dci"].completeness
    assert scores.table == unweave.score_codes(torch.as_tensor(CODES), torch.as_tensor(LABELS)).table


def test_named_metrics_and_a_test_sample() -> None:
    scores = unweave.score_codes(CODES[:200], LABELS[:200], metrics=["sap", "mig"], test=(CODES[200:], LABELS[200:]))
    assert list(scores) == ["sap", "mig"]
    expected = unweave.metrics.sap(CODES[:200], LABELS[:200], test=(CODES[200:], LABELS[200:]))
    assert scores["sap"].score == expected.score
    assert list(unweave.score_codes(CODES, LABELS, metrics="mig")) == ["mig"]


def test_without_factors_or_with_continuous_ones_all_is_what_can_be_had() -> None:
    assert set(unweave.score_codes(CODES)) == {n for n, m in METRICS.items() if m.needs == "codes" and not m.for_sparse}
    continuous = LABELS + np.random.default_rng(0).uniform(0, 0.5, LABELS.shape)
    assert set(unweave.score_codes(CODES, continuous)) == set(unweave.score_codes(CODES, LABELS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": ["mgi"]}, "unknown metric 'mgi': did you mean 'mig'"),
        ({"metrics": []}, "name at least one metric"),
        ({"metrics": ["sap"], "test": 5}, "test must be a pair"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"metrics": ["flatness"]}, r"flatness: needs an encoder, and data with .*: use unweave\.score"),
        ({"metrics": ["udr"]}, r"call unweave\.metrics\.udr"),
        ({"factors": None, "metrics": ["mig"]}, "mig: needs factors, but no factors were given"),
        ({"factors": LABELS[:9]}, "300 codes but 9 rows"),
    ],
)
def test_what_cannot_be_scored_is_a_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        unweave.score_codes(CODES, **({"factors": LABELS} | settings))


def test_no_image_of_a_grid_is_encoded_twice(small: unweave.FactorData) -> None:
    encoder = Counter()
    names = ["mig", "modularity", "sap", "beta_vae_score", "factor_vae_score", "irs"]
    scores = unweave.score(encoder, small, metrics=names, samples=300, test_samples=100, source="fresh")
    assert list(scores) == names
    assert len(encoder.seen) == len(set(encoder.seen)) == small.num_images == 81
    assert scores["mig"].score > 0.98
    assert scores["factor_vae_score"].score == 1


def test_cached_codes_are_the_right_ones(small: unweave.FactorData) -> None:
    encoded = EncodedData(Counter(), small, batch=7)
    for seed in range(5):
        points = small.space.sample(40, torch.Generator().manual_seed(seed))
        expected = Counter()(small.images(points).float() / 255).numpy()
        assert np.array_equal(encoded(points), expected)
    assert encoded.encoded <= 81


def test_neither_order_nor_company_changes_a_score() -> None:
    for name in ("xysquares", "noisy_dsprites"):
        data = unweave.load(name, size=16)
        few: dict[str, Any] = {"samples": 60, "test_samples": 60}
        alone = unweave.score(Counter(), data, metrics=["sap"], **few)["sap"].score
        scores = unweave.score(Counter(), data, metrics=["irs", "mig", "sap"], **few)
        assert scores["sap"].score == alone
        assert scores["irs"].score == unweave.score(Counter(), data, metrics=["irs"], **few)["irs"].score


def test_the_test_sample_is_another_one(small: unweave.FactorData) -> None:
    few: dict[str, Any] = {"samples": 50, "test_samples": 50}
    encoded = EncodedData(Counter(), small, **few)
    assert np.array_equal(encoded.sample.codes, EncodedData(Counter(), small, **few).sample.codes)
    assert not np.array_equal(encoded.sample.codes, encoded.test_sample.codes)


def test_continuous_labels_are_scored() -> None:
    images = torch.randint(256, (50, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    angles = torch.rand(50, 1, generator=torch.Generator().manual_seed(1))
    scores = unweave.score(Counter(), unweave.load(images, factors=angles), samples=40, test_samples=20)
    assert {"mcc", "mig", "dci", "infomec", "explicitness", "irs"} <= set(scores)


def test_label_metrics_share_one_sample() -> None:
    encoder, data = Counter(), unweave.load("xysquares")
    unweave.score(encoder, data, metrics=["mig", "modularity", "sap", "mcc"], samples=200, test_samples=100)
    assert len(encoder.seen) <= 300


def test_all_on_data_with_everything(small: unweave.FactorData) -> None:
    scores = unweave.score(Counter(), small, samples=200, test_samples=100, seed=3)
    expected = [n for n, m in METRICS.items() if m.needs in ("labels", "codes", "pool") and not m.only_by_name]
    assert list(scores) == expected
    assert scores.table == unweave.score(Counter(), small, samples=200, test_samples=100, seed=3).table


def test_chance_in_the_images_means_encoding_each_draw() -> None:
    encoder, data = Counter(), unweave.load("noisy_dsprites", size=16)
    points = {"irs": {"points": 300}}
    unweave.score(encoder, data, metrics=["mig", "irs"], samples=50, source="fresh", settings=points)
    assert len(encoder.seen) == 50 + 300


def test_data_without_factors_gets_what_needs_none() -> None:
    images = torch.randint(256, (50, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    scores = unweave.score(Counter(), unweave.load(images), samples=40)
    assert set(scores) == {n for n, m in METRICS.items() if m.needs == "codes" and not m.for_sparse}
    with pytest.raises(InputError, match="has no factors, only images"):
        unweave.score(Counter(), unweave.load(images), metrics=["mig"])
    table = torch.arange(50)[:, None] // 5
    labelled = unweave.load(images, factors=torch.cat([table, table % 3], dim=1))
    assert "mig" in unweave.score(Counter(), labelled, samples=40)
    assert "irs" in unweave.score(Counter(), labelled, samples=40)
    with pytest.raises(InputError, match="irs: needs data with an image of every combination"):
        unweave.score(Counter(), labelled, metrics=["irs"], source="fresh")


def test_all_leaves_out_what_does_not_fit() -> None:
    one = unweave.score_codes(CODES, LABELS[:, 0])
    assert "mig" in one
    assert "mig_sup" not in one
    words = unweave.score_codes(CODES, np.array(["a", "b", "c", "d", "e"])[LABELS])
    assert "mig" in words
    assert "mcc" not in words
    line = unweave.load(torch.arange(8, dtype=torch.uint8).view(8, 1, 1, 1).expand(8, 3, 8, 8), factors=torch.arange(8))
    assert "beta_vae_score" not in unweave.score(lambda images: images.mean((2, 3)), line)


def test_settings_go_to_their_metric(small: unweave.FactorData) -> None:
    settings: dict[str, dict[str, Any]] = {
        "mig": {"bins": 5},
        "local_mig": {"rho": [0.5, 1.0], "points": 200, "min_values": 2},
    }
    assert unweave.score_codes(CODES, LABELS, metrics="mig", settings=settings)["mig"].score == (
        unweave.metrics.mig(CODES, LABELS, bins=5).score
    )
    local = unweave.score(Counter(), small, metrics=["local_mig"], settings=settings)["local_mig"]
    assert local.rho.tolist() == [0.5, 1.0]
    with pytest.raises(InputError, match="unknown setting of mig 'bin': did you mean 'bins'"):
        unweave.score_codes(CODES, LABELS, settings={"mig": {"bin": 5}})
    with pytest.raises(InputError, match="unknown metric 'mgi'"):
        unweave.score_codes(CODES, LABELS, settings={"mgi": {}})


def test_ones_own_images_are_not_both_fitted_and_tested() -> None:
    images = torch.randint(256, (60, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    labels = torch.randint(4, (60, 2), generator=torch.Generator().manual_seed(1))
    encoder = Counter()
    scores = unweave.score(encoder, unweave.load(images, factors=labels), metrics=["dci", "mig"])
    assert len(encoder.seen) == len(set(encoder.seen)) == 60
    assert scores["dci"].informativeness < 0.6  # noise teaches nothing


def test_a_module_is_evaluated_and_put_back(small: unweave.FactorData) -> None:
    module = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(3 * 8 * 8, 4))
    module.train()
    first, again = (unweave.score(module, small, metrics=["mig"], samples=100).table for _ in range(2))
    assert first == again
    assert module.training
    module[1].eval()
    unweave.score(module.forward, small, metrics=["mig"], samples=100)  # a method of a module is recognised
    assert [part.training for part in module.modules()] == [True, True, False, True]


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda images: images, r"encode: codes must be \(N, D\)"),
        (lambda images: images.flatten(1)[:-1], "returned"),
        (lambda images: images.flatten(1)[:, : len(images)], "latents at first, then"),
        ("no encoder", "must be callable, from images to codes, got str[.]"),
        ({"first": torch.flatten, "second": torch.flatten}, "got dict; pass several of them to unweave.compare"),
        (lambda images: None, r"encode: codes must be \(N, D\)"),
        (lambda images: (images.flatten(1), images.flatten(1)[:, :2]), "must be one matrix"),
        (lambda images: images.flatten(1).to_sparse(), "dense (codes|tensor)"),
        (lambda images: images.flatten(1) / 0, "NaN or infinite"),
    ],
)
def test_a_broken_encoder_is_a_sentence(encode: Any, message: str, small: unweave.FactorData) -> None:
    with pytest.raises(InputError, match=message):
        unweave.score(encode, small, metrics=["mig"], samples=90, batch=50)
    with pytest.raises(InputError, match="samples must be a whole number of at least 2"):
        unweave.score(encode, small, samples=1)


def test_settings_that_are_none_are_sentences() -> None:
    codes, factors = mixed(60)
    for wrong in (["mig"], {"mig": 5}, {"mig": ["bins"]}):
        with pytest.raises(InputError, match="settings"):
            unweave.score_codes(codes, factors, metrics=["mig"], settings=wrong)  # type: ignore[arg-type]


def test_an_encoder_of_another_type_gets_images_of_its_type() -> None:
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 4)).double()
    assert unweave.score(encoder, unweave.load("xysquares"), metrics=["mig"], samples=50)["mig"].score >= 0
    with pytest.raises(InputError, match="an encoder must be callable"):
        unweave.score(None, unweave.load("xysquares"), metrics=["mig"], samples=50)


def test_ones_own_images_on_a_grid_are_encoded_once() -> None:
    seen = []

    def encode(images: Tensor) -> Tensor:
        seen.extend(images.flatten(1).argmax(1).tolist())
        return images.flatten(1)[:, :3]

    pictures = (torch.eye(24).reshape(24, 4, 6) * 255).byte()
    points = torch.cartesian_prod(torch.arange(4), torch.arange(6))
    own = unweave.load(pictures, factors=points, size=6)
    unweave.score(encode, own, metrics=["mig", "irs"], settings={"irs": {"points": 200}})
    assert len(seen) == 24


class Autoencoder:
    """An encoder of the position of each square, rounded, which reconstructs to grey and has a posterior."""

    discrete = True
    likelihood = "gaussian"

    def __init__(self) -> None:
        self.reconstructed = 0

    def __call__(self, images: Tensor) -> Tensor:
        return Counter()(images)

    def reconstruct(self, images: Tensor) -> Tensor:
        self.reconstructed += len(images)
        return torch.full_like(images, 0.5)

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self(images), torch.zeros(len(images), 6)


def test_an_encoder_that_reconstructs_is_scored_as_a_model(small: unweave.FactorData) -> None:
    model = Autoencoder()
    scores = unweave.score(model, small, samples=1200, test_samples=50)
    ready = {n for n, m in METRICS.items() if m.needs != "other" and not m.only_by_name}
    assert set(scores) == ready
    assert set(scores.left_out) == set(METRICS) - ready
    assert model.reconstructed == 1000  # once for all metrics, and no more than are held
    encoded = EncodedData(model, small, samples=1200)
    images, (mean, logvar) = encoded.images.numpy() / 255, encoded.posterior
    assert scores["reconstruction_error"].score == pytest.approx(((images - 0.5) ** 2).mean())
    assert scores["psnr"].score == pytest.approx(-10 * np.log10(((images - 0.5) ** 2).mean((1, 2, 3))).mean())
    assert scores["kl_per_latent"].score == pytest.approx(0.5 * (mean**2).sum(1).mean())
    assert scores.table["kl_per_latent"] == scores["kl_per_latent"].score
    assert scores["total_correlation_sampled"].score == (unweave.metrics.total_correlation(mean, logvar=logvar).score)
    pixels = -0.5 * ((images - 0.5) ** 2 + np.log(2 * np.pi))
    expected = pixels.reshape(1000, -1).sum(1).mean() - 0.5 * (mean[:1000] ** 2).sum(1).mean()
    assert scores["elbo"].score == pytest.approx(expected)  # by the encoder's own likelihood


def test_psnr_is_of_as_many_images_as_it_says(small: unweave.FactorData) -> None:
    """The code of Hsu et al. 2024 takes all images of its evaluation, not the first thousand."""
    model = Autoencoder()
    all_of_them: dict[str, Any] = {"psnr": {"most": 1100, "wrapped": True}}
    scores = unweave.score(model, small, metrics=["psnr", "elbo"], samples=1200, settings=all_of_them)
    assert model.reconstructed == 1100 + 1000  # the bound keeps its own
    images = EncodedData(model, small, samples=1200).reconstructed(1200)[0]
    grey = torch.full(images.shape, 0.5)
    expected = unweave.metrics.psnr(images[:1100], grey[:1100], wrapped=True)
    np.testing.assert_array_equal(scores["psnr"].per_image, expected.per_image)
    assert len(expected.per_image) == 1100
    cut = unweave.metrics.psnr(images, grey, wrapped=True, most=1100)
    np.testing.assert_array_equal(cut.per_image, expected.per_image)


def test_the_scorer_asks_whether_codes_are_discrete(small: unweave.FactorData) -> None:
    few: dict[str, Any] = {"metrics": ["infomec"], "samples": 300}
    encoded = EncodedData(Counter(), small, samples=300)
    codes, factors = encoded.sample
    assert factors is not None
    classes, numbers = (unweave.metrics.infomec(codes, factors, discrete=d).explicitness for d in (True, False))
    assert classes != numbers
    assert unweave.score(Autoencoder(), small, **few)["infomec"].explicitness == classes
    assert unweave.score(Counter(), small, **few)["infomec"].explicitness == numbers
    told = {"infomec": {"discrete": False}}
    assert unweave.score(Autoencoder(), small, settings=told, **few)["infomec"].explicitness == numbers
    assert unweave.score_codes(codes, factors, metrics="infomec", discrete=True)["infomec"].explicitness == classes
    with pytest.raises(InputError, match="discrete must be True or False, got 'yes'"):
        unweave.score_codes(codes, factors, discrete="yes")  # type: ignore[arg-type]


def test_forests_hold_out_a_tenth_of_the_sample_as_tripod_does(small: unweave.FactorData) -> None:
    settings = {"dci": {"importance": "forest"}}
    found = unweave.score(Counter(), small, metrics="dci", samples=400, settings=settings)["dci"]
    codes, factors = EncodedData(Counter(), small, samples=400).sample
    assert factors is not None
    expected = unweave.metrics.dci(codes, factors, importance="forest")
    np.testing.assert_array_equal(found.importance, expected.importance)
    assert found.informativeness == expected.informativeness


def test_a_limit_on_workers_changes_no_score() -> None:
    scores = [unweave.score_codes(CODES, LABELS, workers=workers).table for workers in (1, 3, None)]
    assert scores[0] == scores[1] == scores[2]
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got 0"):
        unweave.score_codes(CODES, LABELS, workers=0)


def test_all_leaves_out_what_takes_minutes_with_many_latents() -> None:
    wide = np.random.default_rng(0).normal(size=(60, 1001))
    scores = unweave.score_codes(wide, LABELS[:60])
    slow = {name for name, why in scores.left_out.items() if "takes minutes with 1,001 latents" in why}
    assert slow == {"dci", "sap", "edi", "infomec", "mutual_information", "beta_vae_score", "factor_vae_score"}
    assert "mutual_information" in unweave.score_codes(wide[:, :200], LABELS[:60], metrics="mutual_information")
    images = torch.randint(256, (40, 3, 19, 19), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    scored = unweave.score(lambda images: images.flatten(1), unweave.load(images))
    assert "mutual_information" in scored.left_out
    assert "active_units" in scored


def test_the_default_encodes_the_samples_and_nothing_else() -> None:
    encoder, data = Counter(), unweave.load("noisy_dsprites", size=16)  # every draw is another image
    scores = unweave.score(encoder, data, samples=120)
    assert len(encoder.seen) == 120 + 60
    assert {"beta_vae_score", "factor_vae_score", "irs"} <= set(scores)
    assert set(scores.left_out) >= {"local_mig", "fairness", "flatness"}  # which choose their images: only by name


def test_a_pool_is_both_samples(small: unweave.FactorData) -> None:
    few: dict[str, Any] = {"metrics": ["irs", "beta_vae_score"], "samples": 200, "test_samples": 100}
    scores, encoded = (
        unweave.score(Counter(), small, **few),
        EncodedData(Counter(), small, samples=200, test_samples=100),
    )
    (codes, factors), (more, others) = encoded.sample, encoded.test_sample
    assert factors is not None
    assert others is not None
    expected = unweave.score_codes(codes, factors, metrics=few["metrics"], test=(more, others))
    assert scores.table == expected.table
    assert scores["irs"].score == unweave.metrics.irs(np.concatenate([codes, more]), torch.cat([factors, others])).score
    with pytest.raises(InputError, match="source must be 'pool' or 'fresh', got 'new'"):
        unweave.score(Counter(), small, source="new")  # type: ignore[arg-type]
