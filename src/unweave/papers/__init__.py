"""The findings of the four papers, each tested by one command and written down from stored results."""

from unweave.papers.catalogue import FINDINGS, find, stored_results, study_of
from unweave.papers.document import Document, overview, page, report, write_document
from unweave.papers.finding import SCALES, Answer, Claim, Finding, Part

__all__ = [
    "FINDINGS",
    "SCALES",
    "Answer",
    "Claim",
    "Document",
    "Finding",
    "Part",
    "find",
    "overview",
    "page",
    "report",
    "stored_results",
    "study_of",
    "write_document",
]
