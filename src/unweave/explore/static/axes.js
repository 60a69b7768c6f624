// The axes of charts: places and round ticks of numbers, linear or logarithmic, and of texts.
import { isNumeric } from "unweave/columns";
import { short, words } from "unweave/element";
import { cell } from "unweave/groups";

export const MARGIN = { left: 52, right: 14, top: 26, bottom: 36 };
const FEW = 8; // different numbers, each of which has a tick if it is short and there is room
const GAP = 8; // pixels between the texts of two ticks
const WIDE = 36; // pixels between two ticks
const SPACE = 0.04; // of the length of an axis, beyond the first and the last value

/** Return place(value) in pixels for numbers from low to high, and the ticks [[pixel, text]…]. */
export function range(low, high, from, to, logarithmic = false) {
  if (low === high) [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  const map = logarithmic ? Math.log10 : (value) => value;
  const pad = (map(high) - map(low) || 1) * SPACE;
  const [start, end] = [map(low) - pad, map(high) + pad];
  const place = (value) => from + ((map(value) - start) / (end - start)) * (to - from);
  const marked = (values) => values.map((value) => [place(value), plain(value)]);
  return { place, marked, ticks: marked(ticks(low, high, logarithmic)), logarithmic };
}

/** Return at(row) in pixels, and ticks; texts are spread evenly, with a little jitter that is always the same. */
export function scale(column, rows, from, to, apart = 0) {
  if (!isNumeric(column)) {
    const names = [...new Set(rows.map((row) => column.values[row]).filter((value) => value !== null))].sort();
    const step = (to - from) / Math.max(1, names.length);
    const places = new Map(names.map((name, i) => [name, from + step * (i + 0.5)]));
    const at = (row) => places.get(column.values[row]) + 0.5 * step * jitter(row);
    const room = Math.max(1, Math.ceil((names.length * 70) / Math.abs(to - from)));
    return { at, ticks: names.map((name) => [places.get(name), cell(column, name)]).filter((_, i) => i % room === 0) };
  }
  const values = rows.map((row) => column.values[row]).filter((value) => value !== null);
  const positive = values.length > 0 && values.every((value) => value > 0);
  let low = values.reduce((a, b) => Math.min(a, b), Infinity);
  let high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  const few = distinct.length <= FEW;
  const found = range(low, high, from, to, positive && high / low >= (few ? 10 : 200));
  const exact = few && distinct.every((value) => Number(plain(value).replace("−", "-").replaceAll(",", "")) === value);
  const wide = distinct.every((value, i) => i === 0 || Math.abs(found.place(value) - found.place(distinct[i - 1])) >= WIDE);
  const spread = few ? apart : 0;
  return {
    ...found,
    at: (row) => found.place(column.values[row]) + spread * jitter(row),
    ticks: exact && wide && distinct.length ? found.marked(distinct) : found.ticks,
  };
}

/** Return a number on an axis as a text. */
export function plain(value) {
  const text = value !== 0 && Math.abs(value) < 0.1 ? String(value).replace("-", "−") : short(value, 3);
  if (text.includes("e")) return text;
  return text
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** Return round numbers from low to high. */
function ticks(low, high, logarithmic) {
  if (logarithmic) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const tens = Array.from({ length: Math.max(0, last - first + 3) }, (_, i) => 10 ** (first - 1 + i));
    const steps = last - first >= 2 ? [1] : [1, 2, 5];
    const inside = (value) => value >= low * 0.999 && value <= high * 1.001;
    const found = tens.flatMap((ten) => steps.map((step) => Number((step * ten).toPrecision(1)))).filter(inside);
    if (found.length > 1) return found;
  }
  const rough = (high - low || Math.abs(high) || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step)
    found.push(Math.abs(value) < step * 1e-6 ? 0 : Number(value.toPrecision(12)));
  return found;
}

/** Return a number from −0.45 to 0.45 that is always the same for a row. */
export function jitter(row) {
  return (((row * 2654435761) % 4294967296) / 4294967296 - 0.5) * 0.9;
}

/** Draw both axes of a chart with their ticks and titles. */
export function axes(context, box, across, up, [x, y], style) {
  context.font = `12px ${style.fontFamily}`;
  context.fillStyle = style.getPropertyValue("--quiet");
  context.strokeStyle = style.getPropertyValue("--line");
  const bottom = box.height - MARGIN.bottom;
  context.textAlign = "center";
  for (const [left, text] of spaced(context, across.ticks, box.width)) context.fillText(text, left, bottom + 16);
  context.textAlign = "right";
  for (const [top, text] of up.ticks) {
    context.fillText(shortened(text, 9), MARGIN.left - 7, top + 4);
    line(context, MARGIN.left, Math.round(top) + 0.5, box.width - MARGIN.right, Math.round(top) + 0.5);
  }
  context.fillStyle = style.color;
  const title = (name, { logarithmic }) => `${words(name)}${logarithmic ? " (log scale)" : ""}`;
  context.fillText(title(x, across), box.width - MARGIN.right, box.height - 4);
  context.textAlign = "left";
  context.fillText(title(y, up), MARGIN.left, 14);
}

/** Return every tick, or else every second, third… one, so that their texts have room beside each other and in the box. */
function spaced(context, ticks, width) {
  const half = (text) => context.measureText(text).width / 2;
  const inside = ticks.map(([left, text]) => [Math.max(half(text), Math.min(left, width - half(text))), text]);
  const apart = (chosen) => chosen.every(([left, text], i) => !i || left - half(text) >= chosen[i - 1][0] + half(chosen[i - 1][1]) + GAP);
  let every = 1;
  while (!apart(inside.filter((_, i) => i % every === 0))) every += 1;
  return inside.filter((_, i) => i % every === 0);
}

/** Draw a straight line. */
export function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Return a text of at most so many letters. */
export function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
