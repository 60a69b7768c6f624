// Animated GIFs of RGBA pictures, with one palette of 256 colours for all of them (GIF89a, LZW).

/**
 * Return n pictures of RGBA bytes as the bytes of a GIF that repeats forever. A pause is in hundredths of a second, and
 * each pixel becomes a square of `times` pixels.
 */
export function makeGif(rgba, n, width, height, pause = 9, times = 1) {
  const common = commonColours(rgba);
  const palette = [...common.values()];
  const nearest = nearestIn(common);
  const out = [];
  const [across, down] = [width * times, height * times];
  const word = (value) => out.push(value & 255, value >> 8);
  out.push(...new TextEncoder().encode("GIF89a"));
  word(across);
  word(down);
  out.push(0xf7, 0, 0); // a palette of 256 colours
  for (let i = 0; i < 256; i += 1) out.push(...(palette[i] ?? [0, 0, 0]));
  out.push(0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0); // repeat forever
  const size = width * height;
  for (let frame = 0; frame < n; frame += 1) {
    out.push(0x21, 0xf9, 4, 0);
    word(pause);
    out.push(0, 0, 0x2c, 0, 0, 0, 0);
    word(across);
    word(down);
    out.push(0, 8);
    const indices = Uint8Array.from({ length: size }, (_, i) => nearest(rgba, 4 * (frame * size + i)));
    const packed = compress(enlarged(indices, width, across, down, times));
    for (let at = 0; at < packed.length; at += 255) {
      const block = packed.slice(at, at + 255);
      out.push(block.length, ...block);
    }
    out.push(0);
  }
  out.push(0x3b);
  return Uint8Array.from(out);
}

/** Return pixels of which each is repeated, across and down. */
function enlarged(pixels, width, across, down, times) {
  const out = new Uint8Array(across * down);
  for (let y = 0, at = 0; y < down; y += 1)
    for (let x = 0; x < across; x += 1, at += 1) out[at] = pixels[Math.floor(y / times) * width + Math.floor(x / times)];
  return out;
}

const key = (rgba, at) => ((rgba[at] >> 3) << 10) | ((rgba[at + 1] >> 3) << 5) | (rgba[at + 2] >> 3);

/** Return up to 256 colours by their cells: the means of the most frequent cells of a grid of 32 levels per channel. */
function commonColours(rgba) {
  const cells = new Map();
  for (let at = 0; at < rgba.length; at += 4) {
    const cell = cells.get(key(rgba, at)) ?? [0, 0, 0, 0];
    for (let c = 0; c < 3; c += 1) cell[c] += rgba[at + c];
    cell[3] += 1;
    cells.set(key(rgba, at), cell);
  }
  const common = [...cells].sort(([, a], [, b]) => b[3] - a[3]).slice(0, 256);
  return new Map(common.map(([cell, [r, g, b, count]]) => [cell, [r, g, b].map((sum) => Math.round(sum / count))]));
}

/** Return a function that gives the index of the colour of a pixel: that of its cell, or else the closest one. */
function nearestIn(common) {
  const palette = [...common.values()];
  const known = new Map([...common.keys()].map((cell, i) => [cell, i]));
  return (rgba, at) => {
    const cell = key(rgba, at);
    if (!known.has(cell)) {
      const distance = ([r, g, b]) => (r - rgba[at]) ** 2 + (g - rgba[at + 1]) ** 2 + (b - rgba[at + 2]) ** 2;
      known.set(cell, palette.reduce((best, colour, i) => (distance(colour) < distance(palette[best]) ? i : best), 0));
    }
    return known.get(cell);
  };
}

/** Return bytes of 8 bits as LZW codes of 9 to 12 bits, lowest bits first. */
function compress(indices) {
  const [clear, end] = [256, 257];
  const out = [];
  let [buffer, bits, size, next] = [0, 0, 9, 258];
  let table = new Map();
  const put = (code) => {
    buffer |= code << bits;
    for (bits += size; bits >= 8; bits -= 8) {
      out.push(buffer & 255);
      buffer >>>= 8;
    }
  };
  put(clear);
  let prefix = indices[0];
  for (const index of indices.subarray(1)) {
    const longer = prefix * 256 + index;
    if (table.has(longer)) {
      prefix = table.get(longer);
      continue;
    }
    put(prefix);
    if (next < 4096) {
      if (next === 1 << size) size += 1;
      table.set(longer, next);
      next += 1;
    } else {
      put(clear);
      [size, next, table] = [9, 258, new Map()];
    }
    prefix = index;
  }
  put(prefix);
  put(end);
  if (bits) out.push(buffer & 255);
  return out;
}
