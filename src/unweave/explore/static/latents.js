// One row per latent: what it follows, a slider, a strip of pictures along it, and its column of the Jacobian.
import { paintSigned, paintStrip, picture, pointedAt } from "unweave/canvas";
import { h, short, words } from "unweave/element";
import { nearest, stripValues, traversal } from "unweave/source";

const FRAMES = 9; // of a strip
const SHOWN = 24; // rows before "show all"

/** Make the rows of all latents; onChange(code) is called when one is moved. */
export function makeLatents(description, onChange) {
  const [, height, width] = description.shape;
  const code = new Float32Array(description.latents.length);
  const rows = description.latents.map((latent) => makeRow(latent, (value) => move(latent, value)));
  const more = h("button", { class: "quiet", onclick: showAll }, `Show all ${rows.length} latents`);
  const element = h(
    "div",
    { class: "latents" },
    rows.map((row) => row.element),
  );
  if (rows.length > SHOWN) {
    for (const row of rows.slice(SHOWN)) row.element.hidden = true;
    element.append(more);
  }

  function showAll() {
    for (const row of rows) row.element.hidden = false;
    more.remove();
    onChange(code);
  }

  function move(latent, value) {
    code[latent.index] = value;
    onChange(code);
  }

  return {
    element,
    code,
    set(values) {
      code.set(values);
      for (const row of rows) row.show(code[row.latent.index]);
    },
    /** Return the codes of the strips of all rows that are shown, and a function that paints their pictures. */
    strips() {
      const shown = rows.filter((row) => !row.element.hidden);
      const parts = shown.map((row) => traversal(code, row.latent.index, row.values));
      const codes = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) {
        codes.set(part, at);
        at += part.length;
      }
      const paint = (rgba) => {
        let first = 0;
        for (const row of shown) {
          paintStrip(row.strip, rgba, row.values.length, width, height, first);
          first += row.values.length;
        }
      };
      return { codes, n: codes.length / code.length, paint };
    },
    /** Paint the columns of the Jacobian, all with the same contrast. */
    paintJacobian(values) {
      let scale = 0;
      for (const value of values) scale = Math.max(scale, Math.abs(value));
      for (const row of rows)
        paintSigned(row.jacobian, values, row.latent.index * width * height, width, height, scale);
    },
  };
}

function makeRow(latent, onMove) {
  const values = stripValues(latent, FRAMES);
  const name = `z${latent.index}`;
  const output = h("output", { class: "value" });
  const levels = latent.levels;
  const slider = h("input", {
    type: "range",
    class: levels ? "stepped" : "",
    min: levels ? 0 : latent.low,
    max: levels ? levels.length - 1 : latent.high,
    step: levels ? 1 : (latent.high - latent.low) / 200,
    "aria-label": latent.factor ? `Latent ${name}, follows ${words(latent.factor)}${latent.weak ? " weakly" : ""}` : `Latent ${name}`,
    oninput: () => choose(levels ? levels[slider.valueAsNumber] : slider.valueAsNumber),
  });
  if (levels) slider.style.setProperty("--steps", levels.length - 1);
  const strip = picture(`Pictures along ${name}`, "strip");
  strip.addEventListener("click", (event) => choose(values[pointedAt(strip, event, values.length)]));
  const marker = h("span", { class: "marker" });
  const jacobian = picture(`Derivative of the picture by ${name}`, "jacobian");
  jacobian.title = `∂ picture / ∂ ${name}: orange rises, blue falls`;
  const element = h(
    "div",
    { class: latent.active ? "latent" : "latent inactive", "data-latent": latent.index },
    h("div", { class: "follows" }, h("span", { class: "name" }, name), follows(latent)),
    h("div", { class: "move" }, slider, output),
    h("div", { class: "along" }, h("div", { class: "frames" }, strip, marker)),
    jacobian,
  );

  function choose(value) {
    show(value);
    onMove(value);
  }

  function show(value) {
    const taken = levels ? nearest(latent, value) : value;
    slider.value = levels ? levels.indexOf(taken) : value;
    output.textContent = short(value);
    slider.setAttribute(
      "aria-valuetext",
      levels ? `level ${levels.indexOf(taken) + 1} of ${levels.length}` : short(value),
    );
    const closest = values.reduce((best, v, i) => (Math.abs(v - value) < Math.abs(values[best] - value) ? i : best), 0);
    marker.style.left = `${(100 * closest) / values.length}%`;
    marker.style.width = `${100 / values.length}%`;
  }

  return { element, latent, values, strip, jacobian, show };
}

function follows(latent) {
  if (!latent.active) return h("span", { class: "factor" }, "not active");
  if (!latent.factor) return h("span", { class: "factor" }, "");
  const share = h("span", { class: "share", title: `I(z; f) / H(f), ${short(latent.certainty)} above a chance of ${short(latent.chance)}` });
  const bar = h("span", { class: "bar" });
  bar.style.width = `${100 * Math.min(1, latent.certainty)}%`;
  share.append(h("span", { class: "track" }, bar), h("span", { class: "number" }, short(latent.certainty)));
  return h("span", { class: latent.weak ? "factor weak" : "factor" }, words(latent.factor), latent.weak ? " (weak)" : "", share);
}
