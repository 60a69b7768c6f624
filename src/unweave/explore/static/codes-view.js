// The page of a representation without a decoder: which factor each latent follows, and images of the data along it.
import { makeStrip, paintStrip } from "unweave/canvas";
import { h, short, words } from "unweave/element";

/** Return the view: one row per latent, with images from its lowest to its highest value, and the matrix. */
export function makeCodesView(source, description, onProblem) {
  const rows = description.latents.map((latent) => makeRow(source, description, latent, onProblem));
  const note = description.can.data
    ? "There is no decoder, so latents cannot be moved. Each strip has images of the data, from the lowest to the highest value of the latent."
    : "There is no decoder, so latents cannot be moved, and there are no images to show along them.";
  return h(
    "section",
    { class: "codes" },
    h("h2", {}, "What each latent follows"),
    h("p", { class: "hint" }, note),
    rows,
    description.follows ? matrix(description) : h("p", { class: "hint" }, "The factors are not known."),
  );
}

function makeRow(source, description, latent, onProblem) {
  const name = `z${latent.index}`;
  const place = h("div", {});
  if (description.can.data) {
    const [, height, width] = description.shape;
    source
      .alongLatent(latent.index)
      .then(({ image, n, values }) => {
        const strip = makeStrip(`Images of the data along ${name}`, n, description.shape, values.map((v) => short(v)));
        paintStrip(strip, image, width, height);
        place.append(strip);
      })
      .catch((error) => onProblem(error.message));
  }
  return h(
    "div",
    { class: latent.active ? "code-row" : "code-row inactive", "data-latent": latent.index },
    h("b", {}, name),
    h("span", { class: "factor" }, followed(latent)),
    place,
  );
}

function followed(latent) {
  if (!latent.factor) return "no factor above chance";
  const weak = latent.weak ? ", weak" : "";
  return `→ ${words(latent.factor)} ${short(latent.certainty)} above chance (${short(latent.chance)}${weak})`;
}

function matrix(description) {
  const { factors, share, unfollowed } = description.follows;
  const head = h("tr", {}, h("td"), factors.map((factor) => h("th", { scope: "col" }, words(factor))));
  const body = description.latents.map(({ index }) => {
    const cells = share[index].map((value) => {
      const cell = h("td", { class: value > 0.55 ? "strong" : "" }, value > 0 ? short(value) : "");
      cell.style.setProperty("--share", value);
      return cell;
    });
    return h("tr", {}, h("th", { scope: "row" }, `z${index}`), cells);
  });
  return h(
    "div",
    { class: "follow-matrix" },
    h("h2", {}, "Latents and factors"),
    h("p", { class: "hint" }, "I(z; f) / H(f) minus that of permuted codes; empty where nothing is above chance."),
    h("table", {}, h("thead", {}, head), h("tbody", {}, body)),
    unfollowed.length ? h("p", {}, `Factors that no latent follows, or only weakly: ${unfollowed.map(words).join(", ")}.`) : null,
  );
}
