// One row per latent: what it follows, a slider, a strip of pictures along it, and its column of the Jacobian.
import { makeStrip, paintSigned, paintStrip, picture, pointedAt } from "unweave/canvas";
import { h, save, short, words } from "unweave/element";
import { makeGif } from "unweave/gif";
import { nearest, orderedByFactor, stripValues, traversal } from "unweave/source";

const FRAMES = matchMedia("(max-width: 720px)").matches ? 5 : 9; // of a strip, fewer and larger ones on a phone
const SHOWN = 24; // rows before "show all"
const PLAYED = 33; // values of a continuous latent that plays, from end to end
const SAVED = { gif: 160, png: 96 }; // pixels, the least height of a picture that is saved
const PACE = 90; // milliseconds per value

/** Make the rows of all latents; onChange(code, latent) is called when one is moved. */
export function makeLatents(description, onChange, decode) {
  const [, height, width] = description.shape;
  const code = new Float32Array(description.latents.length);
  const rows = description.latents.map((latent) => makeRow(latent, description.shape, (value) => move(latent, value), () => saveGif(latent)));
  const more = h("button", { class: "quiet", onclick: showAll }, `Show all ${rows.length} latents`);
  const element = h(
    "div",
    { class: "latents" },
    rows.map((row) => row.element),
  );
  if (rows.length > SHOWN) {
    for (const row of rows.slice(SHOWN)) row.element.hidden = true;
    element.append(more);
  }
  let ordered = rows;

  function showAll() {
    for (const row of rows) row.element.hidden = false;
    more.remove();
    onChange(code);
  }

  async function saveGif(latent) {
    const values = there(latent);
    const rgba = await decode(traversal(code, latent.index, values), values.length);
    save(`z${latent.index}.gif`, makeGif(rgba, values.length, width, height, latent.levels ? 30 : 9, Math.ceil(SAVED.gif / height)), "image/gif");
  }

  function move(latent, value) {
    code[latent.index] = value;
    onChange(code, latent);
  }

  return {
    element,
    code,
    /** Return the row {latent, values, strip, ends, turn()} of a latent by its index; ends are its outer pictures. */
    row: (index) => rows.find((row) => row.latent.index === index),
    /** Show another value of one latent. */
    show(index, value) {
      code[index] = value;
      rows.find((row) => row.latent.index === index).show(value);
    },
    /** Show a code; latents that are locked keep their values. */
    set(values) {
      for (const row of rows) {
        if (!row.isLocked()) code[row.latent.index] = values[row.latent.index];
        row.show(code[row.latent.index]);
      }
    },
    /** Order the rows by the factor that each latent follows, or by importance. */
    arrange(byFactor) {
      const latents = byFactor ? orderedByFactor(description.latents, description.factors) : description.latents;
      ordered = latents.map((latent) => rows.find((row) => row.latent === latent));
      ordered.forEach((row, i) => (row.element.hidden = more.isConnected && i >= SHOWN));
      element.prepend(...ordered.map((row) => row.element));
    },
    /** Return the strips that are shown as one picture, a canvas with one row per latent. */
    sheet() {
      const shown = ordered.filter((row) => !row.element.hidden);
      const most = Math.max(...shown.map((row) => row.values.length));
      const times = Math.ceil(SAVED.png / height);
      const [across, down, text] = [width * times, height * times, (height * times) / 6];
      const left = 10 * text; // for the names of latents and factors
      const canvas = h("canvas", { width: left + most * (across + 4), height: shown.length * (down + 4) });
      const context = canvas.getContext("2d");
      context.fillStyle = "white";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.fillStyle = "black";
      context.font = `${text}px sans-serif`;
      context.imageSmoothingEnabled = false;
      shown.forEach((row, i) => {
        const top = i * (down + 4);
        const middle = top + down / 2 + text / 3;
        context.fillText(`z${row.latent.index}`, 2, middle);
        context.fillText(words(row.latent.factor ?? ""), 2.5 * text, middle, left - 3 * text);
        [...row.strip.children].forEach((frame, k) => context.drawImage(frame, left + k * (across + 4), top, across, down));
      });
      return canvas;
    },
    /** Set the values that a double click returns to. */
    setStart(values) {
      for (const row of rows) row.setStart(values[row.latent.index]);
    },
    /** Stop the latents that play. */
    stop() {
      for (const row of rows) row.stop();
    },
    /** Return the codes of the strips of all rows that are shown, and a function that paints their pictures. */
    strips() {
      const shown = rows.filter((row) => !row.element.hidden);
      const parts = shown.map((row) => traversal(code, row.latent.index, row.values));
      const codes = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) {
        codes.set(part, at);
        at += part.length;
      }
      const size = 4 * width * height;
      const paint = (rgba) => {
        let first = 0;
        for (const row of shown) {
          paintStrip(row.strip, rgba, width, height, first);
          row.ends = [first, first + row.values.length - 1].map((at) => rgba.slice(at * size, (at + 1) * size));
          first += row.values.length;
        }
      };
      return { codes, n: codes.length / code.length, paint };
    },
    /** Paint the columns of the Jacobian, all with the same contrast. */
    paintJacobian(values) {
      let scale = 0;
      for (const value of values) scale = Math.max(scale, Math.abs(value));
      for (const row of rows)
        paintSigned(row.jacobian, values, row.latent.index * width * height, width, height, scale);
    },
  };
}

/** Return the values of a latent that plays: from end to end and back. */
function there(latent) {
  const path = latent.levels ?? stripValues(latent, PLAYED);
  return [...path, ...path.slice(1, -1).reverse()];
}

function makeRow(latent, shape, onMove, onSave) {
  const [, height, width] = shape;
  const values = stripValues(latent, FRAMES);
  const name = `z${latent.index}`;
  const levels = latent.levels;
  let start = null;
  let timer = null;
  const typed = h("input", {
    type: "number",
    class: "value",
    step: "any",
    "aria-label": `Value of ${name}`,
    onchange: () => Number.isFinite(typed.valueAsNumber) && choose(nearest(latent, typed.valueAsNumber)),
  });
  const slider = h("input", {
    type: "range",
    class: levels ? "stepped" : "",
    min: levels ? 0 : latent.low,
    max: levels ? levels.length - 1 : latent.high,
    step: levels ? 1 : (latent.high - latent.low) / 200,
    title: "Double-click to return to the start image",
    "aria-label": latent.factor ? `Latent ${name}, follows ${words(latent.factor)}${latent.weak ? " weakly" : ""}` : `Latent ${name}`,
    oninput: () => choose(levels ? levels[slider.valueAsNumber] : slider.valueAsNumber),
    ondblclick: () => start !== null && choose(start),
  });
  if (levels) slider.style.setProperty("--steps", levels.length - 1);
  const strip = makeStrip(
    `Pictures along ${name}`,
    values.length,
    shape,
    values.map(titleOf),
  );
  strip.addEventListener("click", (event) => {
    const at = pointedAt(strip, event);
    if (at >= 0) choose(values[at]);
  });
  const jacobian = picture(`Derivative of the picture by ${name}`, "jacobian");
  Object.assign(jacobian, { width, height, title: `∂ picture / ∂ ${name}: orange rises, blue falls` });
  const play = h("button", { class: "small", "aria-pressed": "false", "aria-label": `Play ${name}`, onclick: toggle }, "▶");
  const lock = h(
    "button",
    {
      class: "small",
      "aria-pressed": "false",
      "aria-label": `Lock ${name}`,
      title: "A locked latent keeps its value when another image or code is chosen",
      onclick: () => lock.setAttribute("aria-pressed", String(!isLocked())),
    },
    "Lock",
  );
  const along = h("div", { class: "along" }, strip, slider);
  along.style.setProperty("--n", values.length);
  const element = h(
    "div",
    { class: latent.active ? "latent" : "latent inactive", "data-latent": latent.index },
    h(
      "div",
      { class: "about" },
      h("div", { class: "follows" }, h("span", { class: "name" }, name), follows(latent)),
      h("div", { class: "controls" }, typed, play, lock, h("button", { class: "small", "aria-label": `Save ${name} as GIF`, onclick: onSave }, "GIF")),
    ),
    along,
    jacobian,
  );

  function titleOf(value) {
    return `${name} = ${short(value)}`;
  }

  function isLocked() {
    return lock.getAttribute("aria-pressed") === "true";
  }

  function choose(value) {
    stop();
    take(value);
  }

  function take(value) {
    show(value);
    onMove(value);
  }

  function toggle() {
    if (timer !== null) stop();
    else {
      const played = there(latent);
      let step = played.indexOf(nearest({ ...latent, levels: played }, typed.valueAsNumber || 0));
      timer = setInterval(() => {
        if (!element.isConnected) stop();
        else take(played[(step += 1) % played.length]);
      }, levels ? 4 * PACE : PACE);
      shownAsPlaying(true);
    }
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    shownAsPlaying(false);
  }

  function shownAsPlaying(playing) {
    play.setAttribute("aria-pressed", String(playing));
    play.textContent = playing ? "❚❚" : "▶";
  }

  function show(value) {
    const taken = levels ? nearest(latent, value) : value;
    slider.value = levels ? levels.indexOf(taken) : value;
    typed.value = Number(value.toFixed(3));
    slider.setAttribute(
      "aria-valuetext",
      levels ? `level ${levels.indexOf(taken) + 1} of ${levels.length}` : short(value),
    );
    const closest = values.reduce((best, v, i) => (Math.abs(v - value) < Math.abs(values[best] - value) ? i : best), 0);
    [...strip.children].forEach((frame, i) => frame.classList.toggle("at", i === closest));
  }

  /** Turn the strip around: the highest value comes first. */
  function turn() {
    values.reverse();
    [...strip.children].forEach((frame, i) => (frame.title = titleOf(values[i])));
  }

  return { element, latent, values, strip, jacobian, show, isLocked, stop, turn, setStart: (value) => (start = value) };
}

function follows(latent) {
  if (!latent.factor) return h("span", { class: "factor" }, latent.active ? "" : "not active");
  const share = h("span", { class: "share", title: `I(z; f) / H(f), ${short(latent.certainty)} above a chance of ${short(latent.chance)}` });
  const bar = h("span", { class: "bar" });
  bar.style.width = `${100 * Math.min(1, latent.certainty)}%`;
  share.append(h("span", { class: "track" }, bar), h("span", { class: "number" }, short(latent.certainty)));
  return h("span", { class: latent.weak ? "factor weak" : "factor" }, words(latent.factor), latent.weak ? " (weak)" : "", share);
}
