// The charts of a table of runs: the scores of each method, points, parallel coordinates, and curves.
import { fromAddress, toAddress } from "unweave/address";
import { isNumeric, titleOf } from "unweave/columns";
import { makeRunCurves } from "unweave/curves";
import { h } from "unweave/element";
import { makeMethods } from "unweave/methods";
import { makeParallel } from "unweave/parallel";
import { makeScatter } from "unweave/scatter";
import { serverSource } from "unweave/server-source";
import { makeTabs } from "unweave/tabs";

const NAMES = ["methods", "points", "parallel", "curves"]; // in the address
const MOST_CURVES = 12;
const kept = { chart: null, y: null, x: null, colour: null };

/** Make the charts; onOpen(row) is called when a run is chosen, and first is the chart that is shown at first. */
export function makeCharts(onOpen, first) {
  for (const name of Object.keys(kept)) kept[name] = fromAddress(name) ?? kept[name];
  const at = Math.max(0, NAMES.indexOf(NAMES.includes(kept.chart) ? kept.chart : first));
  const choices = Object.fromEntries(["y", "x", "colour"].map((axis) => [axis, h("select", { onchange: () => choose(axis) })]));
  const labelled = (text, axis) => h("label", {}, `${text} `, choices[axis]);
  const charts = { methods: makeMethods(onOpen), points: makeScatter(onOpen), parallel: makeParallel(onOpen), curves: makeRunCurves(onOpen) };
  const colour = labelled("coloured by", "colour");
  const ofPoints = h("div", { class: "axes" }, labelled("Plot", "y"), labelled("against", "x"));
  const ofParallel = h("div", { class: "axes" });
  let shown = NAMES[at];
  let drawn = null;
  place();
  const tabs = makeTabs(
    "Chart",
    [
      ["Methods", charts.methods.element],
      ["Points", h("div", {}, ofPoints, charts.points.element)],
      ["Parallel coordinates", h("div", {}, ofParallel, charts.parallel.element)],
      ["Curves", charts.curves.element],
    ],
    {
      first: at,
      onChoose(i) {
        shown = kept.chart = NAMES[i];
        toAddress({ chart: shown });
        place();
        redraw();
      },
    },
  );

  /** Put the choice of colours, which two charts have, where it is seen. */
  function place() {
    (shown === "parallel" ? ofParallel : ofPoints).append(colour);
  }

  function choose(axis) {
    kept[axis] = choices[axis].value;
    toAddress({ [axis]: kept[axis] });
    redraw();
  }

  function column(axis) {
    return drawn.all.find((one) => one.name === choices[axis].value);
  }

  function redraw() {
    if (!drawn) return;
    const { columns, rows, name, floors } = drawn;
    if (shown === "methods") charts.methods.draw({ columns, rows, name, floors });
    else if (shown === "parallel") charts.parallel.draw({ columns, rows, name, colour: column("colour") });
    else if (shown === "curves") {
      const state = drawn.all.find((one) => one.name === "state");
      const begun = rows.filter((row) => state?.values[row] !== "not started");
      const runs = begun.slice(0, MOST_CURVES).map((row) => ({ source: serverSource(columns[0].values[row]), title: name(row), row }));
      charts.curves.draw(runs, begun.length);
    } else if (column("x") && column("y")) charts.points.draw({ rows, name, x: column("x"), y: column("y"), colour: column("colour") });
  }

  return {
    element: h("section", { class: "charts", "aria-label": "Charts" }, tabs),
    shown: () => shown,
    /** Offer the columns of a table as axes; proposed are the first ones. */
    offer(all, proposed) {
      const byName = new Map(all.map((one) => [one.name, one]));
      for (const axis of ["y", "x", "colour"]) {
        const possible = all.filter((one) => one.name !== "run" && (axis !== "y" || isNumeric(one)));
        const start = {
          y: byName.get(proposed.y) ?? byName.get("psnr") ?? possible[0],
          x: byName.get(proposed.x) ?? byName.get("seed"),
          colour: byName.get("recipe"),
        }[axis];
        const chosen = byName.has(kept[axis]) ? kept[axis] : start?.name;
        choices[axis].replaceChildren(...possible.map((one) => h("option", { value: one.name, selected: one.name === chosen }, titleOf(one))));
      }
    },
    /** Draw rows: {all, columns, rows, name, floors}, of which columns are those that are not hidden. */
    draw(what) {
      drawn = what;
      redraw();
    },
  };
}
