from __future__ import annotations

from itertools import combinations

import pytest
import torch
from torch import Tensor
from torch.func import jacrev, vmap

from tests.terms.models import Function, forward, gradient, randn
from unweave.errors import InputError
from unweave.latents import Codebook, Gaussian
from unweave.terms import JacobianL1, JacobianL2
from unweave.terms.jacobian import JacobianPenalty, column_differences, random_columns

KINDS = [(JacobianL1, 1), (JacobianL2, 2)]
both = pytest.mark.parametrize(("kind", "power"), KINDS)


def exact_columns(power: int) -> tuple[Tensor, Tensor]:
    """The penalty (B, D) of each column of each row, and the codes, from exact derivatives of the images."""
    passed = forward(Gaussian(size=4))
    z = passed.code.z.detach()
    jacobian = vmap(jacrev(lambda code: passed.model.decode(code[None])[0]))(z).detach()  # (B, C, H, W, D)
    return jacobian.abs().pow(power).sum((1, 2, 3)), z


@both
def test_the_full_penalty_is_that_of_the_exact_jacobian_of_images(kind: type[JacobianPenalty], power: int) -> None:
    columns, _ = exact_columns(power)
    value = kind(difference=1e-6)(forward(Gaussian(size=4)))
    assert value.item() == pytest.approx(columns.sum(1).mean().item(), rel=1e-4)


def test_each_column_is_a_forward_difference() -> None:
    weights = randn(5, 3)
    wanted = torch.tensor([[2, 0], [1, 2]])
    parts = column_differences(lambda z: (z**2 @ weights.T).reshape(-1, 1, 1, 5), randn(2, 3), wanted, 1e-2)
    jacobian = torch.cat(list(parts)) / 1e-2  # (k, n, C, H, W)
    z = randn(2, 3)
    for row in range(2):
        for k in range(2):
            latent = int(wanted[row, k])
            expected = ((z[row, latent] + 1e-2) ** 2 - z[row, latent] ** 2) / 1e-2 * weights[:, latent]
            torch.testing.assert_close(jacobian[k, row, 0, 0], expected)


@both
def test_random_columns_have_the_full_penalty_as_their_mean(kind: type[JacobianPenalty], power: int) -> None:
    columns, _ = exact_columns(power)
    full = columns.sum(1).mean().item()
    draws = []
    for seed in range(400):
        passed = forward(Gaussian(size=4))
        _ = passed.code  # the same codes each time, other columns and rows
        passed.generator.manual_seed(seed)
        draws.append(kind(columns=2, share=0.5, difference=1e-6)(passed).item())
    values = torch.tensor(draws)
    error = values.std().item() / len(draws) ** 0.5
    assert abs(values.mean().item() - full) < 4 * error
    assert 0 < error < 0.05 * full


@both
def test_all_choices_of_columns_average_to_the_full_penalty(
    kind: type[JacobianPenalty], power: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, _ = exact_columns(power)
    total = []
    for chosen in combinations(range(4), 2):
        monkeypatch.setattr(
            "unweave.terms.jacobian.random_columns", lambda n, *_, c=chosen: torch.tensor(c).expand(n, -1)
        )
        total.append(kind(columns=2, difference=1e-6)(forward(Gaussian(size=4))).item())
    assert sum(total) / 6 == pytest.approx(columns.sum(1).mean().item(), rel=1e-4)


def test_columns_are_each_rows_own_without_repetition() -> None:
    chosen = random_columns(600, 5, 2, torch.Generator().manual_seed(0))
    assert (chosen[:, 0] != chosen[:, 1]).all()
    counts = torch.bincount(chosen.flatten(), minlength=5)
    assert (counts - 240).abs().max() < 60
    assert len(set(map(tuple, chosen.tolist()))) == 20  # all ordered pairs
    assert random_columns(3, 4, 4, torch.Generator()).tolist() == [[0, 1, 2, 3]] * 3


@pytest.mark.parametrize(("given", "rows"), [({}, 6 * 5), ({"columns": 2}, 6 * 3), ({"share": 0.5}, 3 * 5)])
def test_few_codes_pass_the_decoder_in_one_call(given: dict[str, float], rows: int) -> None:
    decoder = Function(lambda z: z.reshape(-1, 1, 1, 4))
    value = JacobianL1(**given)(forward(Gaussian(size=4), "gaussian", decoder=decoder))  # type: ignore[arg-type]
    assert decoder.calls == [rows]
    assert value.item() == pytest.approx(4)  # the identity


@both
def test_only_the_decoder_is_regularised(kind: type[JacobianPenalty], power: int) -> None:
    passed = forward(Codebook(size=4, levels=10))
    torch.autograd.backward(kind()(passed))
    assert gradient(passed.model.decoder) > 0
    assert gradient(passed.model.encoder) == gradient(passed.model.learned) == 0


def test_no_rotation_changes_l2_and_sparse_columns_cost_least_in_l1() -> None:
    angle = torch.tensor(0.6).double()
    turn = torch.tensor([[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]]).double()

    def penalties(matrix: Tensor) -> dict[type[JacobianPenalty], float]:
        decoder = Function(lambda z: (z @ matrix).reshape(-1, 1, 1, 2))
        return {kind: kind()(forward(Gaussian(size=2), "gaussian", decoder=decoder)).item() for kind, _ in KINDS}

    straight, turned = penalties(torch.eye(2).double()), penalties(turn)
    assert straight[JacobianL2] == pytest.approx(turned[JacobianL2])
    assert straight[JacobianL1] < turned[JacobianL1] - 0.5


def test_more_columns_than_latents_has_a_clear_error() -> None:
    term = JacobianL1(columns=5)
    assert term.refusal(Gaussian(size=4)) == "columns must be at most the number of latents, 4, got 5"
    assert term.refusal(Gaussian(size=5)) is None
    with pytest.raises(InputError, match="the jacobian l1 term: columns must be at most the number of latents, 4, got"):
        term(forward(Gaussian(size=4)))


@both
def test_many_codes_pass_in_parts_and_come_to_the_same(
    kind: type[JacobianPenalty], power: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = kind()(forward(Gaussian(size=4))).item()
    for rows in (1, 6, 12, 18):
        monkeypatch.setattr("unweave.terms.jacobian.ROWS", rows)
        assert kind()(forward(Gaussian(size=4))).item() == pytest.approx(whole)
