// Parallel coordinates: one axis per setting and score, one line per run.
import { line, scale, shortened } from "unweave/axes";
import { titleOf } from "unweave/columns";
import { cell, groups } from "unweave/groups";
import { makePlot } from "unweave/plot";

const AXIS = 96; // pixels between two axes, at least
const SIDE = 56; // pixels beside the first and the last axis
const TOP = 44;
const BOTTOM = 18;
const NEAR = 7; // pixels

/** Make the chart of {columns, rows, colour, name}; onOpen(row) is called when a line is chosen. */
export function makeParallel(onOpen) {
  return makePlot("parallel", paint, { onOpen, mark });
}

/** Return the columns that have an axis: methods and settings that differ, then scores; those that most runs have. */
export function axesOf(columns, rows, most) {
  const present = (column) => rows.filter((row) => column.values[row] !== null).length;
  const differs = (column) => new Set(rows.map((row) => column.values[row]).filter((value) => value !== null)).size > 1;
  const first = (found, count) => {
    const kept = new Set([...found].sort((a, b) => present(b) - present(a)).slice(0, count));
    return found.filter((column) => kept.has(column));
  };
  const scores = columns.filter((column) => (column.kind === "score" || column.name === "psnr") && differs(column));
  const differing = columns.filter((column) => (column.kind === "setting" || ["recipe", "data"].includes(column.name)) && differs(column));
  const repeats = (column) => column.name === "strength" && differing.some((other) => other !== column && rows.every((row) => other.values[row] === column.values[row]));
  const settings = differing.filter((column) => !repeats(column));
  const room = Math.max(2, most);
  const few = first(settings, Math.max(Math.ceil(room / 2), room - scores.length));
  return [...few, ...first(scores, room - few.length)];
}

function paint(context, box, { columns, rows: all, colour, name }, style) {
  const measured = columns.filter((column) => column.kind === "score" || column.name === "psnr");
  const rows = all.filter((row) => measured.some((column) => column.values[row] !== null));
  const shown = axesOf(columns, rows, Math.floor((box.width - 2 * SIDE) / AXIS) + 1);
  const bottom = box.height - BOTTOM;
  const lefts = shown.map((_, i) => SIDE + (i * (box.width - 2 * SIDE)) / Math.max(1, shown.length - 1));
  const scales = shown.map((column) => scale(column, rows, bottom, TOP));
  const colours = groups(colour, rows);
  const items = rows.map((row) => {
    const places = shown.map((column, i) => (column.values[row] === null ? null : [lefts[i], scales[i].at(row)]));
    const [left, top] = places.findLast((place) => place) ?? [SIDE, TOP];
    const text = () => [name(row), ...shown.filter((column) => column.values[row] !== null).map((column) => `${titleOf(column)} ${cell(column, column.values[row])}`)];
    return { row, left, top, places, text };
  });
  context.globalAlpha = Math.max(0.06, Math.min(0.75, 60 / rows.length));
  context.lineWidth = 1.3;
  for (const item of items) {
    context.strokeStyle = colours.of(item.row);
    trace(context, item.places);
  }
  context.globalAlpha = 1;
  context.font = `12px ${style.fontFamily}`;
  const wide = lefts.length > 1 ? lefts[1] - lefts[0] : box.width;
  shown.forEach((column, i) => {
    context.strokeStyle = style.getPropertyValue("--faint");
    line(context, Math.round(lefts[i]) + 0.5, TOP, Math.round(lefts[i]) + 0.5, bottom);
    context.textAlign = "center";
    context.fillStyle = style.color;
    context.fillText(shortened(titleOf(column), Math.floor((2 * wide) / 7) - 2), lefts[i], 14 + (i % 2) * 15);
    context.fillStyle = style.getPropertyValue("--quiet");
    context.textAlign = "left";
    for (const [top, text] of scales[i].ticks) {
      context.lineWidth = 3;
      context.strokeStyle = style.getPropertyValue("--paper");
      context.strokeText(shortened(text, 11), lefts[i] + 4, top + 4);
      context.fillText(shortened(text, 11), lefts[i] + 4, top + 4);
      context.lineWidth = 1;
    }
  });

  /** Return the line that passes closest to a place, between the axes on both sides of it. */
  function near(left, top) {
    let best = -1;
    let distance = NEAR;
    const at = lefts.findLastIndex((axis) => axis <= left + NEAR);
    items.forEach((item, i) => {
      const [a, b] = [item.places[at], item.places[at + 1]];
      if (!a) return;
      const share = b ? Math.min(1, Math.max(0, (left - a[0]) / (b[0] - a[0]))) : 0;
      if (!b && left - a[0] > NEAR) return;
      const away = Math.abs(top - a[1] - share * (b ? b[1] - a[1] : 0));
      if (away < distance) [best, distance] = [i, away];
    });
    if (best >= 0) Object.assign(items[best], { left, top });
    return best;
  }

  return { items, near, legend: colours.legend, label: `Parallel coordinates of the ${rows.length} runs with scores: ${shown.map((column) => titleOf(column)).join(", ")}.` };
}

function mark(context, { places }, style) {
  context.strokeStyle = style.color;
  context.lineWidth = 2.5;
  trace(context, places);
}

/** Draw a line through places; it is broken where there is none. */
function trace(context, places) {
  context.beginPath();
  places.forEach((place, i) => {
    if (!place) return;
    if (i && places[i - 1]) context.lineTo(...place);
    else context.moveTo(...place);
  });
  context.stroke();
}
