"""The list of findings."""

from unweave.papers import FINDINGS
from unweave.papers.finding import SCALES


def test_findings_are_listed_by_name_with_known_scales() -> None:
    assert all(name == finding.name for name, finding in FINDINGS.items())
    assert all(scale in SCALES for finding in FINDINGS.values() for scale in finding.specs)
    assert all(finding.paper and finding.sentence.endswith(".") for finding in FINDINGS.values())
