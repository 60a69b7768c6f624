// Watch a run train: its progress, its curves, and reconstructions from the last checkpoint.
import { makeStrip, paintStrip } from "unweave/canvas";
import { makeCurves } from "unweave/curves";
import { duration, h, notice } from "unweave/element";

const PAUSE = 2000; // milliseconds between two looks at a run in training

/** Make the panel; onCheckpoint(version) is called with each new version of the weights. It stops when it is removed. */
export function makeLive(source, shape, onCheckpoint) {
  const problem = notice();
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the training" });
  const status = h("p", { class: "status", role: "status" });
  const curves = h("div", {});
  const pictures = h("div", { class: "reconstructions" });
  const about = h("div", { class: "record" });
  const element = h(
    "section",
    { class: "live" },
    h("h2", {}, "Training"),
    status,
    bar,
    pictures,
    curves,
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
        : `This run is ${now.state}`;
    status.textContent = now.error ? `${said}: ${now.error}` : said;
    bar.value = now.steps ? now.step / now.steps : 0;
    bar.hidden = now.state !== "running";
    element.dataset.state = now.state;
    element.dataset.step = now.step;
    curves.replaceChildren(makeCurves(now.curves, now.steps));
    if (!about.children.length && now.configuration) about.append(...makeRecord(now));
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

/** Return what repeats a run: commands to copy, its configuration, and the traceback if it failed. */
function makeRecord({ commands, configuration, traceback }) {
  const lines = commands.map(([what, command]) =>
    h("div", {}, h("dt", {}, what), h("dd", {}, h("code", {}, command), " ", h("button", { class: "small", "aria-label": `Copy the command to ${what}`, onclick: () => navigator.clipboard?.writeText(command) }, "Copy"))),
  );
  return [
    h("h2", {}, "Commands"),
    h("dl", { class: "commands" }, lines),
    traceback ? h("details", { open: true }, h("summary", {}, "Traceback"), h("pre", { class: "traceback", tabindex: 0 }, traceback)) : "",
    h("details", {}, h("summary", {}, "Configuration"), h("pre", { class: "traceback", tabindex: 0 }, JSON.stringify(configuration, null, 2))),
  ];
}
