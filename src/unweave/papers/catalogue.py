"""All findings, in the order of the papers."""

from unweave.papers import (
    adversarial_squares,
    challenging_assumptions,
    combinations,
    impossibility,
    local_disentanglement,
    natural_patches,
    perceived_distance,
    tripod,
)

FINDINGS = {
    finding.name: finding
    for finding in (
        local_disentanglement.FINDING,
        natural_patches.FINDING,
        perceived_distance.FINDING,
        adversarial_squares.FINDING,
        challenging_assumptions.FINDING,
        impossibility.FINDING,
        tripod.FINDING,
        combinations.FINDING,
    )
}
