from __future__ import annotations

import multiprocessing
import multiprocessing.queues

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from tests.metrics.samples import mixed
from unweave.metrics.boosting import WORTH_A_PROCESS, boost, boost_each


@pytest.mark.parametrize("factor", [0, 1, 2])
@pytest.mark.parametrize("classes", [2, 5])
def test_boosting_is_scikit_learns(factor: int, classes: int) -> None:
    codes, labels = mixed(900)
    target = np.minimum(labels[:, factor], classes - 1) + 10  # classes need not start at 0
    ours = boost(codes[:600], target[:600], codes[600:], seed=0)
    theirs = GradientBoostingClassifier(random_state=0).fit(codes[:600], target[:600])
    np.testing.assert_allclose(ours.importance, theirs.feature_importances_, atol=0.01)
    assert np.mean(ours.test == theirs.predict(codes[600:])) > 0.98
    assert np.mean(ours.train == theirs.predict(codes[:600])) > 0.99


def test_equal_features_share_their_importance() -> None:
    codes, labels = mixed(500)
    importance = boost(codes[:, [0, 0, 1]], labels[:, 0], codes[:1, [0, 0, 1]], seed=0).importance
    assert 0.15 < importance[0] / importance[:2].sum() < 0.85


def test_dead_codes_have_no_importance_and_guess_the_commonest() -> None:
    labels = np.array([0] * 30 + [1] * 20 + [2] * 10)
    result = boost(np.zeros((60, 3)), labels, np.zeros((4, 3)), seed=0)
    assert (result.importance == 0).all()
    assert (result.test == 0).all()


def test_the_seed_decides_every_bit() -> None:
    codes, labels = mixed(300)
    first, again = (boost(codes, labels[:, 2], codes, seed=3) for _ in range(2))
    assert np.array_equal(first.importance, again.importance)


def test_one_class_is_guessed() -> None:
    codes, _ = mixed(30)
    result = boost(codes, np.full(30, 7), codes, seed=0)
    assert (result.importance == 0).all()
    assert (result.test == 7).all()


def test_processes_change_neither_bits_nor_order(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = mixed(300)
    jobs = [(codes[:200], labels[:200, factor], codes[200:]) for factor in (0, 2, 1)]
    alone = boost_each(jobs, seed=1)
    assert sum(len(codes) * len(np.unique(classes)) for codes, classes, _ in jobs) < WORTH_A_PROCESS
    monkeypatch.setattr("unweave.metrics.boosting.WORTH_A_PROCESS", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    beside = boost_each(jobs, seed=1)
    for first, second in zip(alone, beside, strict=True):
        assert np.array_equal(first.importance, second.importance)
        assert np.array_equal(first.test, second.test)


def in_a_child(answers: multiprocessing.queues.Queue[list[float]]) -> None:
    codes, labels = mixed(200)
    answers.put(boost_each([(codes, labels[:, 2], codes)] * 2, seed=1)[0].importance.tolist())


def test_a_child_process_gives_the_same_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unweave.metrics.boosting.WORTH_A_PROCESS", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    codes, labels = mixed(200)
    here = boost_each([(codes, labels[:, 2], codes)] * 2, seed=1)[0].importance.tolist()
    context = multiprocessing.get_context("fork")  # inherits the joblib of a parent that has used it
    answers = context.Queue()
    child = context.Process(target=in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60) == here
    child.join(20)
    assert child.exitcode == 0
