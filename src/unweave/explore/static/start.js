// Choose the picture to start from: one of the data by its factors, one's own, or a random code.
import { h, notice, words } from "unweave/element";
import { latest } from "unweave/latest";
import { makeTabs } from "unweave/tabs";

/** Make the controls; onStart({codes, image, factors}) is called with each new picture. */
export function makeStart(source, description, onStart) {
  const { can, factors } = description;
  const problem = notice();
  let asked = 0; // requests, of which a late answer must not move the sliders back
  const request = latest(async (load) => {
    const number = asked;
    const picture = { factors: null, ...(await load()) };
    if (number === asked && picture.factors) {
      const movable = source.movable?.(picture.factors);
      sliders.forEach((slider, k) => slider.show(picture.factors[k], movable?.[k] ?? true));
    }
    await onStart(picture);
  }, problem.show);
  const panels = [];
  let sliders = [];

  if (can.data) {
    sliders = (factors ?? []).map((factor) => makeFactor(factor, chosen));
    const random = h("button", { onclick: randomExample }, "Random image");
    panels.push([
      "From the data",
      h(
        "div",
        { class: "factors" },
        sliders.map((s) => s.element),
        random,
        source.movable ? h("p", { class: "hint" }, "This file contains some images of the data: factors move one at a time. Where a slider is grey, the image that it would lead to is not inside: move the other factor back, or choose another image.") : null,
      ),
    ]);
  }
  if (can.encode) panels.push(["Your own", makeUpload(description, upload)]);
  if (can.sample) {
    const again = h("button", { onclick: sample }, "Sample a code");
    panels.push(["Random code", h("div", {}, h("p", { class: "hint" }, "A random code, not from an image."), again)]);
  }

  function ask(load) {
    asked += 1;
    request(load);
  }

  function chosen() {
    const values = sliders.map((slider) => slider.value());
    ask(() => source.example({ factors: values }));
  }

  function randomExample() {
    ask(() => source.example({ seed: seed() }));
  }

  function sample() {
    ask(() => source.sample(seed()));
  }

  function upload(file) {
    ask(() => source.encode(file));
  }

  const tabs = makeTabs("Where the start image comes from", panels);
  const element = h("section", { class: "start", "aria-label": "Start image" }, tabs, problem.element);
  listenAnywhere(element, (file) => can.encode && upload(file));
  return {
    element,
    /** Load the first picture, or the one of given factors. */
    begin(wanted) {
      const known = wanted?.length === factors?.length && wanted?.every((v, k) => Number.isInteger(v) && v >= 0 && v < factors[k].size);
      if (can.data && known) ask(() => source.example({ factors: wanted }));
      else if (can.data) ask(() => source.example({ seed: description.start.seeds[0] }));
      else if (description.start) ask(async () => ({ codes: Float32Array.from(description.start.codes), image: null }));
    },
  };
}

/** Call onFile with a picture that is dropped or pasted anywhere on the page, while an element is on it. */
function listenAnywhere(element, onFile) {
  const controller = new AbortController();
  const listen = (kind, act) =>
    addEventListener(
      kind,
      (event) => {
        if (element.isConnected) act(event);
        else controller.abort();
      },
      { signal: controller.signal },
    );
  listen("dragover", (event) => event.preventDefault());
  listen("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) onFile(event.dataTransfer.files[0]);
  });
  listen("paste", (event) => event.clipboardData?.files.length && onFile(event.clipboardData.files[0]));
}

function seed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}

function makeFactor(factor, onChange) {
  const output = h("output", {});
  const slider = h("input", {
    type: "range",
    class: factor.size <= 24 ? "stepped" : "",
    min: 0,
    max: factor.size - 1,
    step: 1,
    "aria-label": words(factor.name),
    disabled: factor.size < 2,
    oninput: () => {
      output.textContent = slider.value;
      onChange();
    },
  });
  slider.style.setProperty("--steps", factor.size - 1);
  return {
    element: h("label", { class: "factor" }, h("span", {}, words(factor.name)), slider, output),
    value: () => slider.valueAsNumber,
    show(value, movable) {
      slider.value = value;
      slider.disabled = factor.size < 2 || !movable;
      output.textContent = value;
    },
  };
}

function makeUpload(description, onFile) {
  const [, height, width] = description.shape;
  const input = h("input", {
    type: "file",
    accept: "image/png,image/jpeg,image/webp,image/gif,image/bmp",
    "aria-label": "A picture of your own",
    onchange: () => input.files.length && onFile(input.files[0]),
  });
  return h(
    "div",
    {},
    h("p", { class: "hint" }, `The centre is scaled to ${width} × ${height}. You can also drop or paste a picture anywhere on this page.`),
    input,
  );
}
