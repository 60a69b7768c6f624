"""Score the codes of your own validation loop with a torchmetrics metric."""

import torch
from rich import print as show
from torch.utils.data import DataLoader, TensorDataset

import unweave
from unweave.interop import CodeScores

data = unweave.load("xysquares", size=16)
factors = data.space.sample(2_000, torch.Generator().manual_seed(0))
images = data.images(factors) / 255
encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(6))  # your own encoder
metric = CodeScores(["mig", "dci", "modularity"])
with torch.no_grad():
    for batch, labels in DataLoader(TensorDataset(images, factors), batch_size=256):
        metric.update(encoder(batch), labels)
for name, value in metric.compute().items():
    show(f"{name:24} {value:.3f}")
