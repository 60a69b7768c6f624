"""The files of the papers."""

import pytest

from unweave.errors import Unavailable
from unweave.papers import FINDINGS
from unweave.papers.specs import spec_path


def test_every_finding_has_its_specifications() -> None:
    assert all(spec_path(name).is_file() for finding in FINDINGS.values() for name in finding.specs.values())


def test_a_missing_specification_is_a_sentence() -> None:
    with pytest.raises(Unavailable, match=r"nothing\.toml is missing"):
        spec_path("nothing")
