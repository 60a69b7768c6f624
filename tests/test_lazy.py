from __future__ import annotations

import pytest

from unweave.lazy import lazy


def test_names_are_imported_when_they_are_asked_for() -> None:
    get = lazy("package", {"dumps": "json:dumps", "json": "json"})
    assert get("dumps")([1]) == "[1]"
    assert get("json").dumps is get("dumps")
    with pytest.raises(AttributeError, match="module 'package' has no attribute 'loads'"):
        get("loads")
