"""Compare the metrics with their plain definitions at the published sizes: ``python benchmarks/metrics.py``.

The plain definitions call scikit-learn's estimators once per factor, compute mutual information pair by pair, and loop
over votes, encoding the images of each. Writes ``benchmarks/metrics.md``. scikit-learn's boosting takes minutes.
``python benchmarks/metrics.py sparse`` measures only the metrics of wide and sparse codes, the last part of the page.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import entropy
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.svm import LinearSVC
from torch import Tensor, nn

import unweave
from unweave import FactorSpace, metrics
from unweave.metrics import EncodedData

SIZES = np.array((3, 6, 40, 32, 32))
SPACE = FactorSpace.of(shape=3, scale=6, orientation=40, x=32, y=32)
TRAIN, TEST, BATCH, LATENTS = 10_000, 5_000, 64, 10
WEIGHTS = np.random.default_rng(0).normal(scale=0.4, size=(5, LATENTS)) + np.repeat(np.eye(5), 2, axis=1)
warnings.simplefilter("ignore")


ONE_EACH = np.hstack([np.diag([0.5, 0.75, 1.0, 1.25, 1.5]), np.zeros((5, 5))])


def represent(points: Tensor, weights: Any = WEIGHTS) -> Any:
    """Ten latents that mix the standardised factors."""
    return ((points.numpy() - (SIZES - 1) / 2) / np.sqrt((SIZES**2 - 1) / 12)) @ weights


def sample(n: int, seed: int, weights: Any = WEIGHTS, noise: float = 0.1) -> tuple[Any, Any]:
    factors = SPACE.sample(n, torch.Generator().manual_seed(seed))
    return represent(factors, weights) + noise * np.random.default_rng(seed).normal(size=(n, LATENTS)), factors.numpy()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Plain:
    """The published definitions, written as they are defined."""

    def __init__(self) -> None:
        (self.x, self.y), (self.x_test, self.y_test) = sample(TRAIN, 0), sample(TEST, 1)
        self.noisy = sample(TRAIN, 0, ONE_EACH, 0.3), sample(TEST, 1, ONE_EACH, 0.3)
        self.rng = np.random.default_rng(0)
        self.dci_scores: dict[str, list[float]] = {}

    def information(self) -> None:
        """MIG and modularity: the table is made for each."""
        for _ in ("mig", "modularity"):
            for latent in self.x.T:
                edges = np.histogram(latent, 20)[1]
                binned = np.digitize(latent, edges[:-1])
                for factor in self.y.T:
                    mutual_info_score(binned, factor)

    def explicitness(self) -> None:
        for factor, truth in zip(self.y.T, self.y_test.T, strict=True):
            model = LogisticRegression().fit(self.x, factor)
            roc_auc_score(np.eye(factor.max() + 1)[truth], model.predict_proba(self.x_test))

    def sap(self) -> None:
        for latent, latent_test in zip(self.x.T, self.x_test.T, strict=True):
            for factor, truth in zip(self.y.T, self.y_test.T, strict=True):
                model = LinearSVC(C=0.01, class_weight="balanced").fit(latent[:, None], factor)
                np.mean(model.predict(latent_test[:, None]) == truth)

    def dci(self) -> None:
        self.dci_scores["dci"] = self.boosted(self.x, self.y, self.x_test)

    def dci_noisy(self) -> None:
        (x, y), (x_test, _) = self.noisy
        self.dci_scores["dci_noisy"] = self.boosted(x, y, x_test)

    def boosted(self, codes: Any, factors: Any, test: Any) -> list[float]:
        """Disentanglement and completeness."""
        columns = []
        for factor in factors.T:
            model = GradientBoostingClassifier(random_state=0).fit(codes, factor)
            model.predict(test)
            columns.append(model.feature_importances_)
        matrix = np.stack(columns, axis=1)
        purity = [1 - entropy(m + 1e-11, base=len(m)) for m in (matrix.T, matrix)]
        return [float((p * m.sum(0)).sum() / m.sum()) for p, m in zip(purity, (matrix.T, matrix), strict=True)]

    def infomec(self) -> None:
        for factor in self.y.T:
            for latent in self.x.T:
                mutual_info_classif(latent[:, None], factor, discrete_features=False, n_neighbors=10)
            LogisticRegression(C=np.inf, class_weight="balanced").fit(self.x, factor).predict_proba(self.x)

    def beta_vae_score(self) -> None:
        features, labels = [], []
        for _ in range(TRAIN + TEST):
            first, second = (self.rng.integers(0, SIZES, (BATCH, 5)) for _ in range(2))
            axis = self.rng.integers(5)
            second[:, axis] = first[:, axis]
            a, b = represent(torch.from_numpy(first)), represent(torch.from_numpy(second))
            features.append(np.abs(a - b).mean(0))
            labels.append(axis)
        model = LogisticRegression().fit(features[:TRAIN], labels[:TRAIN])
        model.score(features[TRAIN:], labels[TRAIN:])

    def factor_vae_score(self) -> None:
        variance = self.x.var(0, ddof=1)
        votes = np.zeros((5, LATENTS))
        for _ in range(TRAIN + TEST):
            batch = self.rng.integers(0, SIZES, (BATCH, 5))
            axis = self.rng.integers(5)
            batch[:, axis] = batch[0, axis]
            votes[axis, (represent(torch.from_numpy(batch)).var(0, ddof=1) / variance).argmin()] += 1


def ours(plain: Plain) -> dict[str, Callable[[], object]]:
    codes, factors, test = plain.x, plain.y, (plain.x_test, plain.y_test)
    return {
        "information": lambda: (metrics.mig(codes, factors), metrics.modularity(codes, factors)),
        "explicitness": lambda: metrics.explicitness(codes, factors, test=test),
        "sap": lambda: metrics.sap(codes, factors, test=test),
        "dci": lambda: metrics.dci(codes, factors, test=test),
        "dci_noisy": lambda: metrics.dci(*plain.noisy[0], test=plain.noisy[1]),
        "infomec": lambda: metrics.infomec(codes, factors),
        "beta_vae_score": lambda: metrics.beta_vae_score(represent, SPACE),
        "factor_vae_score": lambda: metrics.factor_vae_score(represent, SPACE),
    }


def encoder_passes() -> tuple[int, int, float]:
    """Count the images that the plan and the plain loop encode for two scores on dSprites, and time the plan."""
    data = unweave.load("dsprites")
    widths = itertools.pairwise((1, 32, 32, 64, 64))
    down = [nn.Sequential(nn.Conv2d(a, b, 4, 2, 1), nn.ReLU()) for a, b in widths]
    encoder = nn.Sequential(*down, nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, LATENTS))
    encoded = EncodedData(encoder, data, batch=512)

    def both() -> None:
        metrics.beta_vae_score(encoded, data.space)
        metrics.factor_vae_score(encoded, data.space)

    spent = seconds(both)
    plain = (TRAIN + TEST) * BATCH * 2 + (TRAIN + TEST) * BATCH + 10_000
    return encoded.encoded, plain, spent


def peak_of(script: str) -> float:
    """Return the peak memory of a fresh process beyond that of its imports, in gigabytes."""
    return words_of(script)[-1]


def words_of(script: str) -> list[float]:
    """Return the numbers that a fresh process prints, the last of which is its peak memory beyond its imports."""
    measure = (
        "import resource, numba, numpy as np, unweave, sklearn.ensemble, sklearn.linear_model, sklearn.svm\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        f"imports = peak()\n{script}\nprint(peak() - imports)"
    )
    shown = subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True, check=True)
    return [float(word) for word in shown.stdout.split()]


def scoring(rows: int) -> str:
    return (
        f"f = np.random.default_rng(0).integers(0, (3, 6, 40, 32, 32), ({rows}, 5))\n"
        f"c = np.hstack([f, f]) + np.random.default_rng(1).normal(size=({rows}, 10))\n"
        "unweave.score_codes(c, f)"
    )


SPARSE = """
import time
from scipy import sparse
from unweave.metrics import METRICS
rng = np.random.default_rng(0)
n, latents, active, sizes = 50_000, 16_384, 34, np.array((3, 6, 40, 32, 32))
f = rng.integers(0, sizes, (n, 5))
own = f + np.cumsum(sizes) - sizes
places = np.hstack([own, rng.integers(sizes.sum(), latents, (n, active - 5))])
c = sparse.csr_array((rng.exponential(size=n * active), places.reshape(-1), np.arange(n + 1) * active), (n, latents))
metric = METRICS[{name!r}]
given = (c,) if metric.needs == "codes" else (c, f)
imports, wall, cpu = peak(), time.perf_counter(), time.process_time()
metric.function(*given)
print(time.perf_counter() - wall, time.process_time() - cpu, peak())
"""
HEADING = "## Wide and sparse codes"


def sparse_lines() -> list[str]:
    """Measure every metric that takes sparse codes, each in a process of its own, and return the part of the page."""
    rows = []
    for name, metric in metrics.METRICS.items():
        if metric.sparse:
            wall, cpu, peak = words_of(SPARSE.format(name=name))[:3]
            rows.append((name, wall, cpu, peak))
            print(f"{name:24} {wall:7.1f} s, {cpu:6.1f} s of CPU, {peak:.2f} GB", flush=True)
    wall, cpu, peak = sum(row[1] for row in rows), sum(row[2] for row in rows), max(row[3] for row in rows)
    return [
        HEADING,
        "",
        f"Written by `python benchmarks/metrics.py sparse` on {os.cpu_count()} CPU cores, with a load average of",
        f"{os.getloadavg()[2]:.1f} over the last 15 minutes. CPU time is that of all threads; wall time includes",
        "waiting for other programs. 16,384 latents, 50,000 samples, 34 active entries per sample, factors with 3, 6,",
        "40, 32 and 32 values: one latent for each value, which is active in its samples, and others that are active",
        "at random. Memory is the peak of the process, with the codes and the imports. Metrics that fit and test use",
        "10,000 and 5,000 of the samples.",
        "",
        "| metric | wall, s | CPU, s | peak, GB |",
        "|---|---|---|---|",
        *(f"| {name} | {a:.1f} | {b:.1f} | {c:.2f} |" for name, a, b, c in rows),
        "",
        "| what | measured | target |",
        "|---|---|---|",
        f"| all of these, CPU seconds; five minutes on two cores are 600 | {cpu:.0f} | ≤ 600 |",
        f"| all of these one after the other, wall seconds | {wall:.0f} | ≤ 300 |",
        f"| largest peak, GB | {peak:.2f} | ≤ 4 |",
        "",
    ]


def main() -> None:
    page = Path(__file__).with_suffix(".md")
    before = page.read_text().partition(HEADING)[0]
    if sys.argv[1:] == ["sparse"]:
        page.write_text("\n".join([before.rstrip(), "", *sparse_lines()]))
        return
    plain, rows = Plain(), []
    for name, work in ours(plain).items():
        work()  # imports and compiles
        fast, slow = seconds(work), seconds(getattr(plain, name))
        rows.append((name, slow, fast))
        print(f"{name:18} plain {slow:7.1f} s, here {fast:6.2f} s, {slow / fast:6.1f} times", flush=True)
    (noisy, noisy_test), test = plain.noisy, (plain.x_test, plain.y_test)
    boosted = {"dci": metrics.dci(plain.x, plain.y, test=test), "dci_noisy": metrics.dci(*noisy, test=noisy_test)}
    slow, fast = sum(row[1] for row in rows), sum(row[2] for row in rows)
    local = seconds(lambda: metrics.local_mig(represent, SPACE, rho=[0.1, 0.25, 0.5, 0.75, 1.0]))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UNWEAVE_DATA"] = folder
        passes, plain_passes, encoding = encoder_passes()
    small, large = peak_of(scoring(15_000)), peak_of(scoring(1_000_000))
    lines = [
        "# The metrics compared with their plain definitions",
        "",
        f"Written by `python benchmarks/metrics.py` on {os.cpu_count()} CPU cores; the two versions of a metric run",
        f"one after the other. {TRAIN:,} and {TEST:,} samples or votes of 64, factors with 3, 6, 40, 32 and 32 values,",
        "ten latents, codes computed beforehand. The codes are a dense mix of the factors with noise of 0.1. For",
        "`dci_noisy` five latents carry one factor each, scaled by 0.5 to 1.5, and all ten have noise of 0.3.",
        "",
        "| metric | plain, s | Unweave, s | speed-up | target |",
        "|---|---|---|---|---|",
        *(f"| {n} | {a:.2f} | {b:.2f} | {a / b:.1f} | {'≥ 30' if 'dci' in n else ''} |" for n, a, b in rows),
        f"| all of these | {slow:.1f} | {fast:.1f} | {slow / fast:.1f} | ≥ 20 |",
        "",
        "DCI by gradient boosting, compared with scikit-learn on the same samples:",
        "",
        "| score | scikit-learn | Unweave | difference | target |",
        "|---|---|---|---|---|",
        *(
            f"| {name}.{score} | {theirs:.4f} | {here:.4f} | {abs(here - theirs):.4f} | ≤ 0.005 |"
            for name, theirs_of in plain.dci_scores.items()
            for score, theirs in zip(("disentanglement", "completeness"), theirs_of, strict=True)
            for here in [getattr(boosted[name], score)]
        ),
        "",
        f"BetaVAE and FactorVAE scores on dSprites through the 64 × 64 encoder encode {passes:,} images instead of",
        f"{plain_passes:,}, in {encoding:.0f} s. Memory is the peak of all metrics on codes, without the imports.",
        "",
        "| what | measured | target |",
        "|---|---|---|",
        f"| local MIG at five radii, 20 neighbourhoods of 10,000 points each, s | {local:.1f} | ≤ 60 |",
        f"| BetaVAE and FactorVAE scores, times fewer images encoded | {plain_passes / passes:.2f} | ≥ 3 |",
        f"| memory for 15,000 rows, GB | {small:.2f} | ≤ 1 |",
        f"| memory for a million rows, GB | {large:.2f} | ≤ 8 |",
        "",
    ]
    page.write_text("\n".join([*lines, *sparse_lines()]))


if __name__ == "__main__":
    main()
