"""Small runs that all tests of figures share; they are trained once."""

from __future__ import annotations

import pytest

from tests.training.small import bars, trained
from unweave import FactorData, Run


@pytest.fixture(scope="session")
def data() -> FactorData:
    return bars()


@pytest.fixture(scope="session")
def gaussian(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("gaussian"), steps=30, lr=1e-3, latents=4)


@pytest.fixture(scope="session")
def quantised(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("quantised"), "qlae", steps=2, latents=3)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("plain"), "ae", steps=2, latents=3)


@pytest.fixture(scope="session")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("linear"), "pca", latents=3)
