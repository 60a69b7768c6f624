// Two or three runs side by side on the same picture, with one set of sliders where their data are the same.
import { makeRunCurves } from "unweave/curves";
import { makeDifferences } from "unweave/differences";
import { h, notice } from "unweave/element";
import { makeExplorer } from "unweave/explorer";
import { makeSharedSliders } from "unweave/shared-sliders";
import { makeStart } from "unweave/start";

const TITLE = "Side by side";

/** Show runs side by side in an element, given their sources. Returns a function that ends the view. */
export function showComparison(root, sources, names) {
  let ended = false;
  build(root, sources, names, () => ended);
  return () => (ended = true);
}

async function build(root, sources, names, isEnded) {
  const problem = notice();
  root.replaceChildren(h("h1", {}, TITLE), problem.element, h("div", { class: "wait" }, "Opening the runs…"));
  document.title = "Comparison · Unweave";
  let descriptions;
  try {
    descriptions = await Promise.all(sources.map((source) => source.describe()));
  } catch (error) {
    if (isEnded()) return;
    root.replaceChildren(h("h1", {}, TITLE), problem.element);
    problem.show(error.message);
    return;
  }
  if (isEnded()) return;
  const alike = new Set(descriptions.map((description) => description.data)).size === 1;
  const shared = alike ? makeSharedSliders(descriptions) : null;
  const explorers = sources.map((source, i) => {
    const can = { ...descriptions[i].can, jacobian: !alike && descriptions[i].can.jacobian };
    const moved = (_, latent) => latent && shared?.moved(i, latent);
    return makeExplorer(source, { ...descriptions[i], can }, { onMove: moved, onStrips: () => shared?.drawn(i) });
  });
  shared?.join(explorers);
  const [, height, width] = descriptions[0].shape;

  const start = makeStart(sources[0], descriptions[0], async (picture) => {
    const image = picture.image ?? (await sources[0].decode(picture.codes, 1));
    explorers[0].setStart({ ...picture, image });
    try {
      for (let i = 1; i < sources.length; i += 1)
        explorers[i].setStart(await sources[i].encode({ rgba: image, width, height }));
      shared?.refresh();
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
  });

  const columns = explorers.map((explorer, i) =>
    h(
      "section",
      { class: "compared", "data-run": names[i] },
      h("h2", {}, h("a", { href: `#/run/${encodeURIComponent(names[i])}` }, titleOf(descriptions[i], i))),
      explorer.pictures,
      ...(alike ? [] : [explorer.rows]),
    ),
  );
  const differences = makeDifferences(names, descriptions.map(titleOf));
  const curves = makeRunCurves((i) => (location.hash = `#/run/${encodeURIComponent(names[i])}`));
  const sentence = alike
    ? "All runs start from the same image. A slider moves the latent of each run that follows the same factor; where none is left, the next by importance."
    : `These runs were trained on data that differ in name or options: ${descriptions.map(({ title }) => title).join(", ")}. All start from an image of the first, which the others have never seen, and each has its own sliders.`;
  root.replaceChildren(
    h(
      "header",
      { class: "heading" },
      h("div", { class: "title" }, h("h1", {}, TITLE)),
      h("p", { class: alike ? "lead" : "lead differ" }, sentence),
    ),
    problem.element,
    h("div", { class: "compared-start" }, start.element),
    h("div", { class: alike ? "comparison synchronised" : "comparison" }, columns),
    ...(shared ? [shared.element] : []),
    differences.element,
    h("section", { class: "charts" }, h("h2", {}, "Training"), curves.element),
  );
  root.style.setProperty("--runs", names.length);
  start.begin();
  differences.look(isEnded);
  curves.draw(sources.map((source, i) => ({ source, title: titleOf(descriptions[i], i), row: i })));

  /** Return the title of a run, with its label or a number where others have the same. */
  function titleOf({ title, facts }, i) {
    const label = Object.fromEntries(facts).label;
    const same = descriptions.filter((description) => description.title === title).length > 1;
    return same ? `${title} (${label ?? i + 1})` : title;
  }
}
