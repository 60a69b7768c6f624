"""``unweave train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unweave.cli.options import (
    Quiet,
    Store,
    Trust,
    Verbose,
    check_writable,
    draw_pictures,
    load_data,
    parse_folder,
    print_line,
    print_notes,
    several,
)
from unweave.errors import InputError
from unweave.key_values import names_in, parse, split_data

if TYPE_CHECKING:
    from unweave.training import Configuration

Metric = Annotated[
    list[str] | None,
    typer.Option("--metric", callback=several, help="Score with this metric; several as in mig,sap, or repeated."),
]


def train(
    recipe: Annotated[
        str | None, typer.Argument(metavar="RECIPE", help="A recipe, see `unweave recipes list`, or module:name.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="A data set's name, module:name, or the path of your own images; with options, NAME,size=32.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Instead of RECIPE and DATA: train the configuration of a run again (its id or a unique prefix, its "
            "label, its folder, or a configuration.json), with the other options as changes.",
        ),
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Number of steps.", show_default="as published")] = None,
    batch: Annotated[int | None, typer.Option(help="Images per step.", show_default="as published")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="0")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.", show_default="as published")] = None,
    net: Annotated[str | None, typer.Option(help="A net, or module:name.", show_default="the recipe's")] = None,
    latent: Annotated[str | None, typer.Option(help="A latent, or module:name.", show_default="the recipe's")] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option("--term", help="Add a term or change its weight, NAME=WEIGHT; 0 removes it; can be repeated."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="KEY=VALUE: a setting of the recipe or the run; of a part, as in kl.schedule=linear; of the data set, "
            "as in data.size=32; can be repeated.",
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast", help="Settings that reach a good model soon instead of the published ones; see the docs."
        ),
    ] = False,
    store: Store = None,
    label: Annotated[str, typer.Option(help="A label for the run.")] = "",
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.", show_default="auto")] = None,
    devices: Annotated[int | None, typer.Option(help="Number of devices.", show_default="1")] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            help="32-true, bf16-mixed, or auto: bf16-mixed if a convolution is faster in it here.",
            show_default="32-true",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Number of CPU threads.", show_default="torch's")] = None,
    checkpoint_steps: Annotated[int | None, typer.Option(help="Steps between checkpoints.")] = None,
    checkpoint_seconds: Annotated[
        float | None, typer.Option(help="Seconds between checkpoints; 0 for none.", show_default="60")
    ] = None,
    trust: Trust = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard events.")] = False,
    scored: Annotated[bool, typer.Option("--score", help="Score the run with every metric that applies.")] = False,
    metrics: Metric = None,
    pictures: Annotated[
        Path | None,
        typer.Option(help="A folder for reconstructions and traversals.", parser=parse_folder, metavar="FOLDER"),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train a recipe on a data set. A stopped run is continued, a finished run is opened."""
    from unweave.store.folder import check_label, store_folder

    folder = store_folder(store)  # before torch is imported
    from unweave.data import described, open_data, prepared
    from unweave.recipes import parameters_of
    from unweave.training import configure, fit
    from unweave.training.configuration import check_device
    from unweave.training.loop import is_first_process

    options, given = split_data(parse(settings))
    if (listed := given.pop("metrics", None)) is not None:
        metrics = [*(metrics or ()), *names_in("metrics", listed)]
    flags: dict[str, Any] = {
        "steps": steps,
        "batch": batch,
        "seed": seed,
        "lr": lr,
        "net": net,
        "latent": latent,
        "terms": _weights(terms) or None,
        "device": device,
        "devices": devices,
        "precision": precision,
        "threads": threads,
        "checkpoint_steps": checkpoint_steps,
        "checkpoint_seconds": checkpoint_seconds,
        "tensorboard": tensorboard or None,
        "fast": fast or None,
    }
    flags = {key: value for key, value in flags.items() if value is not None}
    for key in flags.keys() & given.keys():
        raise InputError(f"{key} is given twice, by --{key.replace('_', '-')} and by --set {key}=…: give it once.")
    if pictures is not None:
        check_writable("--pictures", pictures)
    check_device(str((flags | given).get("device", "auto")))
    if source is not None:
        other = _only_data(recipe, data)
        before = _stored(source, store, trust)
        images = open_data(before.data, **options) if other is None else load_data(other, options)
        configuration, execution = configure(before, images, flags | given)
    elif recipe is None or data is None:
        raise InputError("train takes RECIPE and DATA, as in unweave train beta_vae dsprites, or --from RUN.")
    else:
        parameters_of(recipe)  # raises for an unknown recipe
        images = described(data, **options)
        configuration, execution = configure(recipe, images, flags | given)
    label = check_label(label, folder, configuration.name)
    if scored or metrics:
        _check_metrics(configuration, images, metrics)
    if source is None:
        prepared(images)  # after all checks, because it may take minutes
    print_notes(images)
    try:
        run = fit(configuration, execution, images, folder, label=label)
    except KeyboardInterrupt:
        if configuration.linear is None:
            print_line("stopped; the same command continues from here.")
        raise
    if not is_first_process():
        return
    _report(run)
    if pictures is not None:
        draw_pictures(run, images, pictures)
    if scored or metrics:
        from unweave.cli.score import print_scores
        from unweave.training import score

        print_scores(score(run, images, metrics=metrics or "all", seed=configuration.seed, workers=threads))


def _stored(source: str, store: str | None, trust: bool) -> Configuration:
    """Return the configuration of a run, which is given by id, label or folder, or of a configuration.json."""
    from unweave.store.folder import store_folder
    from unweave.training import read_configuration
    from unweave.training.adoption import locate_run

    path = Path(source).expanduser()
    is_file = path.suffix == ".json" or path.is_file()
    return read_configuration(path if is_file else locate_run(source, store_folder(store)), trust=trust)


def _only_data(recipe: str | None, data: str | None) -> str | None:
    """Return the data set of ``train --from RUN [DATA]``, where a recipe is not given."""
    if data is not None:
        raise InputError("--from takes the recipe from the run: give at most DATA beside it.")
    return recipe


def _weights(terms: list[str] | None) -> dict[str, float]:
    weights = parse(terms, "--term")
    for name, weight in weights.items():
        if not isinstance(weight, int | float) or isinstance(weight, bool):
            raise InputError(f"--term takes NAME=WEIGHT with a number, got {name}={weight}.")
    return weights


def _check_metrics(configuration: Any, images: Any, metrics: list[str] | None) -> None:
    """Refuse metrics that do not apply to what is about to be trained."""
    from unweave.metrics import check_metrics
    from unweave.representation import offers_of

    check_metrics(metrics or "all", images, offers=offers_of(configuration.latent))


def _report(run: Any) -> None:
    """Print what happened, where the run is, and a hint if it looks undertrained."""
    done = {"trained": "trained", "continued": "continued and finished", "opened": "opened, already finished"}
    print_line(f"{done[run.outcome]}: {run!r}")
    quality = "" if run.state.psnr is None else f"PSNR {run.state.psnr:.1f} dB; "
    print_line(f"{quality}{run.folder}")
    if hint := run.hint:
        print_line(hint)
