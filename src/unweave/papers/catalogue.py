"""All findings, in the order of the papers."""

from unweave.papers import (
    adversarial_squares,
    challenging_assumptions,
    combinations,
    impossibility,
    local_disentanglement,
    perceived_distance,
    tripod,
)

FINDINGS = {
    finding.name: finding
    for finding in (
        local_disentanglement.FINDING,
        perceived_distance.FINDING,
        adversarial_squares.FINDING,
        challenging_assumptions.FINDING,
        impossibility.FINDING,
        tripod.FINDING,
        combinations.FINDING,
    )
}
