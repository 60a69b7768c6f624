"""The findings of the four papers, each tested by one command and written down from stored results."""

from unweave.papers.catalogue import FINDINGS, find, stored_results, study_of
from unweave.papers.document import Document, write_document
from unweave.papers.finding import SCALES, Answer, Claim, Finding, Part
from unweave.papers.page import overview, page
from unweave.papers.report import report

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
