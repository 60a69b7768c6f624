// Any column against any other: one point per run on a canvas.
import { h, short, svg, words } from "unweave/element";
import { isNumeric, printed } from "unweave/columns";

const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#b5a800"]; // Okabe and Ito
const MARGIN = { left: 52, right: 14, top: 26, bottom: 36 };
const NEAR = 14; // pixels
const FEW = 8; // different numbers, each of which has a tick if it is short and there is room
const WIDE = 36; // pixels between two ticks
const SHAPES = [0, 3, 4, -4, -3, 6, 5, -5]; // corners of the points of each group; 0 is a circle, negative ones are turned
const APART = 14; // pixels by which points of the same number are spread

/** Make the chart; onOpen(row) is called when a point is chosen. */
export function makeScatter(onOpen) {
  const canvas = h("canvas", { class: "scatter", tabindex: 0, role: "img" });
  const tip = h("div", { class: "tip", hidden: true });
  const legend = h("div", { class: "legend" });
  const element = h("div", { class: "chart" }, h("div", { class: "plot" }, canvas, tip), legend);
  let points = [];
  let shown = null;
  let current = -1;

  function draw({ rows, x, y, colour, name }) {
    shown = { rows, x, y, colour, name };
    const box = canvas.getBoundingClientRect();
    if (!box.width) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const across = scale(x, rows, MARGIN.left, box.width - MARGIN.right, APART);
    const up = scale(y, rows, box.height - MARGIN.bottom, MARGIN.top);
    const drawn = rows.filter((row) => x.values[row] !== null && y.values[row] !== null);
    const colours = groups(colour, drawn);
    const style = getComputedStyle(canvas);
    axes(context, box, across, up, x, y, style);
    points = [];
    context.globalAlpha = rows.length > 2000 ? 0.45 : rows.length > 300 ? 0.65 : 0.85;
    const radius = rows.length > 2000 ? 2.2 : rows.length > 300 ? 3 : 4;
    for (const row of drawn) {
      const point = { row, left: across.at(row), top: up.at(row) };
      context.fillStyle = colours.of(row);
      context.fill(new Path2D(shape(colours.shape(row), point.left, point.top, radius)));
      points.push(point);
    }
    context.globalAlpha = 1;
    if (current >= 0 && points[current]) ring(context, points[current], style);
    canvas.setAttribute(
      "aria-label",
      `${words(y.name)} against ${words(x.name)}, ${points.length} runs. Arrow keys go through the points, Enter opens one.`,
    );
    canvas.dataset.points = points.length;
    legend.replaceChildren(...colours.legend);
  }

  function point(index) {
    current = index;
    const { x, y, name } = shown;
    draw(shown);
    tip.hidden = index < 0;
    if (index < 0) return;
    const { row, left, top } = points[index];
    tip.replaceChildren(
      h("b", {}, name(row)),
      h("span", {}, `${words(x.name)} ${cell(x, x.values[row])}`),
      h("span", {}, `${words(y.name)} ${cell(y, y.values[row])}`),
    );
    tip.style.left = `${Math.min(left + 12, canvas.clientWidth - 160)}px`;
    tip.style.top = `${Math.max(0, top - 12)}px`;
  }

  function near(event) {
    const box = canvas.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1;
    let distance = NEAR;
    points.forEach((p, i) => {
      const away = Math.hypot(p.left - left, p.top - top);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }

  canvas.addEventListener("pointermove", (event) => {
    const found = near(event);
    canvas.classList.toggle("over", found >= 0);
    if (found !== current) point(found);
  });
  canvas.addEventListener("pointerleave", () => shown && point(-1));
  canvas.addEventListener("click", (event) => {
    const found = near(event);
    if (found >= 0) onOpen(points[found].row);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && points.length) {
      event.preventDefault();
      point((current + step + points.length) % points.length);
    } else if (event.key === "Enter" && current >= 0) onOpen(points[current].row);
    else if (event.key === "Escape" && shown) point(-1);
  });
  new ResizeObserver(() => shown && draw(shown)).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && draw(shown));
  return {
    element,
    draw(what) {
      current = -1;
      tip.hidden = true;
      draw(what);
    },
  };
}

function cell(column, value) {
  return typeof value === "number" ? short(value, 3) : String(printed(column, value) ?? "");
}

/** Return at(row) in pixels, and ticks; texts are spread evenly, with a little jitter that is always the same. */
function scale(column, rows, from, to, apart = 0) {
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
  if (low === high) [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  const few = distinct.length <= FEW;
  const logarithmic = positive && high / low >= (few ? 10 : 200);
  const map = logarithmic ? Math.log10 : (value) => value;
  const pad = (map(high) - map(low) || 1) * 0.04;
  const [start, end] = [map(low) - pad, map(high) + pad];
  const place = (value) => from + ((map(value) - start) / (end - start)) * (to - from);
  const exact = few && distinct.every((value) => Number(plain(value).replace("−", "-").replaceAll(",", "")) === value);
  const wide = distinct.every((value, i) => i === 0 || Math.abs(place(value) - place(distinct[i - 1])) >= WIDE);
  const marked = exact && wide && distinct.length ? distinct : ticks(low, high, logarithmic);
  const spread = few ? apart : 0;
  return {
    at: (row) => place(column.values[row]) + spread * jitter(row),
    ticks: marked.map((value) => [place(value), plain(value)]),
    logarithmic,
  };
}

function plain(value) {
  const text = value !== 0 && Math.abs(value) < 0.1 ? String(value).replace("-", "−") : short(value, 3);
  if (text.includes("e")) return text;
  return text
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

function ticks(low, high, logarithmic) {
  if (logarithmic) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const tens = Array.from({ length: Math.max(0, last - first + 3) }, (_, i) => 10 ** (first - 1 + i));
    const steps = last - first >= 2 ? [1] : [1, 2, 5];
    const inside = (value) => value >= low * 0.999 && value <= high * 1.001;
    return tens.flatMap((ten) => steps.map((step) => Number((step * ten).toPrecision(1)))).filter(inside);
  }
  const rough = (high - low || Math.abs(high) || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step)
    found.push(Math.abs(value) < step * 1e-6 ? 0 : Number(value.toPrecision(12)));
  return found;
}

function jitter(row) {
  return (((row * 2654435761) % 4294967296) / 4294967296 - 0.5) * 0.9;
}

function axes(context, box, across, up, x, y, style) {
  context.font = `12px ${style.fontFamily}`;
  context.fillStyle = style.getPropertyValue("--quiet");
  context.strokeStyle = style.getPropertyValue("--line");
  const bottom = box.height - MARGIN.bottom;
  context.textAlign = "center";
  for (const [left, text] of across.ticks) context.fillText(text, left, bottom + 16);
  context.textAlign = "right";
  for (const [top, text] of up.ticks) {
    context.fillText(text.length > 9 ? `${text.slice(0, 8)}…` : text, MARGIN.left - 7, top + 4);
    context.beginPath();
    context.moveTo(MARGIN.left, Math.round(top) + 0.5);
    context.lineTo(box.width - MARGIN.right, Math.round(top) + 0.5);
    context.stroke();
  }
  context.fillStyle = style.color;
  const title = (column, { logarithmic }) => `${words(column.name)}${logarithmic ? " (log scale)" : ""}`;
  context.fillText(title(x, across), box.width - MARGIN.right, box.height - 4);
  context.textAlign = "left";
  context.fillText(title(y, up), MARGIN.left, 14);
}

function ring(context, { left, top }, style) {
  context.strokeStyle = style.color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(left, top, 7, 0, 7);
  context.stroke();
}

/** Return the colour of each row, and the legend. */
function groups(column, rows) {
  if (!column) return { of: () => PALETTE[0], shape: () => 0, legend: [] };
  const counts = new Map();
  for (const row of rows) counts.set(column.values[row], (counts.get(column.values[row]) ?? 0) + 1);
  const names = [...counts.keys()].sort((a, b) => (isNumeric(column) ? a - b : String(a).localeCompare(String(b))));
  const colours = new Map(names.map((name, i) => [name, PALETTE[Math.min(i, PALETTE.length - 1)]]));
  const shown = names.slice(0, PALETTE.length).map((name, i) => {
    const dot = svg("svg", { class: "dot", viewBox: "-6 -6 12 12", "aria-hidden": "true" }, svg("path", { d: shape(i, 0, 0, 5), fill: PALETTE[i] }));
    const others = i === PALETTE.length - 1 && names.length > PALETTE.length;
    return h("span", {}, dot, others ? "others" : cell(column, name) || "none");
  });
  const places = new Map(names.map((name, i) => [name, Math.min(i, PALETTE.length - 1)]));
  return { of: (row) => colours.get(column.values[row]), shape: (row) => places.get(column.values[row]), legend: names.length > 1 ? shown : [] };
}

/** Return the outline of a point of a group as an SVG path; groups differ in shape as well as in colour. */
function shape(group, x, y, radius) {
  const corners = SHAPES[group];
  if (!corners) return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;
  const count = Math.abs(corners);
  const turn = corners < 0 ? Math.PI / count : 0;
  const at = (i) => turn - Math.PI / 2 + (2 * Math.PI * i) / count;
  const points = Array.from({ length: count }, (_, i) => `${x + 1.25 * radius * Math.cos(at(i))} ${y + 1.25 * radius * Math.sin(at(i))}`);
  return `M${points.join("L")}Z`;
}
