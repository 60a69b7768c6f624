// Two latents at once: a grid of pictures in which both move, and a point that is dragged over it.
import { paint } from "unweave/canvas";
import { h, notice, words } from "unweave/element";
import { latest, settled } from "unweave/latest";
import { nearest, stripValues } from "unweave/source";

const SIDE = 7; // pictures along each latent
const REST = 200; // milliseconds without a move, after which the grid is drawn
const STEPS = 20; // of the arrow keys, from end to end

/** Make the pad; getCode() is the current code, and setCode(code) is called when the point is moved. */
export function makePad(source, description, getCode, setCode) {
  const [, height, width] = description.shape;
  const problem = notice();
  const latents = description.latents;
  const chosen = firstPair(latents);
  const cells = h("div", { class: "pad-grid", "aria-hidden": "true" });
  const point = h("span", { class: "pad-point", "aria-hidden": "true" });
  const pad = h(
    "div",
    { class: "pad", role: "application", tabindex: 0, onpointerdown: press, onpointermove: (event) => pad.hasPointerCapture(event.pointerId) && moveTo(event), onkeydown: step },
    cells,
    point,
  );
  const choices = chosen.map((latent, i) =>
    h(
      "select",
      { "aria-label": i ? "Latent from bottom to top" : "Latent from left to right", onchange: (event) => choose(i, event.target.value) },
      latents.map((one) => h("option", { value: one.index, selected: one === latent }, titleOf(one))),
    ),
  );

  const drawGrid = latest(async () => {
    if (!cells.isConnected) return;
    const [across, up] = chosen.map((latent) => stripValues(latent, SIDE));
    const code = getCode();
    const codes = new Float32Array(across.length * up.length * code.length);
    [...up].reverse().forEach((y, row) =>
      across.forEach((x, column) => {
        const first = (row * across.length + column) * code.length;
        codes.set(code, first);
        codes[first + chosen[0].index] = x;
        codes[first + chosen[1].index] = y;
      }),
    );
    const n = across.length * up.length;
    const rgba = await source.decode(codes, n);
    if (cells.children.length !== n) cells.replaceChildren(...Array.from({ length: n }, () => h("canvas", { width, height })));
    cells.style.setProperty("--across", across.length);
    [...cells.children].forEach((canvas, i) => paint(canvas, rgba, width, height, i));
    cells.dataset.frame = Number(cells.dataset.frame ?? 0) + 1;
    problem.show("");
  }, problem.show);
  const rested = settled(REST, drawGrid);
  let drawnFor = null; // the other latents, on which the grid depends

  function choose(i, index) {
    chosen[i] = latents.find((latent) => latent.index === Number(index));
    if (chosen[0] === chosen[1]) {
      chosen[1 - i] = latents.find((latent) => latent !== chosen[i]);
      choices[1 - i].value = chosen[1 - i].index;
    }
    drawnFor = null;
    refresh();
  }

  function press(event) {
    pad.setPointerCapture(event.pointerId);
    event.preventDefault();
    pad.focus({ preventScroll: true }); // or the page would move below the pointer
    moveTo(event);
  }

  function moveTo(event) {
    const box = pad.getBoundingClientRect();
    take((event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
  }

  /** Move both latents to shares of the pad; the first picture of a row stands for the end of the range. */
  function take(...shares) {
    const code = getCode().slice();
    chosen.forEach((latent, i) => {
      const n = stripValues(latent, SIDE).length;
      const share = Math.min(1, Math.max(0, (shares[i] * n - 0.5) / (n - 1)));
      const value = latent.levels ? latent.levels[Math.round(share * (latent.levels.length - 1))] : latent.low + share * (latent.high - latent.low);
      code[latent.index] = nearest(latent, value);
    });
    setCode(code);
  }

  function step(event) {
    const [across, up] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if (!across && !up) return;
    event.preventDefault();
    const code = getCode().slice();
    [across, up].forEach((moves, i) => {
      const latent = chosen[i];
      const value = code[latent.index];
      if (moves && latent.levels) {
        const at = latent.levels.indexOf(nearest(latent, value)) + moves;
        code[latent.index] = latent.levels[Math.min(latent.levels.length - 1, Math.max(0, at))];
      } else if (moves) code[latent.index] = nearest(latent, value + (moves * (latent.high - latent.low)) / STEPS);
    });
    setCode(code);
  }

  /** Show the current code. */
  function refresh() {
    const code = getCode();
    const [left, bottom] = chosen.map((latent) => {
      const n = stripValues(latent, SIDE).length;
      const share = latent.levels
        ? latent.levels.indexOf(nearest(latent, code[latent.index])) / Math.max(1, latent.levels.length - 1)
        : (nearest(latent, code[latent.index]) - latent.low) / (latent.high - latent.low);
      return (100 * (share * (n - 1) + 0.5)) / n;
    });
    point.style.left = `${left}%`;
    point.style.bottom = `${bottom}%`;
    const values = chosen.map((latent) => `z${latent.index} = ${code[latent.index].toFixed(2)}`).join(", ");
    pad.setAttribute("aria-label", `Two latents at once: ${values}. Arrow keys move them.`);
    const others = code.filter((_, i) => !chosen.some((latent) => latent.index === i)).join(",");
    if (others !== drawnFor) {
      drawnFor = others;
      rested();
    }
  }

  return {
    element: h(
      "section",
      { class: "two-latents" },
      h("h2", {}, "Two latents at once"),
      h("p", { class: "lead" }, "Drag over the pictures: one latent moves from left to right, the other from bottom to top."),
      h("div", { class: "axes" }, h("label", {}, "→ ", choices[0]), h("label", {}, "↑ ", choices[1])),
      pad,
      problem.element,
    ),
    refresh,
  };
}

/** Return the two latents that follow different factors most surely, or else the two most important ones. */
function firstPair(latents) {
  const sure = latents.filter((latent) => latent.factor && latent.active).sort((a, b) => b.certainty - a.certainty);
  const other = sure.find((latent) => latent.factor !== sure[0].factor);
  return other ? [sure[0], other] : latents.slice(0, 2);
}

function titleOf(latent) {
  return latent.factor ? `z${latent.index} ${words(latent.factor)}` : `z${latent.index}`;
}
