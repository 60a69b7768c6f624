// Between pictures of the page (RGBA bytes) and images of the model (channels first).

/** Return RGBA bytes of n images (n, C, H, W) with values in [0, 1]; of many channels the first three. */
export function rgbaOfFloats(values, n, [channels, height, width]) {
  const pixels = height * width;
  return fill(n * pixels, channels, (i, c) => {
    const image = Math.floor(i / pixels);
    return Math.round(values[(image * channels + c) * pixels + (i % pixels)] * 255);
  });
}

/** Return RGBA bytes of some rows of images (N, H, W, C) of bytes. */
export function rgbaOfBytes(bytes, rows, [channels, height, width]) {
  const pixels = height * width;
  return fill(rows.length * pixels, channels, (i, c) => {
    const row = rows[Math.floor(i / pixels)];
    return bytes[(row * pixels + (i % pixels)) * channels + c];
  });
}

function fill(pixels, channels, value) {
  const rgba = new Uint8ClampedArray(4 * pixels);
  for (let i = 0; i < pixels; i += 1) {
    for (let c = 0; c < 3; c += 1) {
      if (channels === 1) rgba[4 * i + c] = value(i, 0);
      else if (c < channels) rgba[4 * i + c] = value(i, c);
    }
    rgba[4 * i + 3] = 255;
  }
  return rgba;
}

/** Return a picture, a File or {rgba, width, height}, as RGBA bytes of the model's size: its centre, scaled. */
export async function toPixels(image, [channels, height, width]) {
  const bitmap = await bitmapOf(image);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "black"; // behind transparent pixels, as in training data
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  const scale = Math.max(width / bitmap.width, height / bitmap.height);
  const [w, h] = [bitmap.width * scale, bitmap.height * scale];
  context.drawImage(bitmap, (width - w) / 2, (height - h) / 2, w, h);
  bitmap.close();
  const rgba = context.getImageData(0, 0, width, height).data;
  if (channels === 1) {
    for (let i = 0; i < rgba.length; i += 4) {
      const grey = 0.299 * rgba[i] + 0.587 * rgba[i + 1] + 0.114 * rgba[i + 2];
      rgba[i] = rgba[i + 1] = rgba[i + 2] = grey;
    }
  }
  return rgba;
}

async function bitmapOf(image) {
  try {
    const bitmap = image instanceof Blob ? image : new ImageData(new Uint8ClampedArray(image.rgba), image.width, image.height);
    return await createImageBitmap(bitmap, { colorSpaceConversion: "none" });
  } catch {
    throw new Error("This is not a picture that the browser can read.");
  }
}

/** Return RGBA bytes as the input (1, C, H, W) of an encoder, with values in [0, 1]; channels beyond three are 0. */
export function imageTensor(rgba, [channels, height, width]) {
  const pixels = height * width;
  const values = new Float32Array(channels * pixels);
  for (let c = 0; c < Math.min(3, channels); c += 1) {
    for (let i = 0; i < pixels; i += 1) values[c * pixels + i] = rgba[4 * i + c] / 255;
  }
  return values;
}
