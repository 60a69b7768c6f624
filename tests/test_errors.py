from __future__ import annotations

import pytest

from unweave.errors import MissingExtra, extra, unknown


def test_an_unknown_name_suggests_the_nearest() -> None:
    assert str(unknown("recipe", "betavae", ["beta_vae", "ae"])) == "unknown recipe 'betavae': did you mean 'beta_vae'?"


def test_a_name_near_nothing_lists_all() -> None:
    assert str(unknown("kind", "zzz", ["ordered", "cyclic"])) == "unknown kind 'zzz': expected one of cyclic, ordered."


def test_a_missing_extra_says_what_to_type() -> None:
    with pytest.raises(MissingExtra, match=r"this needs raay, .*: pip install 'unweave\[cluster\]'"):
        extra("raay.tune", "cluster")
    assert extra("json", "cluster").loads("1") == 1
