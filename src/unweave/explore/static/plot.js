// A chart on a canvas, whose items are pointed at, gone through by arrow keys, and opened.
import { h } from "unweave/element";

const NEAR = 14; // pixels
const TEXT = 15; // pixels of the text of the page in a window of ordinary width

/**
 * Make a chart, which grows with the text of the page: its pixels are those of a window of ordinary width. paint(context, box, what, style) draws and returns {items, label, legend, near}: each item has the row
 * that it opens, the place {left, top} of its tip, and the lines of the tip; near(left, top) is the index of the item
 * that is pointed at, by default the closest one. mark(context, item, style) draws what is around the current item.
 */
export function makePlot(kind, paint, { onOpen, mark = ring }) {
  const canvas = h("canvas", { class: `plot-base ${kind}`, tabindex: 0, role: "img" });
  const over = h("canvas", { class: "plot-over", "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const legend = h("div", { class: "legend" });
  let shown = null;
  let drawn = { items: [] };
  let current = -1;

  function draw() {
    const box = room();
    if (!shown || !box.width) return;
    const before = drawn.items[current]?.row;
    drawn = { near: closest, legend: [], ...paint(ready(canvas, box), box, shown, getComputedStyle(canvas)) };
    canvas.setAttribute("aria-label", `${drawn.label} Arrow keys go through ${drawn.items.length} points, Enter opens one.`);
    canvas.dataset.points = drawn.items.length;
    legend.replaceChildren(...drawn.legend);
    point(drawn.items[current]?.row === before ? current : drawn.items.findIndex((item) => item.row === before));
  }

  function room() {
    const { width, height } = canvas.getBoundingClientRect();
    return { width: width / zoom(), height: height / zoom() };
  }

  function ready(target, box) {
    const ratio = (devicePixelRatio || 1) * zoom();
    target.width = Math.round(box.width * ratio);
    target.height = Math.round(box.height * ratio);
    const context = target.getContext("2d");
    context.scale(ratio, ratio);
    return context;
  }

  function point(index) {
    current = index;
    const context = ready(over, room());
    const item = drawn.items[index];
    tip.hidden = !item;
    if (!item) return;
    mark(context, item, getComputedStyle(canvas));
    const [title, ...lines] = item.text(item);
    tip.replaceChildren(h("b", {}, title), ...lines.map((text) => h("span", {}, text)));
    tip.style.left = `${Math.max(0, Math.min(zoom() * item.left + 12, canvas.clientWidth - tip.offsetWidth - 2))}px`;
    tip.style.top = `${Math.max(0, zoom() * item.top - 12)}px`;
  }

  function closest(left, top) {
    let best = -1;
    let distance = NEAR;
    drawn.items.forEach((item, i) => {
      const away = Math.hypot(item.left - left, item.top - top);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }

  function pointed(event) {
    const box = canvas.getBoundingClientRect();
    return drawn.near((event.clientX - box.left) / zoom(), (event.clientY - box.top) / zoom());
  }

  function open(index) {
    if (drawn.items[index]) onOpen(drawn.items[index].row);
  }

  canvas.addEventListener("pointermove", (event) => {
    const found = pointed(event);
    canvas.classList.toggle("over", found >= 0);
    if (found >= 0 || current >= 0) point(found);
  });
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("click", (event) => open(pointed(event)));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const count = drawn.items.length;
    if (step && count) {
      event.preventDefault();
      point((Math.max(current, step > 0 ? -1 : 0) + step + count) % count);
    } else if (event.key === "Enter") open(current);
    else if (event.key === "Escape") point(-1);
  });
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return {
    element: h("div", { class: "chart" }, h("div", { class: "plot" }, canvas, over, tip), legend),
    /** Return the width of the chart. */
    width: () => room().width,
    /** Draw something, on a canvas of a height in pixels if it is given. */
    draw(what, height) {
      shown = what;
      if (height) canvas.style.height = `${height * zoom()}px`;
      draw();
    },
  };
}

function zoom() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / TEXT;
}

function ring(context, { left, top }, style) {
  context.strokeStyle = style.color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(left, top, 7, 0, 7);
  context.stroke();
}
