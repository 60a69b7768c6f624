// Watch a run train: its progress, its curves, and reconstructions from the last checkpoint.
import { makeStrip, paintStrip } from "unweave/canvas";
import { makeTerms } from "unweave/curves";
import { duration, h, notice } from "unweave/element";

const PAUSE = 2000; // milliseconds between two looks at a run in training

/** Make the panel; onCheckpoint(version) is called with each new version of the weights. It stops when it is removed. */
export function makeLive(source, shape, onCheckpoint) {
  const problem = notice();
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the training" });
  const status = h("p", { class: "status", role: "status" });
  const curves = makeTerms();
  const pictures = h("div", { class: "reconstructions" });
  const about = h("div", { class: "record" });
  const element = h(
    "section",
    { class: "live" },
    h("h2", {}, "Training"),
    status,
    bar,
    pictures,
    curves.element,
    problem.element,
    about,
  );
  let checkpoint = null;
  let stopped = false;

  async function look() {
    let running = true;
    try {
      const now = await source.progress();
      running = now.state === "running";
      show(now);
      if (now.checkpoint !== checkpoint) {
        const first = checkpoint === null;
        checkpoint = now.checkpoint;
        if (checkpoint !== "0") {
          if (running) await reconstruct();
          if (!first) onCheckpoint(checkpoint);
        }
      }
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
    if (running && !stopped) setTimeout(look, PAUSE);
  }

  function show(now) {
    const left = now.secondsLeft === null ? "" : `, about ${duration(now.secondsLeft)} left`;
    const said =
      now.state === "running"
        ? `Step ${now.step.toLocaleString("en")} of ${now.steps.toLocaleString("en")}${left}`
        : now.state === "failed"
          ? "This run failed"
          : `This run is ${now.state}`;
    status.textContent = now.error ? `${said}: ${now.error}` : said;
    bar.value = now.steps ? now.step / now.steps : 0;
    bar.hidden = now.state !== "running";
    element.dataset.state = now.state;
    element.dataset.step = now.step;
    curves.show(now.curves);
    if (now.configuration && about.dataset.state !== now.state) {
      about.dataset.state = now.state; // on which the commands depend
      about.replaceChildren(...makeRecord(source, now));
    }
  }

  async function reconstruct() {
    const size = shape ?? (await source.describe()).shape;
    const [, height, width] = size;
    const { image, n } = await source.reconstructions();
    const strips = ["Images", "Reconstructions from the last checkpoint"].map((title, row) => {
      const strip = makeStrip(title, n, size);
      paintStrip(strip, image, width, height, row * n);
      return h("figure", {}, h("figcaption", {}, title), strip);
    });
    pictures.replaceChildren(...strips);
  }

  look();
  return { element, stop: () => (stopped = true) };
}

/** Return what repeats a run: its label, commands to copy, its configuration, and the traceback if it failed. */
function makeRecord(source, { commands, configuration, traceback, label, labelled }) {
  const lines = commands.map(([what, command]) => {
    const copy = h("button", { class: "small", "aria-label": `Copy the command to ${what}`, onclick: () => copyText(command, copy) }, "Copy");
    return h("div", {}, h("dt", {}, what), h("dd", {}, h("code", {}, command), " ", copy));
  });
  const folded = (title, text, open) => h("details", { open }, h("summary", {}, title), h("pre", { class: "traceback", tabindex: 0 }, text));
  return [
    h("h2", {}, "Commands"),
    ...(labelled ? [makeLabel(source, label)] : []),
    h("dl", { class: "commands" }, lines),
    traceback ? folded("Traceback", traceback, true) : "",
    folded("Configuration", JSON.stringify(configuration, null, 2), false),
  ];
}

/** Return a field for the label of a run. */
function makeLabel(source, label) {
  const said = h("span", { role: "status" });
  const field = h("input", { type: "text", value: label, maxlength: 80, "aria-label": "Label of this run" });
  async function change(event) {
    event.preventDefault();
    try {
      const kept = await source.label(field.value);
      field.value = kept;
      said.textContent = kept ? `This run is now called ${kept}.` : "This run has no label now.";
    } catch (error) {
      said.textContent = error.message;
    }
  }
  return h("form", { class: "label-form", onsubmit: change }, h("span", {}, "label"), field, h("button", { class: "small" }, "Save"), said);
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it by hand"; // the page is not served by this machine
  }
}
