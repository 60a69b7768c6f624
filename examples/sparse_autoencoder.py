"""Train a sparse autoencoder on the features of an encoder, and score its latents against the true factors.

The encoder is a QLAE of the zoo, on images of rooms that are drawn from six factors. Its features, the outputs of the
layer before the latents, mix the factors. A sparse autoencoder writes each of them as a sum of a few of 256 directions;
of these latents, 12 are active for an image. Which of them stand for a hue, a shape, an angle? The factors are known,
so that this is a question with an answer.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

import unweave
from unweave.metrics import single_latents

OUT = Path("demo")
LATENTS, ACTIVE = 256, 12
IMAGES, STEPS, BATCH = 8_000, 1_000, 256


def features_of(run: unweave.Run, images: Tensor) -> Tensor:
    """Return the outputs (N, M) of the layer before the latents; of an encoder of your own, take any layer."""
    outputs: list[Tensor] = []
    layer = list(run.model.encoder.children())[-2]
    hook = layer.register_forward_hook(lambda module, inputs, output: outputs.append(output))
    run.encode(images)
    hook.remove()
    return torch.cat(outputs)


class SparseAutoencoder(nn.Module):
    """Sums of ``ACTIVE`` of ``LATENTS`` directions: a top-k autoencoder (Gao et al. 2024)."""

    def __init__(self, features: Tensor) -> None:
        super().__init__()
        self.center, self.scale = features.mean(0), features.std()
        self.decoder = nn.Parameter(nn.functional.normalize(torch.randn(LATENTS, features.shape[1]), dim=1))
        self.encoder = nn.Parameter(self.decoder.detach().T.clone())
        self.bias = nn.Parameter(torch.zeros(LATENTS))

    def encode(self, features: Tensor) -> Tensor:
        """Return the latents (B, LATENTS) of features (B, M), all but the largest ACTIVE of them 0."""
        values = torch.relu((features - self.center) / self.scale @ self.encoder + self.bias)
        largest = values.topk(ACTIVE, dim=1)
        return torch.zeros_like(values).scatter(1, largest.indices, largest.values)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the latents and the share of the variance of the features that they do not explain."""
        latents = self.encode(features)
        target = (features - self.center) / self.scale
        return latents, (target - latents @ self.decoder).square().sum() / target.square().sum()


def train(features: Tensor, steps: int = STEPS) -> SparseAutoencoder:
    """Fit a sparse autoencoder to features (N, M), with directions of length 1."""
    model = SparseAutoencoder(features)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(steps):
        batch = features[torch.randint(len(features), (BATCH,))]
        _, unexplained = model(batch)
        optimiser.zero_grad()
        unexplained.backward()
        optimiser.step()
        with torch.no_grad():
            model.decoder.copy_(nn.functional.normalize(model.decoder, dim=1))
        if step % 500 == 0:
            print(f"step {step:5}: {1 - unexplained.item():.1%} of the variance is explained")
    return model


def draw(images: Tensor, latents: Tensor, best: dict[int, tuple[str, float]], path: Path) -> None:
    """Draw one row per latent: the value that it stands for, and the images in which it is most active."""
    figure, rows = plt.subplots(len(best), 1, figsize=(7, 0.75 * len(best)), layout="constrained")
    for row, (latent, (name, f1)) in zip(rows, best.items(), strict=True):
        top = images[latents[:, latent].argsort(descending=True)[:10]]
        row.imshow(torch.cat(list(top.permute(0, 2, 3, 1)), dim=1).numpy())
        row.set_ylabel(f"{name}\nlatent {latent}, F1 {f1:.2f}", rotation=0, ha="right", va="center", fontsize=8)
        row.set(xticks=[], yticks=[])
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=100)


def main() -> None:
    """Encode images, train, score and draw."""
    torch.manual_seed(0)
    run = unweave.open("zoo:qlae-shapes3d-drawn")
    data = run.data()
    names = data.space.names
    images, factors = data.sample(IMAGES, torch.Generator().manual_seed(0))
    assert factors is not None
    features = features_of(run, images)
    model = train(features)
    with torch.no_grad():
        latents = model.encode(features)

    codes = csr_array(latents.numpy())
    metrics = ["sparsity", "single_latents", "sparse_probing", "value_match", "absorption", "mig"]
    scores = unweave.score_codes(codes, factors, names=names, metrics=metrics)
    print(scores)
    print(f"of the features themselves: single_latents.f1 {single_latents(features, factors).f1:.4f}")

    found = scores["single_latents"]
    best: dict[int, tuple[str, float]] = {}  # by latent, the value that it recognises best
    for place in (-found.f1_per_value).argsort():
        factor, value = found.values[place]
        best.setdefault(int(found.f1_latent[place]), (f"{names[factor]} {value}", float(found.f1_per_value[place])))
    draw(images, latents, dict(list(best.items())[:8]), OUT / "sparse_autoencoder.png")


if __name__ == "__main__":
    main()
