// The progress of a study: how many runs are done, running, failed and waiting, and the time that is left.
import { duration, h } from "unweave/element";
import { ask } from "unweave/server-source";

const KINDS = [ // states of runs that are counted together, in the order of the bar
  ["done", ["finished"]],
  ["running", ["running"]],
  ["failed", ["failed", "damaged", "other version"]],
  ["waiting", ["not started", "stopped", "interrupted"]],
];

/** Make the bar and its legend; look(states) counts the states of all runs and asks for the time that is left. */
export function makeStudyProgress() {
  const bar = h("div", { class: "study-bar", "aria-hidden": "true" });
  const counts = h("dl", { class: "facts" });
  const left = h("p", { class: "status", role: "status" });
  const element = h("section", { class: "study-progress", "aria-label": "Progress of the study" }, bar, counts, left);

  return {
    element,
    async look(states) {
      const found = KINDS.map(([kind, members]) => [kind, states.filter((state) => members.includes(state)).length]);
      bar.replaceChildren(...found.filter(([, n]) => n).map(([kind, n]) => segment(kind, n)));
      counts.replaceChildren(...found.map(([kind, n]) => h("div", {}, h("dt", {}, h("span", { class: `dot ${kind}` }), kind), h("dd", {}, n.toLocaleString("en")))));
      const { running, waiting } = Object.fromEntries(found);
      const { secondsLeft } = running + waiting ? await ask("api/study") : { secondsLeft: 0 };
      left.textContent = sentence(secondsLeft, running, waiting, states.length);
    },
  };
}

function segment(kind, n) {
  const part = h("span", { class: kind });
  part.style.flexGrow = n;
  return part;
}

function sentence(secondsLeft, running, waiting, total) {
  if (!total) return "";
  if (!running && !waiting) return "No run is running or waiting.";
  if (secondsLeft === null) return "How long the other runs will take is known when one has ended.";
  const workers = running > 1 ? ` with ${running} runs at a time` : "";
  const time = `about ${duration(secondsLeft / Math.max(1, running))}`;
  return running ? `Time left: ${time}${workers}.` : `Nothing is running. The other runs need ${time} of one worker.`;
}
