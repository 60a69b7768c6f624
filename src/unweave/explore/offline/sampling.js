// Random codes from the prior, or from the marginals of the codes over the data.

/** Return a code: each latent from a Gaussian with its mean and deviation, or from its values by their usage. */
export function sampleCode(marginals, seed) {
  const random = generator(seed);
  return Float32Array.from(marginals, ({ mean, std, values, usage }) => {
    if (!values) return mean + std * gaussian(random);
    let rest = random() * usage.reduce((sum, share) => sum + share, 0);
    const index = usage.findIndex((share) => (rest -= share) < 0);
    return values[index < 0 ? usage.length - 1 : index];
  });
}

function gaussian(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Return a function that gives uniform random numbers in [0, 1): the xorshift generator of Marsaglia (2003), 32 bits. */
function generator(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i += 1) next(); // similar seeds give similar numbers at first
  return next;
}
