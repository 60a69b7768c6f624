// Interactive view of one run: the decoded picture, and one row per latent that changes it.
import { fromAddress, toAddress } from "unweave/address";
import { paint, picture } from "unweave/canvas";
import { h, notice, save } from "unweave/element";
import { latest, settled } from "unweave/latest";
import { makeLatents } from "unweave/latents";

const REST = 120; // milliseconds without a move, after which strips are drawn
const LONG_REST = 300; // and the Jacobian

/**
 * Make the picture and the rows of a run; onMove(code, latent) is called after each change of the code, with the latent
 * if one was moved, and onStrips() after strips were drawn.
 */
export function makeExplorer(source, description, { onMove = () => {}, onStrips = () => {} } = {}) {
  const [, height, width] = description.shape;
  const problem = notice();
  const [input, decoded] = ["input", "decoded"].map((role) => {
    const canvas = picture(role === "input" ? "Start image" : "Decoded picture", "large");
    Object.assign(canvas, { width, height });
    canvas.dataset.role = role;
    return canvas;
  });
  const caption = h("figcaption", {}, "Reconstruction");
  const latents = makeLatents(description, moved, (codes, n) => source.decode(codes, n));
  const byFactor = fromAddress("latents") !== "importance";
  const order = h(
    "select",
    { onchange: arrange },
    h("option", { value: "" }, "factor"),
    h("option", { value: "importance", selected: !byFactor }, description.order || "number"),
  );
  const arranged = description.mutualInformation ? h("label", {}, "Latents by ", order) : null;
  let start = null;
  let touched = false;

  const draw = latest(
    async () => paint(decoded, await source.decode(latents.code.slice(), 1), width, height),
    problem.show,
  );
  const drawStrips = latest(async () => {
    const { codes, n, paint: paintRows } = latents.strips();
    paintRows(await source.decode(codes, n));
    onStrips();
  }, problem.show);
  const drawJacobian = latest(
    async () => latents.paintJacobian(await source.jacobian(latents.code.slice())),
    problem.show,
  );
  const rested = settled(REST, drawStrips);
  const restedLong = settled(LONG_REST, () => description.can.jacobian && drawJacobian());

  function moved(_, latent) {
    touched = true;
    caption.textContent = "Decoded from the sliders";
    refresh();
    onMove(latents.code, latent);
  }

  function refresh() {
    draw();
    rested();
    restedLong();
  }

  function arrange() {
    toAddress({ latents: order.value || null });
    latents.arrange(order.value === "");
    rested(); // rows that were hidden have no strips yet
  }

  function savePng() {
    latents.sheet().toBlob((picture) => save(`${description.name}.png`, picture, "image/png"));
  }

  function setCode(code) {
    latents.stop();
    latents.set(code);
    moved();
  }

  if (arranged && byFactor) latents.arrange(true);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => restedLong());
  return {
    rows: latents.element,
    pictures: h(
      "div",
      { class: "pictures" },
      h(
        "div",
        { class: "both" },
        h("figure", { class: "origin" }, input, h("figcaption", {}, "Start image")),
        h("figure", {}, decoded, caption),
      ),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "quiet", onclick: () => start && setCode(start) }, "Back to start"),
        h("button", { class: "quiet", onclick: savePng }, "Save strips as PNG"),
        arranged,
      ),
      problem.element,
    ),
    code: () => latents.code,
    row: latents.row,
    /** Show another value of one latent, which calls nothing. */
    show(index, value) {
      latents.show(index, value);
      caption.textContent = "Decoded from the sliders";
      refresh();
    },
    isTouched: () => touched,
    setCode,
    refresh,
    /** Begin at another picture: {codes, image}. */
    setStart({ codes, image }) {
      start = codes.slice();
      latents.stop();
      latents.setStart(start);
      input.parentElement.hidden = !image;
      if (image) paint(input, image, width, height);
      latents.set(codes);
      refresh();
      touched = false;
      caption.textContent = image ? "Reconstruction" : "Decoded";
      onMove(latents.code);
    },
  };
}
