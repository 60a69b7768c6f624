from __future__ import annotations

import torch

from unweave.streams import number, seeded, stream


def test_a_stream_is_a_function_of_its_four_numbers() -> None:
    given = [(0, "data", 0, 0), (1, "data", 0, 0), (0, "terms", 0, 0), (0, "data", 1, 0), (0, "data", 0, 1)]
    draws = [torch.rand(3, generator=stream(*four)) for four in given]
    again = [torch.rand(3, generator=stream(*four)) for four in given]
    assert all(torch.equal(a, b) for a, b in zip(draws, again, strict=True))
    assert len({number(*four) for four in given}) == 5


def test_neighbouring_steps_are_unrelated() -> None:
    draws = torch.stack([torch.rand(64, generator=stream(0, "data", step)) for step in range(200)])
    correlation = torch.corrcoef(draws)[~torch.eye(200, dtype=torch.bool)]
    assert correlation.abs().mean() < 0.11  # of independent rows of 64: 0.1


def test_the_global_generator_is_put_back() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    with seeded(0, "weights"):
        first = torch.rand(2)
    with seeded(0, "weights"):
        assert torch.equal(torch.rand(2), first)
    with seeded(0, "adversaries"):
        assert not torch.equal(torch.rand(2), first)
    assert torch.equal(torch.get_rng_state(), before)
