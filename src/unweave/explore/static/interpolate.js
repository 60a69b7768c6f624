// Walk from one code to another.
import { makeStrip, paint, paintStrip, picture, pointedAt } from "unweave/canvas";
import { h, notice } from "unweave/element";
import { latest } from "unweave/latest";
import { between } from "unweave/source";

const FRAMES = 7;

/** Make the controls; getCode() is the current code, and setCode(code) is called along the way. */
export function makeInterpolation(source, description, getCode, setCode) {
  const [, height, width] = description.shape;
  const problem = notice();
  const ends = [makeEnd("A"), makeEnd("B")];
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    value: 0,
    "aria-label": "From A to B",
    oninput: walk,
  });
  const strip = makeStrip("Pictures from A to B", FRAMES, description.shape);
  strip.addEventListener("click", (event) => {
    const at = pointedAt(strip, event);
    if (at < 0) return;
    slider.value = at / (FRAMES - 1);
    walk();
  });
  const draw = latest(async () => {
    const rows = Array.from({ length: FRAMES }, (_, i) => at(i / (FRAMES - 1)));
    const codes = new Float32Array(rows.flatMap((row) => [...row]));
    const rgba = await source.decode(codes, FRAMES);
    paintStrip(strip, rgba, width, height);
    ends.forEach((end, i) => paint(end.canvas, rgba, width, height, i * (FRAMES - 1)));
  }, problem.show);

  function makeEnd(name) {
    const canvas = picture(`Picture ${name}`, "thumb");
    const button = h("button", { class: "quiet", onclick: () => take(name) }, `Set ${name}`);
    return { canvas, codes: null, element: h("div", { class: "end" }, canvas, button) };
  }

  function at(t) {
    return between(description.latents, ends[0].codes, ends[1].codes, t);
  }

  function take(name) {
    ends[name === "A" ? 0 : 1].codes = getCode().slice();
    draw();
  }

  function walk() {
    if (ends[0].codes && ends[1].codes) setCode(at(slider.valueAsNumber));
  }

  return {
    element: h(
      "section",
      { class: "interpolation", "aria-label": "Interpolation" },
      h("h2", {}, "From A to B"),
      h("div", { class: "ends" }, ends[0].element, h("div", { class: "way" }, strip, slider), ends[1].element),
      problem.element,
    ),
    /** Set both ends. */
    begin(a, b) {
      ends[0].codes = a.slice();
      ends[1].codes = b.slice();
      slider.value = 0;
      draw();
    },
  };
}
