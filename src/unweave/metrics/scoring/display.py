"""Scores for reading: a short table and what each latent follows, as text and as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from unweave.metrics.follows import WEAK, Follows
from unweave.metrics.scoring.catalogue import METRICS
from unweave.metrics.scoring.worth import Worth

if TYPE_CHECKING:
    from unweave.metrics.scoring.scores import Scores

LATENTS = 32  # lines about latents, at most
CELL = "padding:2px 6px;text-align:right;border:0"
WORDS = CELL.replace("right", "left")


def table_rows(table: Mapping[str, float], worth: Mapping[str, Worth]) -> list[tuple[str, ...]]:
    """Return the heading and the rows of the table of scores.

    A row has the name, the value with its chance level and interval, the p-value if there are any, the better direction
    and the range.
    """
    tested = any(each.p_value is not None for each in worth.values())
    rows: list[tuple[str, ...]] = [("metric", "score", *(["p"] if tested else []), "better", "range")]
    for name, value in table.items():
        metric, _, part = name.rpartition(".")
        known = METRICS.get(name) or METRICS.get(metric)
        best, limits = (known.best, known.ranges.get(part, known.range)) if known else ("", "")
        p_value = worth[name].p_value if name in worth else None
        p_text = [] if not tested else [""] if p_value is None else [f"{p_value:.2g}"]
        rows.append((name, placed(value, worth.get(name)), *p_text, best, limits))
    return rows


def placed(value: float, worth: Worth | None) -> str:
    """Return a score with its chance level and interval, as in ``0.061 (chance 0.004 ± 0.001)``; a dash for none."""
    if math.isnan(value):  # as of downstream accuracy with more labels than there are
        return "—"
    return f"{value:.4f}" if worth is None else f"{value:.3f} ({worth})"


def follow_lines(found: Follows) -> list[str]:
    """Return what has been separated, in words: one line per latent, and the factors that no latent follows."""
    lines, silent = [], []
    for latent in range(len(found.share)):
        links = found.of_latent(latent)
        also = [f"{link.factor} {link.share:.2f}" for link in links[1:] if not link.weak]
        if links:
            lines.append("; also ".join([str(links[0]), *([", ".join(also)] if also else [])]))
        else:
            silent.append(f"z{latent}")
    if len(lines) > LATENTS:
        strongest = sorted(found.links, key=lambda link: -link.share)[:LATENTS]
        lines = [*map(str, strongest), f"and {len(lines) - LATENTS:,} more latents that follow a factor less"]
    if silent:
        lines.append(f"no factor above chance: {_shortened(silent)}")
    if found.unfollowed:
        lines.append(f"factors that no latent follows, or only weakly: {', '.join(found.unfollowed)}")
    if found.constant:
        lines.append(f"factors that do not vary: {', '.join(found.constant)}")
    return lines


def matrix_lines(found: Follows) -> list[str]:
    """Return the matrix of latents against factors as text, a dot where nothing is above chance."""
    width = [max(len(name), 5) for name in found.factors]
    first = len(f"z{len(found.share) - 1}")
    head = " " * first + "".join(f"  {name:>{w}}" for name, w in zip(found.factors, width, strict=True))
    body = [
        f"{f'z{latent}':<{first}}"
        + "".join(f"  {f'{value:.2f}' if value else '·':>{w}}" for value, w in zip(row, width, strict=True))
        for latent, row in enumerate(found.share)
    ]
    return [head, *body]


def as_text(scores: Scores) -> str:
    """Return the table of scores, how many were left out, and what each latent follows."""
    lines = aligned(table_rows(scores.table, scores.worth))
    lines += [f"{name}: {note}" for name, note in scores.notes.items()]
    if scores.left_out:
        lines.append(f"{len(scores.left_out)} metrics were not computed; .left_out says why")
    found = scores.results.get("follows")
    if isinstance(found, Follows):
        lines += ["", *follow_lines(found)]
    return "\n".join(lines)


def as_html(scores: Scores) -> str:
    """Return the table of scores and the matrix of latents against factors in colour, without scripts or styles."""
    head, *rows = table_rows(scores.table, scores.worth)
    parts = [html_table(head, rows, numbers=(1,))]
    parts += [f"<div>{escape(f'{name}: {note}')}</div>" for name, note in scores.notes.items()]
    found = scores.results.get("follows")
    if isinstance(found, Follows):
        parts += [_matrix(found), *(f"<div>{escape(line)}</div>" for line in follow_lines(found)[-3:] if ": " in line)]
    return "\n".join(parts)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of texts as lines with columns of equal width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def html_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int] = (),
    best: Collection[tuple[int, int]] = (),
) -> str:
    """Return a table of texts for notebooks, whose cells have styles of their own.

    Args:
        head: The names of the columns, which may be empty.
        rows: The texts of each row.
        numbers: The columns that stand to the right.
        best: The rows and columns of cells in bold.

    Returns:
        The table as HTML.
    """

    def line(cells: Sequence[str], tag: str, row: int = -1) -> str:
        texts = (f"<b>{escape(c)}</b>" if (row, column) in best else escape(c) for column, c in enumerate(cells))
        styles = (CELL if column in numbers else WORDS for column in range(len(cells)))
        return f"<tr>{''.join(f'<{tag} style={s!r}>{t}</{tag}>' for t, s in zip(texts, styles, strict=True))}</tr>"

    lines = [line(head, "th")] if head else []
    return f"<table>{''.join([*lines, *(line(cells, 'td', row) for row, cells in enumerate(rows))])}</table>"


def _matrix(found: Follows) -> str:
    """Return latents against factors; the darker, the more a latent knows about a factor above chance."""
    head = "".join(f"<th style={CELL!r}>{escape(name)}</th>" for name in found.factors)
    body = ""
    for latent, row in list(enumerate(found.share))[: 4 * LATENTS]:
        cells = ""
        for k, value in enumerate(row):
            colour = f"background:rgba(0,114,178,{value:.2f});color:{'white' if value > 0.5 else 'inherit'}"
            faint = ";opacity:0.6" if value < WEAK else ""
            title = f"z{latent}, {found.factors[k]}: {value:.3f} above a chance of {found.chance[latent, k]:.3f}"
            text = f"{value:.2f}" if value else ""
            cells += f'<td style="{CELL};{colour}{faint}" title="{escape(title)}">{text}</td>'
        body += f"<tr><th style={CELL!r}>z{latent}</th>{cells}</tr>"
    return f"<table><caption>I(z; f) / H(f) above chance</caption><tr><th></th>{head}</tr>{body}</table>"


def _shortened(names: list[str]) -> str:
    shown = ", ".join(names[:LATENTS])
    return f"{shown} and {len(names) - LATENTS:,} more" if len(names) > LATENTS else shown
