// Elements from functions: h("p", { class: "note", onclick: … }, "text", child).

/** Make an element; functions become listeners, true and false become attributes that are there or not. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Return a number as a short text, with a true minus sign. */
export function short(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e6) text = size.toLocaleString("en");
  else if (size !== 0 && (size < 0.001 || size >= 1e6)) text = size.toExponential(1);
  else text = size >= 100 ? size.toFixed(0) : size.toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** Return the name of a factor or a setting as words. */
export function words(name) {
  return name.replaceAll("_", " ");
}

/** Return seconds as a duration in its largest unit, as in "3 min"; the format of the command line and reports. */
export function duration(seconds) {
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 59.5 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

/** Return a place for error messages; show("…") fills it, show("") empties it. */
export function notice() {
  const element = h("p", { class: "notice", role: "status", hidden: true });
  return {
    element,
    show(text) {
      element.textContent = text;
      element.hidden = !text;
    },
  };
}

/** Save bytes or a text as a file, as a click on a link does. */
export function save(name, content, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
