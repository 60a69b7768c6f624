// Small line charts of a training, one per term.
import { h, short, svg, words } from "unweave/element";

const WIDTH = 220;
const HEIGHT = 64;

/** Return one small chart per curve {name, points: [[step, value]…]}. */
export function makeCurves(curves, steps) {
  return h(
    "div",
    { class: "curves" },
    curves.map((curve) => makeCurve(curve, steps)),
  );
}

function makeCurve({ name, points }, steps) {
  const values = points.map(([, value]) => value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const across = (step) => (step / Math.max(1, steps)) * WIDTH;
  const down = (value) => HEIGHT - 4 - ((value - low) / (high - low || 1)) * (HEIGHT - 8);
  const line = points
    .map(([step, value], i) => `${i ? "L" : "M"}${across(step).toFixed(1)} ${down(value).toFixed(1)}`)
    .join("");
  const last = points.at(-1);
  const chart = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "curve",
      role: "img",
      "aria-label": `${words(name)}: ${short(last[1], 4)} at step ${last[0]}`,
    },
    svg("path", { class: "axis", d: `M0 ${HEIGHT - 0.5}H${WIDTH}` }),
    svg("path", { class: "line", d: line }),
    svg("circle", { class: "dot", cx: across(last[0]), cy: down(last[1]), r: 2.5 }),
  );
  return h("figure", {}, h("figcaption", {}, words(name), h("b", {}, short(last[1], 4))), chart);
}
