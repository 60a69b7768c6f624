// The state of a view in the address, after # and ?, so that a link is a view.

/** Return the parts of the address: [view, names] before the question mark. */
export function route() {
  const [path] = location.hash.slice(1).split("?");
  return path.split("/").slice(1);
}

/** Return the value of a name in the address, null if it is not there. */
export function fromAddress(name) {
  return new URLSearchParams(location.hash.split("?")[1] ?? "").get(name);
}

/** Write values into the address without a new entry in the history; null and "" remove a name. */
export function toAddress(values) {
  const [path, query] = (location.hash || "#/").split("?");
  const all = new URLSearchParams(query ?? "");
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") all.delete(name);
    else all.set(name, value);
  }
  const text = all.toString();
  history.replaceState(null, "", text ? `${path}?${text}` : path);
}
