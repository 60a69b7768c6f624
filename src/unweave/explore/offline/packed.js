// Bytes that are stored in the file itself: compressed, as base64, in an element with an id.

/** Return whether there is such an element. */
export function has(id) {
  return document.getElementById(id) !== null;
}

/** Return the bytes of an element; the element is removed, since its text can be several megabytes. */
export async function unpack(id) {
  const element = document.getElementById(id);
  const text = atob(element.textContent);
  element.remove();
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
