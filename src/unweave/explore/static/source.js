// A source is where a run view gets its pictures from. The run view talks to nothing else, so that the same view works
// on a server (server-source.js) and in a file without one.
//
// Pictures are RGBA bytes, row by row, in a Uint8ClampedArray: n pictures of H × W take n·H·W·4 bytes.
// Codes are a Float32Array of n rows of D values, in the order of the latents of the model (not in order of importance).
//
// source.describe() → Promise<{
//   name,                      the name of the run
//   title,                     for the heading, as in "qlae on rooms3d"
//   data,                      what identifies the data of the run
//   facts,                     [[label, text]…] below the heading
//   shape: [C, H, W],
//   order,                     what importance measures: "KL", "entropy" or "standard deviation"
//   latents: [{
//     index,                   column of the codes
//     low, high,               the range of the slider
//     levels,                  increasing values of a quantised latent, or null
//     importance,              the list is sorted by it, largest first
//     factor, certainty,       the name of the factor it follows, and I(z; f) / H(f) above chance; null if it follows none
//     chance, weak,            what permuted codes score, and whether it follows the factor only a little
//     active                   false where the latent carries (almost) no information
//   }…],
//   factors: [{name, size, kind}…] or null,
//   mutualInformation: number[D][K] or null,     by column of the codes: I(z; f) / H(f) above chance, 0 where not above
//   follows: {factors, share, chance, unfollowed} or null,  the same for factors that are on no grid as well
//   start: {codes: number[D], seeds: [a, b]},    where to start: at the codes if can.data is false, else at example a;
//                                                b is the far end of the first walk
//   note, hint,                sentences for the heading, or ""
//   can: {encode, decode, data, sample, jacobian, live}  booleans; where one is false, its methods are absent
// }>
// source.decode(codes, n) → Promise<Uint8ClampedArray>            n pictures
// source.encode(image) → Promise<{codes, image}>                  can.encode; takes a File, or {rgba, width, height};
//                                                                 returns the picture as the model sees it
// source.example({factors} | {seed}) → Promise<{codes, image, factors}>   can.data; the picture of given factors, or a
//                                                                 random one; factors is null where there are none
// source.sample(seed) → Promise<{codes, image}>                   can.sample; a random code and its picture
// source.factorStrip(factor, factors) → Promise<{image, n, values, codes}>  can.data; n pictures in which one factor moves;
//                                                                 codes only if they start from another image, its codes
// source.movable(factors) → boolean[K]                            only where not every image is there: which factors can
//                                                                 be moved from an image
// source.alongLatent(latent) → Promise<{image, n, values}>         can.data without can.decode; n pictures of the data,
//                                                                 from the lowest to the highest value of the latent
// source.nearest(codes) → Promise<{image, n, distances}>            can.data; n pictures of a sample of the data whose codes
//                                                                 are closest to one code
// source.byValue(latent, factor) → Promise<[[value, count, q5, q25, q50, q75, q95]…]>  factors; the distribution of the
//                                                                 latent given each value of the factor, by their indices
// source.jacobian(codes) → Promise<Float32Array>                  can.jacobian; D signed pictures of H × W values: the
//                                                                 derivative by each latent, of the strongest channel
// source.progress() → Promise<{state, step, steps, secondsLeft, checkpoint, curves: [{name, title, points: [[step, value]…]}…],
//                              psnr, error, traceback, title, configuration, label, labelled,
//                              commands: [[what, command]…]}>     can.live; labelled is whether the label can be changed
// source.label(label) → Promise<label>                             can.live; give the run a label, "" for none
// source.reconstructions() → Promise<{image, n}>                  can.live; n pictures, then their n reconstructions
//
// A method rejects with an Error whose message can be shown to the reader.

/** Return codes (n × D) in which one latent takes each of the values, and the others those of a code. */
export function traversal(code, latent, values) {
  const codes = new Float32Array(values.length * code.length);
  values.forEach((value, row) => {
    codes.set(code, row * code.length);
    codes[row * code.length + latent] = value;
  });
  return codes;
}

const MOST_LEVELS = 10; // of a quantised latent, that a strip shows completely
const FEW = 6; // below so many frames, a strip has no room for more

/** Return the values that a latent takes in a strip: its levels, or n values evenly spaced over its range. */
export function stripValues(latent, n) {
  if (latent.levels) {
    const count = latent.levels.length;
    if (count <= (n < FEW ? n : Math.max(n, MOST_LEVELS))) return [...latent.levels];
    return Array.from({ length: n }, (_, i) => latent.levels[Math.round((i * (count - 1)) / (n - 1))]);
  }
  return Array.from({ length: n }, (_, i) => latent.low + ((latent.high - latent.low) * i) / (n - 1));
}

/** Return latents in the order of the factors that they follow, the one that tells most first; the others come last. */
export function orderedByFactor(latents, factors) {
  const names = factors.map((factor) => factor.name);
  const place = (latent) => (latent.factor ? names.indexOf(latent.factor) : names.length);
  return [...latents].sort((a, b) => place(a) - place(b) || (b.certainty ?? 0) - (a.certainty ?? 0));
}

/** Return the closest value that a latent can take. */
export function nearest(latent, value) {
  if (!latent.levels) return Math.min(latent.high, Math.max(latent.low, value));
  return latent.levels.reduce((best, level) => (Math.abs(level - value) < Math.abs(best - value) ? level : best));
}

/** Return the code that lies a share t of the way from one code to another; quantised latents take their nearest level. */
export function between(latents, a, b, t) {
  const code = new Float32Array(a.length);
  for (const latent of latents) {
    const i = latent.index;
    const value = a[i] + t * (b[i] - a[i]);
    code[i] = latent.levels ? nearest(latent, value) : value;
  }
  return code;
}
