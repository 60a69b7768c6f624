from __future__ import annotations

from unweave.latents import Summary


def test_latents_are_ordered_by_what_their_kind_has() -> None:
    by_kl = Summary([0.0] * 3, [5.0, 1.0, 1.0], [0.1, 2.0, 1.0], None)
    assert (by_kl.order, by_kl.order_name) == ([1, 2, 0], "KL")
    usage = [[1.0, 0.0], [0.9, 0.1], [0.5, 0.5]]  # entropies 0, 0.325, 0.693
    by_entropy = Summary([0.0] * 3, [5.0, 1.0, 1.0], None, usage)
    assert (by_entropy.order, by_entropy.order_name) == ([2, 1, 0], "entropy")
    by_spread = Summary([0.0] * 3, [1.0, 5.0, 1.0], None, None)
    assert (by_spread.order, by_spread.order_name) == ([1, 0, 2], "standard deviation")  # ties keep their order
