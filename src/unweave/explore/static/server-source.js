// The source of a run that a server has opened; see source.js for what a source does.

const MOST_CODES = 512; // in one request

/** Return the JSON at an address of the server, or throw an Error with the sentence that the server gave. */
export async function ask(path, options = {}) {
  const answer = await send(path, options);
  return answer.json();
}

async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is unweave explore still running?");
  }
  if (!answer.ok) {
    let sentence = `The server answered ${answer.status}.`;
    try {
      sentence = (await answer.json()).error;
    } catch {
      // not JSON
    }
    throw Object.assign(new Error(sentence), { status: answer.status });
  }
  return answer;
}

/** Return the source of a run by its name. */
export function serverSource(name) {
  const base = `api/runs/${encodeURIComponent(name)}`;
  const post = (path, body) => send(`${base}/${path}`, { method: "POST", body });
  const bytes = async (path, body) => (await post(path, body)).arrayBuffer();

  async function framed(answer) {
    const buffer = await (await answer).arrayBuffer();
    const length = new DataView(buffer).getUint32(0, true);
    const fields = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    if (fields.codes) fields.codes = Float32Array.from(fields.codes);
    return { ...fields, image: new Uint8ClampedArray(buffer, 4 + length) };
  }

  return {
    describe: () => ask(base),
    async decode(codes, n) {
      if (n <= MOST_CODES) return new Uint8ClampedArray(await bytes("decode", codes));
      const half = Math.floor(n / 2);
      const at = (half * codes.length) / n;
      const [a, b] = [await this.decode(codes.slice(0, at), half), await this.decode(codes.slice(at), n - half)];
      const both = new Uint8ClampedArray(a.length + b.length);
      both.set(a);
      both.set(b, a.length);
      return both;
    },
    encode(image) {
      if (image instanceof Blob) return framed(post("encode", image));
      return framed(post(`encode?width=${image.width}&height=${image.height}`, image.rgba));
    },
    example: (wanted) => framed(post("example", JSON.stringify(wanted))),
    sample: (seed) => framed(post("sample", JSON.stringify({ seed }))),
    async factorStrip(factor, factors) {
      const strip = await framed(post("factor", JSON.stringify({ factor, factors })));
      return { ...strip, n: strip.values.length };
    },
    async alongLatent(latent) {
      const strip = await framed(post("latent", JSON.stringify({ latent })));
      return { ...strip, n: strip.values.length };
    },
    jacobian: async (codes) => new Float32Array(await bytes("jacobian", codes)),
    async nearest(codes) {
      const found = await framed(post("nearest", codes));
      return { ...found, n: found.distances.length };
    },
    byValue: async (latent, factor) => (await ask(`${base}/values?latent=${latent}&factor=${factor}`)).values,
    label: async (label) => (await (await post("label", JSON.stringify({ label }))).json()).label,
    progress: () => ask(`${base}/progress`),
    strip: () => framed(send(`${base}/strip`, {})),
    reconstructions: () => framed(send(`${base}/reconstructions`, {})),
  };
}
