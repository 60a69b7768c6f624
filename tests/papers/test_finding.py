"""The verdict of a claim."""

import pytest

from unweave.papers import Claim


@pytest.mark.parametrize(("shown", "verdict"), [(True, "shown"), (False, "not shown"), (None, "not tested")])
def test_a_claim_says_what_it_is(shown: bool | None, verdict: str) -> None:
    assert Claim("It rains.", shown, "").verdict == verdict
