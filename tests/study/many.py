"""Make the folders of thousands of finished runs from one genuine run, to measure how a store of them is read.

``python -m tests.study.many RUN SPEC STORE`` gives every run of a specification the state, scores and weights of the
genuine run and a configuration of its own. ``--time`` then opens the table without and with the index.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unweave.plain_json import to_plain
from unweave.store.index import INDEX
from unweave.study import Study
from unweave.study.grid import Planned
from unweave.study.spec import Spec


def make(run: Path, planned: list[Planned], spec: Spec, store: Path) -> None:
    """Make one folder per planned run, with the scores of the genuine run as if they were measured for this study."""
    state = (run / "state.json").read_text()
    asked = {"samples": spec.score.samples, "test_samples": spec.score.test_samples, "seed": spec.score.seed}
    entries = json.loads((run / "scores.json").read_text())
    for entry in entries:
        entry["protocol"] |= {**asked, "settings": to_plain(spec.score.settings.get(entry["metric"], {}))}
    dumps = [json.dumps(entry) for entry in entries]
    for one in {one.name: one for one in planned}.values():
        folder = store / one.name
        folder.mkdir(parents=True)
        (folder / "state.json").write_text(state)
        (folder / "scores.json").write_text("[\n" + ",\n".join(dumps) + "\n]\n")
        (folder / "configuration.json").write_text(one.configuration.model_dump_json(indent=2))
        for name in ("model.safetensors", "summary.json"):
            os.link(run / name, folder / name)


def measure(spec: Path, store: Path) -> dict[str, Any]:
    """Return the wall and processor seconds that plan, table and status take, without and with the index."""
    (store / INDEX).unlink(missing_ok=True)
    study = Study(spec, store=store)
    steps: dict[str, Callable[[], Any]] = {
        "plan": lambda: len(study.planned),
        "table without index": lambda: study.table().shape,
        "table with index": lambda: study.table().shape,
        "table with index, again": lambda: study.table().shape,
        "status with index": study.status,
    }
    found = {}
    for title, step in steps.items():
        wall, processor = time.perf_counter(), time.process_time()
        result = step()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        found[title] = {"result": result, "wall": round(wall, 2), "processor": round(processor, 2)}
    return found


if __name__ == "__main__":
    run, path, place = (Path(argument) for argument in sys.argv[1:4])
    study = Study(path, store=place)
    if not place.exists():
        make(run, study.planned, study.spec, place)
        time.sleep(2.5)  # until the index trusts the files
    print(json.dumps(measure(path, place), indent=1))  # noqa: T201
