// The source of a run that is stored in the file itself; see source.js for what a source does. The model is computed
// by onnxruntime-web. Images of the data were chosen when the file was written.
import { InferenceSession, Tensor, env } from "onnxruntime-web";
import { exampleAlong, stripOf, stripStart } from "unweave/offline-examples";
import { has, unpack } from "unweave/packed";
import { imageTensor, rgbaOfBytes, rgbaOfFloats, toPixels } from "unweave/pixels";
import { sampleCode } from "unweave/sampling";

const NEAREST = 6; // images closest to a code
const CHUNK = 8; // pictures that are decoded at a time, so that a slider never waits for long
const STEP = 0.00002; // of a latent’s range, for derivatives: small beside the kinks of ReLUs, large beside rounding

/** Unpack the model and return its source. */
export async function openSource() {
  Object.assign(env.wasm, { wasmBinary: (await unpack("wasm")).buffer, numThreads: 1, proxy: false });
  const { description, marginals, examples, byValue } = JSON.parse(new TextDecoder().decode(await unpack("material")));
  const decoder = await openSession("decoder");
  const encoder = has("encoder") ? await openSession("encoder") : null;
  const pictures = examples ? await unpack("images") : null;
  const [channels, height, width] = description.shape;
  const size = description.latents.length;
  const inOrder = oneAtATime();
  let last = null; // the factors of the last example

  async function floats(codes, n) {
    const values = new Float32Array(n * channels * height * width);
    for (let first = 0; first < n; first += CHUNK) {
      const rows = Math.min(CHUNK, n - first);
      const part = new Tensor("float32", codes.slice(first * size, (first + rows) * size), [rows, size]);
      const { images } = await inOrder(() => decoder.run({ codes: part }));
      values.set(images.data, first * channels * height * width);
    }
    return values;
  }

  const decode = async (codes, n) => rgbaOfFloats(await floats(codes, n), n, description.shape);

  function example(row) {
    last = examples.factors?.[row] ?? null;
    return { codes: Float32Array.from(examples.codes[row]), image: rgbaOfBytes(pictures, [row], description.shape), factors: last };
  }

  /** Central differences, of the channel that changes most. */
  async function jacobian(codes) {
    const columns = new Float32Array(size * height * width);
    for (const { index, low, high } of description.latents) {
      const step = STEP * (high - low);
      const both = new Float32Array(2 * size);
      both.set(codes, 0);
      both.set(codes, size);
      both[index] += step;
      both[size + index] -= step;
      const values = await floats(both, 2);
      const pixels = height * width;
      for (let i = 0; i < pixels; i += 1) {
        let strongest = 0;
        for (let c = 0; c < channels; c += 1) {
          const slope = (values[c * pixels + i] - values[(channels + c) * pixels + i]) / (2 * step);
          if (Math.abs(slope) > Math.abs(strongest)) strongest = slope;
        }
        columns[index * pixels + i] = strongest;
      }
    }
    return columns;
  }

  const source = { describe: async () => description, decode, jacobian };
  if (encoder) {
    source.encode = async (image) => {
      const pixels = await toPixels(image, description.shape);
      const tensor = new Tensor("float32", imageTensor(pixels, description.shape), [1, channels, height, width]);
      const { codes } = await inOrder(() => encoder.run({ images: tensor }));
      return { codes: codes.data, image: pixels };
    };
  }
  if (byValue) source.byValue = async (latent, factor) => byValue[latent][factor];
  if (examples) {
    source.nearest = async (codes) => {
      const distances = examples.codes.map((row) => Math.hypot(...row.map((value, i) => value - codes[i])));
      const rows = [...distances.keys()].sort((a, b) => distances[a] - distances[b]).slice(0, NEAREST);
      return { image: rgbaOfBytes(pictures, rows, description.shape), n: rows.length, distances: rows.map((row) => distances[row]) };
    };
    source.example = async ({ factors, seed }) =>
      example(factors ? exampleAlong(examples.factors, description.factors, factors, last) : examples.roots[seed % examples.roots.length]);
    if (examples.factors) {
      source.movable = (factors) => description.factors.map((_, axis) => stripOf(examples, axis, factors).length > 1);
      source.factorStrip = async (name, factors) => {
        const axis = description.factors.findIndex((factor) => factor.name === name);
        const root = stripStart(examples, description.factors, axis, factors);
        const rows = stripOf(examples, axis, examples.factors[root]);
        const strip = { image: rgbaOfBytes(pictures, rows, description.shape), n: rows.length, values: rows.map((row) => examples.factors[row][axis]) };
        const same = examples.factors[root].every((value, k) => value === factors[k]);
        return same ? strip : { ...strip, codes: Float32Array.from(examples.codes[root]) };
      };
    }
  }
  if (marginals) {
    source.sample = async (seed) => {
      const codes = sampleCode(marginals, seed);
      return { codes, image: await decode(codes, 1) };
    };
  }
  return source;
}

async function openSession(id) {
  return InferenceSession.create(await unpack(id), { executionProviders: ["wasm"] });
}

/** Return a function that runs asynchronous work in the order in which it was asked for, one after another. */
function oneAtATime() {
  let before = Promise.resolve();
  return (work) => {
    const after = before.then(async () => {
      await new Promise((resolve) => setTimeout(resolve)); // let the page answer to its reader first
      return work();
    });
    before = after.catch(() => {});
    return after;
  };
}
