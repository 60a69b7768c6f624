// A latent against a factor: the distribution of the latent given each value of the factor.
import { MARGIN, axes, line, range } from "unweave/axes";
import { short, words } from "unweave/element";
import { makePlot } from "unweave/plot";

const WIDEST = 22; // pixels of a box

/** Make the chart of {latent, factor, values: [[value, count, q5, q25, q50, q75, q95]…]}; onOpen(value) chooses a value. */
export function makeValues(onOpen) {
  return makePlot("values", paint, { onOpen, mark: () => {} });
}

function paint(context, box, { latent, factor, values }, style) {
  const [low, high] = [Math.min(...values.map((one) => one[2])), Math.max(...values.map((one) => one[6]))];
  const step = (box.width - MARGIN.left - MARGIN.right) / values.length;
  const place = (i) => MARGIN.left + (i + 0.5) * step;
  const up = range(low, high, box.height - MARGIN.bottom, MARGIN.top);
  const room = Math.ceil((Math.max(...values.map(([value]) => short(value).length)) * 8 + 8) / step);
  const ticks = values.map(([value], i) => [place(i), short(value)]).filter((_, i) => i % room === 0);
  axes(context, box, { ticks }, up, [factor, latent], style);
  const wide = Math.min(WIDEST, 0.7 * step);
  context.strokeStyle = context.fillStyle = style.getPropertyValue("--accent");
  const items = values.map(([value, count, ...quantiles], i) => {
    const [least, first, middle, third, most] = quantiles.map(up.place);
    const left = place(i);
    line(context, left, least, left, most);
    context.globalAlpha = 0.3;
    context.fillRect(left - wide / 2, third, wide, Math.max(1, first - third));
    context.globalAlpha = 1;
    context.lineWidth = 2.5;
    line(context, left - wide / 2, middle, left + wide / 2, middle);
    context.lineWidth = 1;
    const text = () => [`${words(factor)} ${short(value)}`, `median ${short(quantiles[2])}, half from ${short(quantiles[1])} to ${short(quantiles[3])}`, `${count.toLocaleString("en")} images`];
    return { row: value, left, top: middle, text };
  });
  const near = (left) => (left < MARGIN.left || left > box.width - MARGIN.right ? -1 : Math.min(values.length - 1, Math.floor((left - MARGIN.left) / step)));
  return { items, near, label: `${latent} for each value of ${words(factor)}.` };
}
