// Pictures on canvases: one, a strip of several, and signed values with a diverging palette.
import { h } from "unweave/element";

const NEGATIVE = [33, 102, 172]; // blue and orange are told apart by almost everybody
const POSITIVE = [224, 130, 20];

/** Make a canvas with a description for those who cannot see it. */
export function picture(label, kind = "picture") {
  return h("canvas", { class: kind, role: "img", "aria-label": label, width: 1, height: 1 });
}

/** Paint one of several pictures. */
export function paint(canvas, rgba, width, height, index = 0) {
  resize(canvas, width, height);
  const size = width * height * 4;
  canvas
    .getContext("2d")
    .putImageData(new ImageData(rgba.slice(index * size, (index + 1) * size), width, height), 0, 0);
  canvas.dataset.frame = Number(canvas.dataset.frame ?? 0) + 1;
}

/** Make a strip of n pictures of a size, which takes its final room before it is painted. */
export function makeStrip(label, n, [, height, width], titles = []) {
  const frames = Array.from({ length: n }, (_, i) =>
    h("canvas", { class: "frame", width, height, title: titles[i], "aria-hidden": "true" }),
  );
  const strip = h("div", { class: "strip", role: "img", "aria-label": label }, frames);
  strip.style.setProperty("--n", n);
  return strip;
}

/** Paint the pictures of a strip, beginning with the one at an index. */
export function paintStrip(strip, rgba, width, height, first = 0) {
  [...strip.children].forEach((frame, i) => paint(frame, rgba, width, height, first + i));
  strip.dataset.frame = Number(strip.dataset.frame ?? 0) + 1;
}

/** Return which picture of a strip an event points at, -1 for none. */
export function pointedAt(strip, event) {
  return [...strip.children].indexOf(event.target);
}

/** Paint signed values, negative ones blue and positive ones orange; the scale has full colour. */
export function paintSigned(canvas, values, first, width, height, scale) {
  resize(canvas, width, height);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const neutral = dark ? 38 : 247;
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let i = 0; i < width * height; i += 1) {
    const value = values[first + i];
    const share = scale > 0 ? Math.min(1, Math.abs(value) / scale) ** 0.7 : 0;
    const colour = value < 0 ? NEGATIVE : POSITIVE;
    for (let c = 0; c < 3; c += 1) rgba[i * 4 + c] = neutral + share * (colour[c] - neutral);
    rgba[i * 4 + 3] = 255;
  }
  canvas.getContext("2d").putImageData(new ImageData(rgba, width, height), 0, 0);
  canvas.dataset.frame = Number(canvas.dataset.frame ?? 0) + 1;
}

function resize(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  canvas.classList.toggle("coarse", height < 48);
}
