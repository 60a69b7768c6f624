"""The findings of the four papers, each tested by one command and written down from stored results."""

from unweave.papers.catalogue import EXHIBITS, FINDINGS, Exhibit, exhibits_page, find, stored_results, study_of
from unweave.papers.document import Document, overview, page, report, write_document
from unweave.papers.finding import SCALES, Answer, Claim, Finding, Part

__all__ = [
    "EXHIBITS",
    "FINDINGS",
    "SCALES",
    "Answer",
    "Claim",
    "Document",
    "Exhibit",
    "Finding",
    "Part",
    "exhibits_page",
    "find",
    "overview",
    "page",
    "report",
    "stored_results",
    "study_of",
    "write_document",
]
