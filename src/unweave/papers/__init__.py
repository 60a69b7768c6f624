"""The findings of the four papers, each tested by one command and written down from stored results."""

from unweave.papers.catalogue import FINDINGS
from unweave.papers.finding import SCALES, Answer, Claim, Finding, Part
from unweave.papers.page import overview, page
from unweave.papers.report import write_report
from unweave.papers.running import find, read_table, run_paper, study_of

__all__ = [
    "FINDINGS",
    "SCALES",
    "Answer",
    "Claim",
    "Finding",
    "Part",
    "find",
    "overview",
    "page",
    "read_table",
    "run_paper",
    "study_of",
    "write_report",
]
