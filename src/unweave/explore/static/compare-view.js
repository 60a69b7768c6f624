// Two or three runs side by side on the same picture.
import { h, notice } from "unweave/element";
import { makeExplorer } from "unweave/explorer";
import { makeStart } from "unweave/start";

/** Show runs side by side in an element, given their sources. Returns a function that ends the view. */
export function showComparison(root, sources, names) {
  let ended = false;
  build(root, sources, names, () => ended);
  return () => (ended = true);
}

async function build(root, sources, names, isEnded) {
  const problem = notice();
  root.replaceChildren(problem.element, h("div", { class: "wait" }, "Opening the runs…"));
  document.title = "Comparison · Unweave";
  let descriptions;
  try {
    descriptions = await Promise.all(sources.map((source) => source.describe()));
  } catch (error) {
    if (isEnded()) return;
    root.replaceChildren(h("h1", {}, "Side by side"), problem.element);
    problem.show(error.message);
    return;
  }
  if (isEnded()) return;
  const explorers = sources.map((source, i) => makeExplorer(source, descriptions[i]));
  const [, height, width] = descriptions[0].shape;

  const start = makeStart(sources[0], descriptions[0], async (picture) => {
    const image = picture.image ?? (await sources[0].decode(picture.codes, 1));
    explorers[0].setStart({ ...picture, image });
    try {
      for (let i = 1; i < sources.length; i += 1)
        explorers[i].setStart(await sources[i].encode({ rgba: image, width, height }));
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
  });

  const columns = explorers.map((explorer, i) => {
    const { title, facts } = descriptions[i];
    const small = facts.map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, text)));
    return h(
      "section",
      { class: "compared", "data-run": names[i] },
      h("h2", {}, h("a", { href: `#/run/${encodeURIComponent(names[i])}` }, title)),
      h("dl", { class: "facts" }, small),
      explorer.pictures,
      explorer.rows,
    );
  });
  root.replaceChildren(
    h(
      "header",
      { class: "heading" },
      h("div", { class: "title" }, h("h1", {}, "Side by side")),
      h("p", { class: "lead" }, "All runs start from the same picture."),
    ),
    problem.element,
    h("div", { class: "shared" }, start.element),
    h("div", { class: "comparison" }, columns),
  );
  start.begin();
}
