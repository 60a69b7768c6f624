// The mutual information of latents and factors as a table of cells; a click shows both of them move.
import { makeStrip, paintStrip } from "unweave/canvas";
import { h, notice, short, words } from "unweave/element";
import { latest } from "unweave/latest";
import { orderedByFactor, stripValues, traversal } from "unweave/source";
import { makeValues } from "unweave/values";

const FRAMES = 9;
const MIDDLE = 0.65; // shares from which text is black in dark mode,
const STRONG = 0.84; // and from which it is white in light mode: the contrast is at least 4.5 everywhere
const MOST = 32; // latents, the most important ones

/** Make the map; getStart() gives {codes, factors} of the image from which latent and factor move. */
export function makeHeatmap(source, description, getStart) {
  const [, height, width] = description.shape;
  const problem = notice();
  const latents = orderedByFactor(description.latents.slice(0, MOST), description.factors);
  const above = h("div", { class: "pair", hidden: true });
  const values = makeValues(() => {});
  const against = h(
    "figure",
    { class: "against", hidden: true },
    h("figcaption"),
    values.element,
  );
  let selected = null;

  const show = latest(async (latent, factor) => {
    const start = getStart();
    if (!start) return;
    const strips = [];
    let codes = start.codes;
    let said = "The factors of this picture are not known: only the latent is shown.";
    if (start.factors && source.factorStrip) {
      const found = await source.factorStrip(factor.name, start.factors);
      const truth = makeStrip(`Images of the data along ${words(factor.name)}`, found.n, description.shape, found.values);
      paintStrip(truth, found.image, width, height);
      strips.push(["Factor", words(factor.name), truth]);
      codes = found.codes ?? codes;
      said = found.codes ? "Both from the closest image in this file." : "Both from the start image.";
    }
    const values = stripValues(latent, FRAMES);
    const moved = makeStrip(`Pictures along z${latent.index}`, values.length, description.shape, values.map((v) => short(v)));
    paintStrip(moved, await source.decode(traversal(codes, latent.index, values), values.length), width, height);
    strips.unshift(["Latent", `z${latent.index}`, moved]);
    const most = Math.max(...strips.map(([, , strip]) => strip.children.length));
    for (const [, , strip] of strips) strip.style.setProperty("--n", most);
    above.hidden = false;
    above.replaceChildren(
      ...strips.map(([kind, name, strip]) =>
        h("figure", {}, h("figcaption", {}, `${kind} `, h("b", {}, name)), strip),
      ),
      h("p", { class: "hint" }, said),
    );
  }, problem.show);

  const showValues = latest(async (latent, factor) => {
    const found = await source.byValue(latent.index, description.factors.indexOf(factor));
    against.hidden = !found.length;
    against.firstChild.replaceChildren("Latent ", h("b", {}, `z${latent.index}`), " for each value of ", h("b", {}, words(factor.name)), ": median, quartiles, and the middle 90 % of the images");
    values.draw({ latent: `z${latent.index}`, factor: factor.name, values: found });
  }, problem.show);

  const head = h(
    "tr",
    {},
    h("td"),
    latents.map((latent) => h("th", { scope: "col", class: latent.active ? "" : "inactive" }, `z${latent.index}`)),
  );
  const body = description.factors.map((factor, k) => {
    const cells = latents.map((latent) =>
      h("td", {}, makeCell(latent, factor, description.mutualInformation[latent.index][k])),
    );
    return h("tr", {}, h("th", { scope: "row" }, words(factor.name)), cells);
  });

  const table = h("table", { class: "heatmap", onkeydown: go, onfocusin: stopAt }, h("thead", {}, head), h("tbody", {}, body));
  table.querySelector(".cell")?.setAttribute("tabindex", 0);

  /** Make one cell the stop of the Tab key. */
  function stopAt({ target }) {
    table.querySelector(".cell[tabindex='0']")?.setAttribute("tabindex", -1);
    target.closest(".cell")?.setAttribute("tabindex", 0);
  }

  /** Go to another cell with an arrow key, Home or End. */
  function go(event) {
    const cells = [...table.querySelectorAll(".cell")];
    const at = cells.indexOf(event.target);
    const across = latents.length;
    const first = at - (at % across);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + across, ArrowUp: at - across, Home: first, End: first + across - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    cells[to]?.focus();
  }

  function makeCell(latent, factor, value) {
    const cell = h(
      "button",
      {
        class: value > STRONG ? "cell middle strong" : value > MIDDLE ? "cell middle" : "cell",
        tabindex: -1,
        "aria-label": `z${latent.index} and ${words(factor.name)}: ${short(value)}`,
        title: `z${latent.index} and ${words(factor.name)}: ${short(value)}`,
        onclick: () => choose(cell, latent, factor),
      },
      value >= 0.095 ? short(value).replace(/^0/, "") : "",
    );
    cell.style.setProperty("--share", `${Math.round(100 * Math.min(1, value))}%`);
    return cell;
  }

  function choose(cell, latent, factor) {
    selected?.cell.removeAttribute("aria-pressed");
    selected = { cell, latent, factor };
    cell.setAttribute("aria-pressed", "true");
    show(latent, factor);
    if (source.byValue) showValues(latent, factor);
  }

  return {
    element: h(
      "section",
      { class: "information" },
      h("h2", {}, "Which latent follows which factor"),
      h(
        "p",
        { class: "lead" },
        "The share of each factor’s entropy that each latent knows above chance, I(z; f) / H(f) minus that of permuted codes. Choose a cell to see that latent and that factor move, one above the other, and the latent for each value of the factor.",
      ),
      h("div", { class: "scroll" }, table),
      above,
      against,
      problem.element,
    ),
    /** Draw the selected pair again, from another picture. */
    refresh() {
      if (selected) show(selected.latent, selected.factor);
    },
  };
}
