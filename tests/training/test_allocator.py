from __future__ import annotations

import platform

import pytest

from unweave.training.allocator import keep_memory


def test_glibc_agrees() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("another C library")
    assert keep_memory()


def test_without_glibc_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("musl", "1.2"))
    assert not keep_memory.__wrapped__()
