from __future__ import annotations

import multiprocessing
import multiprocessing.queues

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from tests.metrics.samples import mixed
from unweave.errors import InputError
from unweave.metrics.estimators.boosting import Boosted, Classification, boost_each
from unweave.metrics.scoring.inputs import Floats, Integers


def boost(codes: Floats, classes: Integers, test: Floats, *, seed: int, workers: int | None = None) -> Boosted:
    return boost_each([(codes, classes, test)], seed=seed, workers=workers)[0]


@pytest.mark.parametrize("factor", [0, 1, 2])
@pytest.mark.parametrize("classes", [2, 5])
def test_boosting_is_scikit_learns(factor: int, classes: int) -> None:
    codes, labels = mixed(900)
    target = np.minimum(labels[:, factor], classes - 1) + 10  # classes need not start at 0
    ours = boost(codes[:600], target[:600], codes[600:], seed=0)
    theirs = GradientBoostingClassifier(random_state=0).fit(codes[:600], target[:600])
    np.testing.assert_allclose(ours.importance, theirs.feature_importances_, atol=0.005)
    assert np.mean(ours.test == theirs.predict(codes[600:])) > 0.98
    assert np.mean(ours.train == theirs.predict(codes[:600])) > 0.99


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_scikit_learns(classes: int) -> None:
    """A single latent leaves nothing to chance, so that the scores of all samples agree."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(400, 1))
    target = np.digitize(codes[:, 0] + 0.5 * rng.normal(size=400), [-0.5, 0.5][: classes - 1])
    model = Classification(codes[:300], target[:300], codes[300:])
    for _ in range(20):
        for task in (*model.probability_tasks(), *model.tree_tasks(np.uint64(0))):
            task()
    theirs = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(codes[:300], target[:300])
    for ours, expected in ((model.scores, codes[:300]), (model.test_scores, codes[300:])):
        np.testing.assert_allclose(np.squeeze(ours.T), theirs.decision_function(expected), atol=1e-9)


def test_splits_are_exact_on_many_noisy_rows() -> None:
    """One latent of four carries a little of the class; with 2,048 thresholds per latent, importances err by 0.036."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 10_000)
    codes = rng.normal(size=(10_000, 4))
    codes[:, 0] += 0.15 * classes
    ours = boost(codes, classes, codes[:5], seed=0)
    theirs = GradientBoostingClassifier(random_state=0).fit(codes, classes)
    np.testing.assert_allclose(ours.importance, theirs.feature_importances_, atol=0.004)


def test_quantised_codes_are_scikit_learns() -> None:
    codes, labels = mixed(1500)
    codes = np.round(2 * codes) / 2
    ours = boost(codes[:1000], labels[:1000, 2], codes[1000:], seed=0)
    theirs = GradientBoostingClassifier(random_state=0).fit(codes[:1000], labels[:1000, 2])
    np.testing.assert_allclose(ours.importance, theirs.feature_importances_, atol=0.005)
    assert np.mean(ours.test == theirs.predict(codes[1000:])) > 0.99


def test_equal_features_share_their_importance() -> None:
    codes, labels = mixed(500)
    importance = boost(codes[:, [0, 0, 1]], labels[:, 0], codes[:1, [0, 0, 1]], seed=0).importance
    assert 0.3 < importance[0] / importance[:2].sum() < 0.7


def test_dead_codes_have_no_importance_and_predict_the_most_frequent_class() -> None:
    labels = np.array([0] * 30 + [1] * 20 + [2] * 10)
    result = boost(np.zeros((60, 3)), labels, np.zeros((4, 3)), seed=0)
    assert (result.importance == 0).all()
    assert (result.test == 0).all()
    alive, y = mixed(60)
    with_dead = boost(np.insert(alive, 1, 3.0, axis=1), y[:, 0], np.insert(alive, 1, 3.0, axis=1), seed=0)
    np.testing.assert_allclose(np.delete(with_dead.importance, 1), boost(alive, y[:, 0], alive, seed=0).importance)


def test_test_codes_can_lie_far_outside() -> None:
    codes = np.linspace(0, 1, 40)[:, None]
    result = boost(codes, np.arange(40) // 20, np.array([[-1e60], [1e60]]), seed=0)
    assert result.test.tolist() == [0, 1]


def test_a_single_class_is_predicted() -> None:
    codes, _ = mixed(30)
    result = boost(codes, np.full(30, 7), codes, seed=0)
    assert (result.importance == 0).all()
    assert (result.test == 7).all()


def test_the_seed_decides_every_bit() -> None:
    codes, labels = mixed(300)
    codes = codes[:, [0, 0, 1, 1]]
    first, again, other = (boost(codes, labels[:, 2], codes, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.importance, again.importance)
    assert not np.array_equal(first.importance, other.importance)


def test_workers_change_neither_bits_nor_order() -> None:
    codes, labels = mixed(300)
    jobs = [(codes[:200], labels[:200, factor], codes[200:]) for factor in (0, 2, 1)]
    alone = [boost(*job, seed=1, workers=1) for job in jobs]
    for workers in (1, 3, None):
        for first, second in zip(alone, boost_each(jobs, seed=1, workers=workers), strict=True):
            assert np.array_equal(first.importance, second.importance)
            assert np.array_equal(first.train, second.train)
            assert np.array_equal(first.test, second.test)


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_there_is_at_least_one_worker(workers: int) -> None:
    codes, labels = mixed(30)
    with pytest.raises(InputError, match="workers must be a whole number of at least 1"):
        boost(codes, labels[:, 0], codes, seed=0, workers=workers)


def in_a_child(answers: multiprocessing.queues.Queue[list[float]]) -> None:
    codes, labels = mixed(200)
    answers.put(boost_each([(codes, labels[:, 2], codes)] * 2, seed=1)[0].importance.tolist())


def test_a_forked_process_gives_the_same_result_and_ends() -> None:
    codes, labels = mixed(200)
    here = boost_each([(codes, labels[:, 2], codes)] * 2, seed=1)[0].importance.tolist()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60) == here
    child.join(20)
    assert child.exitcode == 0
