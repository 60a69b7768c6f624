"""Push a run to the Hugging Face hub, with a model card that has a picture of its latents and its scores."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from pathlib import Path

from unweave.bibliography import bibtex, works_in
from unweave.data import FactorData
from unweave.errors import InputError, Unavailable, extra
from unweave.metrics import METRICS
from unweave.names import spelled, words
from unweave.reports.facts import RunFacts, read_facts, sources_of
from unweave.reports.score_tables import chance_of
from unweave.store.folder import CONFIGURATION
from unweave.store.remote.hub import CARD, FILES, PREFIX, HubAddress, upload_run
from unweave.store.setting_names import used_settings_of
from unweave.streams import stream
from unweave.training import Run, open_run

PICTURE = "traversals.png"
TAGS = ("disentanglement", "representation-learning", "unweave")


def push(
    run: Run | str | Path,
    address: str,
    *,
    data: FactorData | None = None,
    store: str | Path | None = None,
    private: bool = False,
) -> str:
    """Upload a finished run to the Hugging Face hub, from where :func:`unweave.open` opens it by the same address.

    Weights (safetensors), configuration, state, log, scores and label are uploaded as one commit, with a model card: a
    picture of what each latent does, the stored scores, the settings and what to cite. Where your own images are stored
    is left out. Needs a token with permission to write, of ``hf auth login`` or in ``HF_TOKEN``.

    Args:
        run: The run, or its name, label or folder in the store.
        address: ``hf://OWNER/NAME``; a repository that does not exist yet is made.
        data: The data of the picture, by default the one that the run was trained on; without either there is none.
        store: Where runs are looked up by name.
        private: Whether a new repository is private.

    Returns:
        The address of the repository for browsers.

    Examples:
        >>> import unweave
        >>> unweave.push("latest", "hf://somebody/three-dots")  # doctest: +SKIP
        'https://huggingface.co/somebody/three-dots'
    """
    extra("huggingface_hub", "hub")
    to = HubAddress.of(address)
    opened = run if isinstance(run, Run) else open_run(run, store=store)
    facts = read_facts(opened.folder, data)
    if facts.status != "finished":
        raise InputError(f"push: the run {opened.folder} is {facts.status}; only a finished run can be pushed.")
    with tempfile.TemporaryDirectory(prefix="unweave-") as aside:
        folder = Path(aside)
        for name in FILES:
            if (opened.folder / name).is_file():
                shutil.copy(opened.folder / name, folder / name)
        fields = facts.record.fields
        if (fields["data"].get("source") or {}).get("path", "hf:").startswith("hf:") is False:
            fields["data"]["source"] = None  # a path of this machine, which is not part of the run's name
            (folder / CONFIGURATION).write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
        drawn = _draw(facts, folder / PICTURE)
        (folder / CARD).write_text(model_card(facts, to, picture=drawn), encoding="utf-8")
        return upload_run(folder, opened.name, to, private=private)


def model_card(facts: RunFacts, address: HubAddress, *, picture: bool) -> str:
    """Return the model card of a run in Markdown, with the fields that the hub reads at its beginning.

    Args:
        facts: The run.
        address: Where it is pushed to.
        picture: Whether there is a picture of its traversals.

    Returns:
        The text.
    """
    idea = [facts.about, ""] if facts.about else []
    shown = [f"![What each latent does]({PICTURE})", "", "Each row moves one latent over its range.", ""]
    chance = [chance_of(score).rstrip(".") for score in facts.scores]
    head = ("score", "value", "chance", "better") if any(chance) else ("score", "value", "better")
    rows = [
        (words(score.name), _number(score.value), *([told] if any(chance) else []), _better(score.metric))
        for score, told in zip(facts.scores, chance, strict=True)
    ]
    table = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    fields = facts.configuration.model_dump(mode="json")
    settings = [f"| `{name}` | {value} |" for name, value in used_settings_of(fields).items()]
    return "\n".join(
        [
            _metadata(facts),
            f"# {facts.title}",
            "",
            facts.sentence,
            "",
            *idea,
            *(shown if picture else []),
            "## Scores",
            "",
            *(table if rows else ["The run was not scored."]),
            "",
            "## Use it",
            "",
            "```python",
            "import unweave",
            "",
            f'run = unweave.open("{PREFIX}{address.repository}")',
            "codes = run.encode(images)  # (B, C, H, W) in [0, 1] to (B, D)",
            "```",
            "",
            "The weights are safetensors, and opening the run executes no code of this repository.",
            "",
            "## Settings",
            "",
            "| setting | value |",
            "|---|---|",
            *settings,
            "",
            f"Trained with {facts.record.version}.",
            "",
            "## Cite",
            "",
            "```bibtex",
            bibtex(works_in("\n".join(sources_of(facts.record)))),
            "```",
            "",
        ]
    )


def _metadata(facts: RunFacts) -> str:
    """Return the fields that the hub reads, as YAML, of which JSON is a part."""
    data = {"name": spelled(facts.configuration.data.label), "type": facts.configuration.data.label}
    metrics = [
        {"type": score.name, "name": words(score.name), "value": score.value}
        for score in facts.scores
        if math.isfinite(score.value)
    ]
    task = {"type": "feature-extraction", "name": "disentangled representation"}
    results = [{"task": task, "dataset": data, "metrics": metrics}] if metrics else []
    index = [{"name": facts.title, "results": results}]
    lines = ["library_name: unweave", f"tags: {json.dumps(TAGS)}"]
    lines += [f"model-index: {json.dumps(index, ensure_ascii=False)}"] if metrics else []
    return "\n".join(["---", *lines, "---", ""])


def _draw(facts: RunFacts, path: Path) -> bool:
    """Draw the traversals of a run; return whether it could be done, which needs its data."""
    from unweave.figures import draw_traversals, make_traversals

    if facts.run is None or facts.data is None:
        return False
    try:
        made = make_traversals(facts.run, facts.data, stream(facts.configuration.seed, "pictures"))
        draw_traversals(made).savefig(path)
    except (InputError, Unavailable):
        return False
    return True


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else str(value)


def _better(metric: str) -> str:
    return METRICS[metric].best if metric in METRICS else ""
