"""Put a trained run into the zoo: ``python benchmarks/zoo.py RUN LABEL``. Weights are rounded to half precision.

Scores are measured again with the rounded weights. Adding a label that exists replaces its model.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import torch

import unweave
from unweave.store.damage import promise_of
from unweave.store.folder import CONFIGURATION, LABEL, LOG, STATE, SUMMARY, WEIGHTS
from unweave.store.state import read_state, write_state
from unweave.training.checkpoint import load_tensors, save_tensors
from unweave.zoo import MODELS

LARGEST = 1_500_000  # bytes of one model
ALTOGETHER = 12_000_000
LINES = 200  # of the log
METRICS = ["mig", "dci", "infomec", "modularity", "sap", "psnr"]
LOCAL = {"local_mig": {"rho": [0.1]}, "local_modularity": {"rho": [0.1]}}


def add(source: Path, label: str) -> None:
    """Copy what is needed of a finished run, and score it."""
    run = unweave.open(source)
    for old in MODELS.glob(f"*/{LABEL}"):
        if old.read_text(encoding="utf-8").strip() == label:
            shutil.rmtree(old.parent)
    folder = MODELS / run.name
    folder.mkdir(parents=True)
    for name in (CONFIGURATION, STATE, SUMMARY):
        shutil.copy(source / name, folder / name)
    (folder / LABEL).write_text(f"{label}\n", encoding="utf-8")
    lines = (source / LOG).read_text(encoding="utf-8").splitlines(keepends=True)
    terms = [line for line in lines if "psnr" not in json.loads(line)]
    (folder / LOG).write_text("".join(terms[:: max(1, len(terms) // LINES)]), encoding="utf-8")
    tensors, metadata = load_tensors(source / WEIGHTS, run.name)
    half = {name: value.half() if value.dtype == torch.float32 else value for name, value in tensors.items()}
    save_tensors(folder / WEIGHTS, half, metadata)
    if (state := read_state(folder)) is not None:  # which promises the files of the original, snapshots among them
        write_state(folder, replace(state, files=promise_of(folder, [WEIGHTS, SUMMARY])))
    rounded = unweave.open(folder)
    local = run.configuration.data.name == "three_dots"
    unweave.score(rounded, metrics=[*METRICS, *(LOCAL if local else ())], settings=LOCAL if local else {})
    for lock in folder.glob("*lock"):
        lock.unlink()
    size = (folder / WEIGHTS).stat().st_size
    total = sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file())
    if size > LARGEST or total > ALTOGETHER:
        raise SystemExit(f"{label} has {size:,} bytes, the zoo {total:,}: at most {LARGEST:,} and {ALTOGETHER:,}.")
    print(f"{label}: {size:,} bytes, {dict(rounded.scores.table)}")


if __name__ == "__main__":
    add(Path(sys.argv[1]), sys.argv[2])
