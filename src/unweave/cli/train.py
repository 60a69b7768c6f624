"""``unweave train``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unweave.cli.metrics import print_scores
from unweave.cli.options import console, parse, save
from unweave.cli.runs import Store
from unweave.data import load
from unweave.errors import InputError, unknown
from unweave.figures import draw_reconstructions, draw_traversals, make_reconstructions, make_traversals
from unweave.metrics import METRICS, score
from unweave.recipes import parameters_of
from unweave.training import configure, fit, store_folder
from unweave.training.streams import stream


def train(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A recipe: unweave recipes list.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="A data set's name, or the path of your own images.")],
    steps: Annotated[int | None, typer.Option(help="Steps.", show_default="as published")] = None,
    batch: Annotated[int | None, typer.Option(help="Images a step.", show_default="as published")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    lr: Annotated[float | None, typer.Option(help="Learning rate.", show_default="as published")] = None,
    net: Annotated[str | None, typer.Option(help="A net, or module:function.", show_default="the recipe's")] = None,
    latent: Annotated[str | None, typer.Option(help="Another latent.", show_default="the recipe's")] = None,
    terms: Annotated[
        list[str] | None, typer.Option("--term", help="A term's weight, NAME=WEIGHT; 0 leaves it out; can be repeated.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="KEY=VALUE: a setting of the recipe or the run; of a part, as in kl.schedule=linear; of the data set, "
            "as in data.size=32; can be repeated.",
        ),
    ] = None,
    store: Store = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    devices: Annotated[int, typer.Option(help="How many of them.")] = 1,
    precision: Annotated[str, typer.Option(help="32-true or bf16-mixed.")] = "32-true",
    threads: Annotated[int | None, typer.Option(help="CPU threads.", show_default="torch's")] = None,
    checkpoint_steps: Annotated[int | None, typer.Option(help="Steps between checkpoints.")] = None,
    checkpoint_seconds: Annotated[float, typer.Option(help="Seconds between checkpoints; 0 for none.")] = 60.0,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard events too.")] = False,
    scored: Annotated[bool, typer.Option("--score", help="Score the run with every metric that fits.")] = False,
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="Score with this one; can be repeated.")] = None,
    pictures: Annotated[Path | None, typer.Option(help="A folder for reconstructions and traversals.")] = None,
) -> None:
    """Train a recipe on a data set. A run that was stopped goes on; one that is finished is only opened."""
    parameters_of(recipe)  # an unknown recipe is told before data is drawn
    given = parse(settings)
    options = {key.removeprefix("data."): given.pop(key) for key in list(given) if key.startswith("data.")}
    for metric in metrics or ():
        if metric not in METRICS:
            raise unknown("metric", metric, METRICS)
    if pictures is not None and pictures.exists() and not pictures.is_dir():
        raise InputError(f"--pictures takes a folder, and {pictures} is a file.")
    images = load(data, **options)
    for metric in metrics or ():
        if METRICS[metric].needs in ("labels", "intervention"):
            images.space  # noqa: B018  says so, where the factors are not known
    weights = parse(terms, "--term")
    for name, weight in weights.items():
        if not isinstance(weight, int | float) or isinstance(weight, bool):
            raise InputError(f"--term takes NAME=WEIGHT with a number, got {name}={weight}.")
    configuration, execution = configure(
        recipe,
        images,
        {
            "steps": steps,
            "batch": batch,
            "seed": seed,
            "lr": lr,
            "net": net,
            "latent": latent,
            "terms": weights or None,
            "device": device,
            "devices": devices,
            "precision": precision,
            "threads": threads,
            "checkpoint_steps": checkpoint_steps,
            "checkpoint_seconds": checkpoint_seconds,
            "tensorboard": tensorboard,
            **given,
        },
    )
    try:
        run = fit(configuration, execution, images, store_folder(store))
    except KeyboardInterrupt:
        console.print("stopped; the same command goes on from here.")
        raise
    if int(os.environ.get("LOCAL_RANK", "0")) > 0:  # of several devices, the first process tells
        return
    console.print(repr(run), soft_wrap=True)
    console.print(f"PSNR {run.state.psnr:.1f} dB; {run.folder}", soft_wrap=True)
    if pictures is not None:
        generator = stream(configuration.seed, "pictures")
        save(draw_reconstructions(make_reconstructions(run, images, generator)), pictures / "reconstructions.png")
        save(draw_traversals(make_traversals(run, images, generator)), pictures / "traversals.png")
    if scored or metrics:
        print_scores(score(run, images, metrics=metrics or "all", settings=run.settings, seed=configuration.seed))
