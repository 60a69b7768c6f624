// The images of the data whose codes are closest to the current one.
import { makeStrip, paintStrip } from "unweave/canvas";
import { h, notice, short } from "unweave/element";
import { latest } from "unweave/latest";

/** Make the strip; draw(code) shows the images. */
export function makeNearest(source, description) {
  const [, height, width] = description.shape;
  const problem = notice();
  const place = h("div", {});
  const draw = latest(async (code) => {
    const { image, n, distances } = await source.nearest(code);
    const titles = distances.map((distance) => `at a distance of ${short(distance)} in the latent space`);
    const strip = makeStrip("Images of the data closest to the current code", n, description.shape, titles);
    paintStrip(strip, image, width, height);
    place.replaceChildren(strip);
  }, problem.show);
  return {
    element: h("section", { class: "nearest" }, h("h2", {}, "Nearest images of the data"), place, problem.element),
    draw,
  };
}
