from __future__ import annotations

import json
import math

import numpy as np

from unweave.plain_json import to_plain


def test_everything_becomes_json_and_infinities_stay_apart() -> None:
    value = {
        "matrix": np.array([[1.0, np.nan], [np.inf, -np.inf]]),
        "count": np.int64(3),
        "flag": np.bool_(True),
        "words": ("a", None),
        5: {1},
        "other": math.sin,
    }
    plain = to_plain(value)
    assert plain["matrix"] == [[1.0, "NaN"], ["Infinity", "-Infinity"]]
    assert (plain["count"], plain["flag"], plain["words"], plain["5"]) == (3, True, ["a", None], [1])
    assert isinstance(plain["other"], str)
    json.dumps(plain, allow_nan=False)
