// Curves against the step of training: one chart per term of a run, or one chart of several runs.
import { fromAddress, toAddress } from "unweave/address";
import { MARGIN, axes, range } from "unweave/axes";
import { h, notice, short } from "unweave/element";
import { PALETTE } from "unweave/groups";
import { latest } from "unweave/latest";
import { makePlot } from "unweave/plot";

const DASHES = [[], [6, 3], [2, 2]]; // colours begin again with other dashes

/** Make one chart per term of a run, with a switch to a log scale; show(curves) draws {name, points}. */
export function makeTerms() {
  const charts = new Map(); // by the name of a term
  const grid = h("div", { class: "curves" });
  const log = logBox(redraw);
  let shown = [];

  function redraw() {
    for (const { name, title, points } of shown) {
      const chart = charts.get(name);
      chart.plot.draw({ term: title, lines: [{ name: title, points, row: null }], logarithmic: log.checked, untitled: true });
      chart.last.textContent = short(points.at(-1)[1], 4);
    }
  }

  return {
    element: h("div", {}, h("label", { class: "log" }, log, "log scale"), grid),
    show(curves) {
      shown = curves;
      for (const { name, title } of curves.filter((curve) => !charts.has(curve.name))) {
        const [plot, last] = [makeCurves(), h("b", {})];
        charts.set(name, { plot, last });
        grid.append(h("figure", {}, h("figcaption", {}, title, last), plot.element));
      }
      grid.parentElement.hidden = !curves.length;
      redraw();
    },
  };
}

/** Make one chart of a term of several runs, with a choice of the term. */
export function makeRunCurves(onOpen) {
  const plot = makeCurves(onOpen);
  const problem = notice();
  const term = h("select", { onchange: () => choose() });
  const log = logBox(choose);
  const note = h("p", { class: "hint" });
  let runs = []; // with their curves
  let titles = new Map(); // of terms, by their names

  const load = latest(async (wanted) => {
    const found = await Promise.allSettled(wanted.map(({ source }) => source.progress())); // some may be damaged
    runs = wanted.map((run, i) => ({ ...run, curves: found[i].value?.curves ?? [] })).filter((run) => run.curves.length);
    titles = new Map(runs.flatMap((run) => run.curves.map(({ name, title }) => [name, title])));
    const chosen = [fromAddress("term"), term.value, "loss", ...titles.keys()].find((name) => titles.has(name));
    term.replaceChildren(...[...titles].map(([name, title]) => h("option", { value: name, selected: name === chosen }, title)));
    redraw();
  }, problem.show);

  function choose() {
    toAddress({ term: term.value, log: log.checked ? "1" : null });
    redraw();
  }

  function redraw() {
    const lines = runs.flatMap(({ title, row, curves }) => {
      const found = curves.find((curve) => curve.name === term.value);
      return found ? [{ name: title, row, points: found.points }] : [];
    });
    plot.draw({ term: titles.get(term.value) ?? "", lines, logarithmic: log.checked });
  }

  return {
    element: h("div", {}, h("div", { class: "axes" }, h("label", {}, "Plot ", term), h("label", { class: "log" }, log, "log scale")), plot.element, note, problem.element),
    /** Draw the curves of runs {source, title, row}, the first of `total`. */
    draw(wanted, total = wanted.length) {
      note.textContent = total > wanted.length ? `The first ${wanted.length} of ${total.toLocaleString("en")} runs: filter or sort the table to see others.` : "";
      load(wanted);
    },
  };
}

function logBox(onchange) {
  return h("input", { type: "checkbox", checked: fromAddress("log") === "1", onchange });
}

/** Make a chart of {term, lines: [{name, points: [[step, value]…], row}…], logarithmic}; onOpen(row) opens a run. */
function makeCurves(onOpen = () => {}) {
  return makePlot("curve", paint, { onOpen });
}

function paint(context, box, { term, lines, logarithmic, untitled = false }, style) {
  const usable = lines.map((one) => ({ ...one, points: one.points.filter(([, value]) => !logarithmic || value > 0) }));
  const points = usable.flatMap((one) => one.points);
  const ends = (at) => points.reduce(([low, high], point) => [Math.min(low, point[at]), Math.max(high, point[at])], [Infinity, -Infinity]);
  const [[, last], [low, high]] = points.length ? [ends(0), ends(1)] : [[0, 1], [0, 1]];
  const across = range(0, Math.max(1, last), MARGIN.left, box.width - MARGIN.right);
  const up = range(low, high, box.height - MARGIN.bottom, MARGIN.top, logarithmic && points.length > 0);
  axes(context, box, across, up, ["step", points.length ? (untitled ? "" : term) : "no value above 0"], style);
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  usable.forEach((one, i) => {
    context.strokeStyle = colourOf(i);
    context.setLineDash(dashOf(i));
    context.beginPath();
    for (const [step, value] of one.points) context.lineTo(across.place(step), up.place(value));
    if (one.points.length === 1) context.arc(across.place(one.points[0][0]), up.place(one.points[0][1]), 2, 0, 7); // a line needs two
    context.stroke();
  });
  context.setLineDash([]);
  const items = usable.flatMap((one, i) => (one.points.length ? [{ ...one, index: i, ...at(one.points.length - 1, one), text }] : []));

  function at(index, { points: own }) {
    const [step, value] = own[index];
    return { step, value, left: across.place(step), top: up.place(value) };
  }

  function text({ name, step, value }) {
    return [name, `step ${step.toLocaleString("en")}`, `${term} ${short(value, 4)}`];
  }

  /** Return the curve that is closest to a place, with its point at that step. */
  function near(left, top) {
    let best = -1;
    let distance = Infinity;
    items.forEach((item, i) => {
      const closest = item.points.reduce((found, [step], k) => (Math.abs(across.place(step) - left) < Math.abs(across.place(item.points[found][0]) - left) ? k : found), 0);
      Object.assign(item, at(closest, item));
      const away = Math.abs(item.top - top);
      if (away < distance) [best, distance] = [i, away];
    });
    return left < MARGIN.left - 4 ? -1 : best;
  }

  const final = items.map((item) => `${item.name} ${short(item.value, 4)}`).slice(0, 6).join(", ");
  return { items, near, legend: lines.length > 1 ? usable.map(legendOf) : [], label: `${term} against the step: ${final}.` };
}

function legendOf({ name }, i) {
  const sample = h("span", { class: "sample" });
  sample.style.borderTopColor = colourOf(i);
  sample.style.borderTopStyle = ["solid", "dashed", "dotted"][Math.floor(i / PALETTE.length) % DASHES.length];
  return h("span", {}, sample, name);
}

function colourOf(i) {
  return PALETTE[i % PALETTE.length];
}

function dashOf(i) {
  return DASHES[Math.floor(i / PALETTE.length) % DASHES.length];
}
