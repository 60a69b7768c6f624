"""Shared by the tests of findings."""

from unweave.papers import Answer


def verdicts(answer: Answer) -> dict[str, str]:
    return {claim.sentence: claim.verdict for claim in answer.claims}
