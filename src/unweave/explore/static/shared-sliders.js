// One set of sliders for several runs on the same data: each moves, in every run, the latent that follows one factor.
import { h, short, words } from "unweave/element";
import { nearest } from "unweave/source";

const STEPS = 200;
const MOST = 24; // rows

/** Make the rows; join(explorers) gives them the runs. */
export function makeSharedSliders(descriptions) {
  const rows = matched(descriptions).slice(0, MOST).map(makeRow);
  const waiting = new Set(descriptions.keys()); // runs whose strips were not drawn yet
  let runs = [];

  function makeRow({ factor, latents }) {
    const name = factor === null ? "other latents" : words(factor);
    const slider = h("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": `${name}: ${latents.map((latent) => (latent ? `z${latent.index}` : "none")).join(", ")}`, oninput: () => move(row, slider.valueAsNumber / STEPS) });
    const places = latents.map(() => h("div", { class: "shared-strip" }));
    const row = { latents, slider, places, turned: latents.map(() => false) };
    row.element = h("div", { class: "shared-row" }, h("div", { class: "shared-label" }, h("span", { class: factor === null ? "factor" : "name" }, name), slider), places);
    return row;
  }

  /** Move all latents of a row to a share of their ranges; the run at an index has moved already. */
  function move(row, share, but = -1) {
    row.latents.forEach((latent, i) => {
      if (latent && i !== but) runs[i].show(latent.index, valueAt(latent, row.turned[i] ? 1 - share : share));
    });
  }

  function shareOf(row, i) {
    const latent = row.latents[i];
    const value = runs[i].code()[latent.index];
    const share = latent.levels
      ? latent.levels.indexOf(nearest(latent, value)) / Math.max(1, latent.levels.length - 1)
      : (nearest(latent, value) - latent.low) / (latent.high - latent.low);
    return row.turned[i] ? 1 - share : share;
  }

  function refresh() {
    for (const row of rows) row.slider.value = STEPS * shareOf(row, row.latents.findIndex(Boolean));
  }

  /** Turn around the strips that run the other way than that of the first run, by their first and last pictures. */
  function orient() {
    const changed = new Set();
    for (const row of rows) {
      const first = row.latents.findIndex(Boolean);
      row.latents.forEach((latent, i) => {
        if (!latent || i === first) return;
        const [a, b] = [runs[first].row(row.latents[first].index).ends, runs[i].row(latent.index).ends];
        if (apart(a[0], b[1]) + apart(a[1], b[0]) >= apart(a[0], b[0]) + apart(a[1], b[1])) return;
        row.turned[i] = true;
        runs[i].row(latent.index).turn();
        row.places[i].dataset.turned = "";
        changed.add(i);
      });
    }
    for (const i of changed) runs[i].refresh();
    refresh();
  }

  return {
    element: h("section", { class: "shared-rows", "aria-label": "Latents of all runs" }, rows.map((row) => row.element)),
    join(explorers) {
      runs = explorers;
      for (const row of rows) {
        row.latents.forEach((latent, i) => {
          if (latent) row.places[i].append(runs[i].row(latent.index).strip, captionOf(latent, descriptions[i]));
          else row.places[i].append(h("p", { class: "hint" }, "no latent is left"));
        });
      }
    },
    /** Follow a run one of whose latents was moved by a click on a picture. */
    moved(i, latent) {
      const row = rows.find((one) => one.latents[i]?.index === latent.index);
      if (!row) return;
      row.slider.value = STEPS * shareOf(row, i);
      move(row, shareOf(row, i), i);
    },
    /** Note that the strips of a run were drawn. */
    drawn(i) {
      if (waiting.delete(i) && !waiting.size) orient();
    },
    refresh,
  };
}

/** Return which latents of runs belong together: {factor, latents}, null where a run has none. Exported for tests. */
export function matched(descriptions) {
  const factors = descriptions[0].factors ?? [];
  const byFactor = descriptions.map((description) => assigned(description, factors.length));
  const rows = factors
    .map((factor, k) => ({ factor: factor.name, latents: byFactor.map((found) => found[k]) }))
    .filter(({ factor, latents }) => latents.some((latent) => latent?.factor === factor)); // some run tells it
  const rest = descriptions.map(({ latents }, i) => latents.filter((latent) => latent.active && !rows.some((row) => row.latents[i] === latent)));
  for (let place = 0; rest.some((latents) => place < latents.length); place += 1)
    rows.push({ factor: null, latents: rest.map((latents) => latents[place] ?? null) });
  return rows;
}

/** Return the latent of each factor, each latent once: the largest shares of information come first. */
function assigned({ latents, mutualInformation }, count) {
  const found = Array.from({ length: count }, () => null);
  const pairs = latents.flatMap((latent) => found.map((_, k) => [mutualInformation?.[latent.index][k] ?? 0, latent, k]));
  for (const [share, latent, k] of pairs.sort((a, b) => b[0] - a[0])) {
    if (share <= 0 || found[k] || found.includes(latent)) continue;
    found[k] = latent;
  }
  return found;
}

function valueAt(latent, share) {
  if (latent.levels) return latent.levels[Math.round(share * (latent.levels.length - 1))];
  return latent.low + share * (latent.high - latent.low);
}

function captionOf(latent, { title }) {
  const follows = latent.factor ? ` · ${words(latent.factor)} ${short(latent.certainty)}` : "";
  return h("p", { class: "hint" }, h("span", { class: "whose" }, `${title} · `), `z${latent.index}${follows}`);
}

function apart(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] - b[i]) ** 2;
  return sum;
}
