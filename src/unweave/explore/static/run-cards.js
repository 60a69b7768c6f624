// What a store or a study opens with: each run as a strip of traversals, its method in words, and its scores.
import { makeStrip, paintStrip } from "unweave/canvas";
import { printed, titleOf } from "unweave/columns";
import { h, short } from "unweave/element";
import { settingsOf } from "unweave/methods";
import { serverSource } from "unweave/server-source";

const FIRST = 4; // runs before "show more"
const SCORES = 6; // of one run

/** Make the list; draw(columns, rows) shows the first of the rows. Pictures of a run are asked for once. */
export function makeCards() {
  const list = h("div", { class: "cards" });
  const more = h("button", { class: "quiet", hidden: true, onclick: showMore }, "Show more runs");
  const strips = new Map();
  let asked = Promise.resolve(); // one run is opened at a time
  let most = FIRST;
  let shown = null;

  function showMore() {
    most += FIRST;
    draw(...shown);
  }

  function draw(columns, rows) {
    shown = [columns, rows];
    list.replaceChildren(...rows.slice(0, most).map((row) => makeCard(columns, row)));
    more.hidden = rows.length <= most;
  }

  function makeCard(columns, row) {
    const column = (name) => columns.find((one) => one.name === name);
    const value = (name) => column(name)?.values[row] ?? null;
    const name = columns[0].values[row];
    const recipe = value("recipe");
    const method = recipe ? `${printed(column("recipe"), recipe)} on ${printed(column("data"), value("data"))}` : name;
    const scores = columns
      .filter((one) => (one.kind === "score" || one.name === "psnr") && one.values[row] !== null)
      .slice(0, SCORES)
      .map((one) => h("div", {}, h("dt", {}, titleOf(one)), h("dd", {}, short(one.values[row], 2))));
    const state = value("state");
    const named = value("label") || settingsOf(columns, row).join(" · ");
    const started = state !== "not started";
    const link = { failed: "see what happened", damaged: "see what happened", running: "watch it train" }[state] ?? "move the latents";
    return h(
      "article",
      { class: "card", "data-run": name },
      h(
        "header",
        {},
        h("h2", {}, method),
        h("span", { class: "hint" }, [named, state === "finished" ? "" : state].filter(Boolean).join(" · ")),
        ...(started ? [h("a", { href: `#/run/${encodeURIComponent(name)}` }, link)] : []),
      ),
      h("p", { class: "hint" }, column("recipe")?.words?.[recipe] ?? ""),
      h("dl", { class: "facts" }, scores),
      ...(started ? [stripOf(name, value("step"), state)] : []),
    );
  }

  function stripOf(name, step, state) {
    const key = `${name} ${step} ${state}`;
    if (!strips.has(key)) {
      const place = h("div", { class: "preview" }, h("p", { class: "hint" }, "…"));
      strips.set(key, place);
      asked = asked.then(() => load(name, place));
    }
    return strips.get(key);
  }

  async function load(name, place) {
    if (!list.isConnected) return;
    try {
      const { image, latents, n, shape } = await serverSource(name).strip();
      const each = n / latents.length;
      const groups = latents.map((latent, i) => {
        const strip = makeStrip(`Pictures along z${latent} of ${name}`, each, shape);
        paintStrip(strip, image, shape[2], shape[1], i * each);
        return h("figure", {}, strip, h("figcaption", {}, `z${latent}`));
      });
      place.replaceChildren(...groups);
    } catch (error) {
      place.replaceChildren(h("p", { class: "hint" }, error.status === 409 ? "No pictures yet." : error.message));
    }
  }

  return { element: h("section", { class: "runs", "aria-label": "Runs" }, list, more), draw };
}
