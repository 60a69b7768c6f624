// Panels of which one is shown, chosen by radio buttons that look like tabs.
import { h } from "unweave/element";

/** Make the tabs of [[title, panel]…]; onChoose(index) is called with the one that is chosen. */
export function makeTabs(label, panels, { first = 0, onChoose = () => {} } = {}) {
  const group = `tabs-${Math.random().toString(36).slice(2)}`;
  const boxes = panels.map(([, panel], i) => h("div", { class: "panel", hidden: i !== first }, panel));
  const tabs = panels.map(([title], i) => {
    const radio = h("input", {
      type: "radio",
      name: group,
      checked: i === first,
      onchange: () => {
        boxes.forEach((box, k) => (box.hidden = k !== i));
        onChoose(i);
      },
    });
    return h("label", { class: "tab" }, radio, h("span", {}, title));
  });
  return h("div", {}, h("div", { class: "tabs", role: "radiogroup", "aria-label": label }, tabs), boxes);
}
