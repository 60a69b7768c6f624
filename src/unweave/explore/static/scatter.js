// Any column against any other: one point per run.
import { MARGIN, axes, scale } from "unweave/axes";
import { titleOf } from "unweave/columns";
import { cell, groups, shape } from "unweave/groups";
import { makePlot } from "unweave/plot";

const APART = 14; // pixels by which points of the same number are spread

/** Make the chart of {rows, x, y, colour, name}; onOpen(row) is called when a point is chosen. */
export function makeScatter(onOpen) {
  return makePlot("scatter", paint, { onOpen });
}

function paint(context, box, { rows, x, y, colour, name }, style) {
  const across = scale(x, rows, MARGIN.left, box.width - MARGIN.right, APART);
  const up = scale(y, rows, box.height - MARGIN.bottom, MARGIN.top);
  const drawn = rows.filter((row) => x.values[row] !== null && y.values[row] !== null);
  const colours = groups(colour, drawn);
  axes(context, box, across, up, [titleOf(x), titleOf(y)], style);
  context.globalAlpha = rows.length > 2000 ? 0.45 : rows.length > 300 ? 0.65 : 0.85;
  const radius = rows.length > 2000 ? 2.2 : rows.length > 300 ? 3 : 4;
  const text = ({ row }) => [name(row), ...[x, y].map((column) => `${titleOf(column)} ${cell(column, column.values[row])}`)];
  const items = drawn.map((row) => ({ row, left: across.at(row), top: up.at(row), text }));
  for (const { row, left, top } of items) {
    context.fillStyle = colours.of(row);
    context.fill(new Path2D(shape(colours.shape(row), left, top, radius)));
  }
  return { items, legend: colours.legend, label: `${titleOf(y)} against ${titleOf(x)}, ${items.length} runs.` };
}
