// Groups of runs in charts: the values of a column as colours and shapes, and their legend.
import { isNumeric, printed } from "unweave/columns";
import { h, short, svg } from "unweave/element";

export const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#b5a800"]; // Okabe and Ito
const SHAPES = [0, 3, 4, -4, -3, 6, 5, -5]; // corners of the points of each group; 0 is a circle, negative ones are turned

/** Return a value of a column as a text. */
export function cell(column, value) {
  return typeof value === "number" ? short(value, 3) : String(printed(column, value) ?? "");
}

/** Return the colour of each row, and the legend. */
export function groups(column, rows) {
  if (!column) return { of: () => PALETTE[0], shape: () => 0, legend: [] };
  const counts = new Map();
  for (const row of rows) counts.set(column.values[row], (counts.get(column.values[row]) ?? 0) + 1);
  const names = [...counts.keys()].sort((a, b) => (isNumeric(column) ? a - b : String(a).localeCompare(String(b))));
  const colours = new Map(names.map((name, i) => [name, seen(column.colours?.[name]) ?? PALETTE[Math.min(i, PALETTE.length - 1)]]));
  const shown = names.slice(0, PALETTE.length).map((name, i) => {
    const dot = svg("svg", { class: "dot", viewBox: "-6 -6 12 12", "aria-hidden": "true" }, svg("path", { d: shape(i, 0, 0, 5), fill: colours.get(name) }));
    const others = i === PALETTE.length - 1 && names.length > PALETTE.length;
    return h("span", {}, dot, others ? "others" : cell(column, name) || "none");
  });
  const places = new Map(names.map((name, i) => [name, Math.min(i, PALETTE.length - 1)]));
  return { of: (row) => colours.get(column.values[row]), shape: (row) => places.get(column.values[row]), legend: names.length > 1 ? shown : [] };
}

/** Return a colour of the figures as it is seen on this page: black is white in dark mode. */
function seen(colour) {
  return colour === "#000000" && matchMedia("(prefers-color-scheme: dark)").matches ? "#ffffff" : colour;
}

/** Return the outline of a point of a group as an SVG path; groups differ in shape as well as in colour. */
export function shape(group, x, y, radius) {
  const corners = SHAPES[group];
  if (!corners) return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;
  const count = Math.abs(corners);
  const turn = corners < 0 ? Math.PI / count : 0;
  const at = (i) => turn - Math.PI / 2 + (2 * Math.PI * i) / count;
  const points = Array.from({ length: count }, (_, i) => `${x + 1.25 * radius * Math.cos(at(i))} ${y + 1.25 * radius * Math.sin(at(i))}`);
  return `M${points.join("L")}Z`;
}
