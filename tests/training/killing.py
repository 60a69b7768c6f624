"""Train a run while killing it at random moments, and compare it with one that was left alone.

``python -m tests.training.killing FOLDER`` prints how often each signal struck. Each try is a process of its own,
forked from this one, so that its imports need not be paid again.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch

from tests.training.small import trained

TRIES = 12


def attempt(store: Path, steps: int = 300) -> None:
    small: dict[str, Any] = {"total_correlation_discriminator.width": 16}
    trained(store, "factor_vae", steps=steps, checkpoint_steps=3, log_steps=2, **small)


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    attempt(folder / "warm", steps=2)  # pays the imports
    start = time.monotonic()
    attempt(folder / "whole")
    length = time.monotonic() - start
    moments = random.Random(0)
    struck = {"SIGKILL": 0, "SIGTERM": 0, "SIGINT": 0}
    for turn in range(10 * TRIES):
        kind = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][turn % 3]
        child = os.fork()
        if child == 0:
            try:
                attempt(folder / "killed")
            except KeyboardInterrupt:
                os._exit(130)
            except SystemExit as stopped:
                os._exit(int(stopped.code or 0))
            os._exit(0)
        time.sleep(moments.uniform(0, length / 12))
        os.kill(child, kind)
        _, status = os.waitpid(child, 0)
        if status == 0:
            break
        struck[kind.name] += 1
        if sum(struck.values()) >= TRIES:
            break
    attempt(folder / "killed")
    (whole,), (killed,) = (list((folder / name).iterdir()) for name in ("whole", "killed"))
    for name in ("model.safetensors", "checkpoint.safetensors", "log.jsonl", "summary.json"):
        if (whole / name).read_bytes() != (killed / name).read_bytes():
            raise SystemExit(f"{name} differs")
    print(json.dumps(struck))  # noqa: T201


if __name__ == "__main__":
    main()
