// Pictures on canvases: one, a strip of several, and signed values with a diverging palette.
import { h } from "unweave/element";

const GAP = 2; // pixels between the pictures of a strip, at the size of the pictures
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

/** Paint n pictures side by side, beginning with the one at an index. */
export function paintStrip(canvas, rgba, n, width, height, first = 0) {
  const gap = Math.max(1, Math.round((GAP * width) / 40));
  resize(canvas, n * (width + gap) - gap, height);
  const context = canvas.getContext("2d");
  const size = width * height * 4;
  for (let i = 0; i < n; i += 1) {
    const part = rgba.slice((first + i) * size, (first + i + 1) * size);
    context.putImageData(new ImageData(part, width, height), i * (width + gap), 0);
  }
  canvas.dataset.frame = Number(canvas.dataset.frame ?? 0) + 1;
}

/** Return which of n pictures of a strip an event points at. */
export function pointedAt(canvas, event, n) {
  const box = canvas.getBoundingClientRect();
  return Math.min(n - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * n)));
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
