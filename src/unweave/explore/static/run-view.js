// The page of one run. It talks to its source only; see source.js.
import { fromAddress, toAddress } from "unweave/address";
import { makeCodesView } from "unweave/codes-view";
import { h, notice } from "unweave/element";
import { makeExplorer } from "unweave/explorer";
import { makeHeatmap } from "unweave/heatmap";
import { makeInterpolation } from "unweave/interpolate";
import { settled } from "unweave/latest";
import { makeLive } from "unweave/live";
import { makeNearest } from "unweave/nearest";
import { makePad } from "unweave/pad";
import { makeStart } from "unweave/start";

/** Show a run in an element; links are elements for the heading. Returns a function that ends the view. */
export function showRun(root, source, links = []) {
  const problem = notice();
  const place = h("div", { class: "wait" }, "Opening the run…");
  root.replaceChildren(problem.element, place);
  let live = null;
  let ended = false;
  let kept = null; // the start picture, which new weights keep

  async function open() {
    try {
      const description = await source.describe();
      if (ended) return;
      problem.show("");
      build(description);
    } catch (error) {
      if (ended) return;
      place.replaceChildren();
      if (error.status === 409 && source.progress) await waitForWeights(error);
      else {
        root.replaceChildren(h("h1", {}, "This run cannot be opened"), problem.element);
        problem.show(error.message);
      }
    }
  }

  async function waitForWeights(error) {
    if (live) return;
    const now = await source.progress().catch(() => null);
    if (ended || live) return;
    const waits = now?.state === "running" || now?.state === "not started";
    const said = waits
      ? "This run has no weights yet. Its latents can be moved after the first checkpoint; this page waits for it."
      : `This run ${now?.state === "failed" ? "failed" : `is ${now?.state ?? "not readable"}`} and has no weights, so that no latent can be moved.`;
    live = makeLive(source, null, open);
    root.replaceChildren(
      heading({ title: now?.title || error.message, hint: said }, links),
      live.element,
    );
  }

  function build(description) {
    document.title = `${description.title} · Unweave`;
    live?.stop();
    if (!description.can.decode) {
      root.replaceChildren(
        problem.element,
        heading(description, links),
        makeCodesView(source, description, problem.show),
      );
      return;
    }
    const explorer = makeExplorer(source, description, { onMove: moved });
    const rested = settled(250, (code) => {
      writeAddress(code);
      nearest?.draw(code.slice());
    });
    const nearest = source.nearest && description.can.data ? makeNearest(source, description) : null;
    const pad = description.latents.length > 1 ? makePad(source, description, explorer.code, explorer.setCode) : null;
    const heatmap = description.mutualInformation ? makeHeatmap(source, description, () => kept) : null;
    const interpolation = makeInterpolation(source, description, explorer.code, explorer.setCode);
    let begun = false;
    let chosen = fromAddress("image") !== null; // whether the start image is not the first one
    const start = makeStart(source, description, begin);

    function moved(code) {
      pad?.refresh();
      rested(code);
    }

    function writeAddress(code) {
      if (ended) return;
      const moved = explorer.isTouched();
      toAddress({
        z: moved ? [...code].map((value) => Number(value.toFixed(4))).join(",") : null,
        image: chosen || moved ? (kept?.factors?.join(",") ?? null) : null,
      });
    }

    function begin(picture) {
      kept = picture;
      explorer.setStart(picture);
      const z = begun ? null : fromAddress("z")?.split(",").map(Number);
      if (z?.length === picture.codes.length && z.every(Number.isFinite)) explorer.setCode(Float32Array.from(z));
      chosen ||= begun;
      heatmap?.refresh();
      if (!begun) secondEnd(picture.codes).catch((error) => problem.show(error.message));
      begun = true;
    }

    async function secondEnd(codes) {
      const other = description.can.data
        ? await source.example({ seed: description.start.seeds[1] })
        : description.can.sample
          ? await source.sample(1)
          : { codes };
      interpolation.begin(codes, other.codes);
    }

    const fresh = h("button", { class: "fresh", hidden: true, onclick: open }, "New weights: show them");
    live = description.can.live
      ? makeLive(source, description.shape, () => {
          if (explorer.isTouched()) fresh.hidden = false;
          else open();
        })
      : null;
    root.replaceChildren(
      problem.element,
      heading(description, links),
      h(
        "div",
        { class: "run" },
        h("div", { class: "left" }, explorer.pictures, fresh, start.element, nearest?.element, interpolation.element),
        h("div", { class: "right" }, columnTitles(), explorer.rows),
      ),
      h("div", { class: "below" }, heatmap?.element, pad?.element),
      ...(live ? [live.element] : []),
    );
    if (kept?.image && description.can.encode) encodeAgain().catch((error) => problem.show(error.message));
    else start.begin(fromAddress("image")?.split(",").map(Number));

    async function encodeAgain() {
      const [, height, width] = description.shape;
      const { codes } = await source.encode({ rgba: kept.image, width, height });
      begin({ ...kept, codes });
    }
  }

  open();
  return () => {
    ended = true;
    live?.stop();
  };
}

/** Return the heading of a run: its title, and facts in small print. */
export function heading(description, links = []) {
  const facts = (description.facts ?? []).map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, text)));
  return h(
    "header",
    { class: "heading" },
    h("div", { class: "title" }, h("h1", {}, description.title), links),
    facts.length ? folded(h("dl", { class: "facts" }, facts)) : null,
    description.hint ? h("p", { class: "hint" }, description.hint) : null,
    description.note ? h("p", { class: "hint" }, `The data is not available: ${description.note}`) : null,
  );
}

/** Return facts that are folded where the window is narrow, so that pictures come first. */
function folded(facts) {
  const wide = matchMedia("(min-width: 40rem)");
  const element = h("details", { class: "about", open: wide.matches }, h("summary", {}, "About this run"), facts);
  wide.addEventListener("change", () => (element.open = wide.matches));
  return element;
}

function columnTitles() {
  return h(
    "div",
    { class: "columns", "aria-hidden": "true" },
    ["Latents", "Traversal: point at a picture, click it, or move the slider", "∂x/∂z"].map((title) => h("span", {}, title)),
  );
}
