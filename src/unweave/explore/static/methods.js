// The scores of each method: one panel per score, one row per method, with the median and the quartiles over its runs.
import { jitter, line, plain, range, shortened } from "unweave/axes";
import { isNumeric, printed, titleOf } from "unweave/columns";
import { h, short } from "unweave/element";
import { groups, shape } from "unweave/groups";
import { makePlot } from "unweave/plot";

const ROW = 26; // pixels of a method
const TITLE = 26; // above a panel
const TICKS = 30; // below it
const PANEL = 250; // pixels, the least width of a panel
const LABELS = 230; // pixels for the names of methods, which stand above their rows where the window is narrow
const NARROW = 620;
const MOST = 40; // methods
const SETTINGS = 4; // in the name of a run

/** Make the chart of {columns, rows, name, floors}; onOpen(row) is called when a run is chosen. */
export function makeMethods(onOpen) {
  const plot = makePlot("methods", paint, { onOpen });
  const note = h("p", { class: "hint" });
  return {
    element: h("div", {}, plot.element, note),
    draw({ columns, rows, name, floors }) {
      const methods = methodsOf(columns, rows);
      const shown = methods.slice(0, MOST);
      const scores = scoresOf(columns, rows);
      const place = layout(plot.width(), scores.length, shown.length);
      const more = methods.length > MOST ? ` ${MOST} of ${methods.length} methods are shown: filter to see others.` : "";
      const floor = floors.length ? " Dashed: the noise floor, what permuted codes of a run of the method score." : "";
      note.textContent = scores.length
        ? `One point per run; the box has the quartiles, the line in it is the median.${floor}${more}`
        : "No run that is shown has a score yet.";
      plot.draw({ methods: shown, scores, name, floors, colour: columns.find((column) => column.name === "recipe"), count: shown.length }, place.height);
    },
  };
}

/** Return the methods of rows: recipes with the settings in which their runs differ, seeds apart, on each data set. */
export function methodsOf(columns, rows) {
  const column = (name) => columns.find((one) => one.name === name);
  const [recipe, data] = [column("recipe"), column("data")];
  if (!recipe || !data) return [];
  const several = new Set(rows.map((row) => data.values[row])).size > 1;
  const varied = variedSettings(columns, rows);
  const key = (row) => JSON.stringify([data.values[row], recipe.values[row], ...(varied.get(recipe.values[row]) ?? []).map((setting) => setting.values[row])]);
  const methods = groupBy(rows.filter((row) => recipe.values[row] !== null), key).map((members) => {
    const [first] = members;
    const given = varied.get(recipe.values[first]).filter((setting) => setting.values[first] !== null);
    const parts = [
      printed(recipe, recipe.values[first]),
      ...given.map((setting) => settingText(setting, first)),
      ...(several ? [printed(data, data.values[first])] : []),
    ];
    return { label: parts.join(", "), rows: members, data: data.values[first], recipe: recipe.values[first], order: [data.values[first], recipe.values[first], ...given.map((setting) => setting.values[first])] };
  });
  return methods.sort((a, b) => compared(a.order, b.order));
}

/** Return what a run is called: its label, or its method with the settings in which runs of the method differ, and its seed. */
export function runTitle(columns, row) {
  const column = (name) => columns.find((one) => one.name === name);
  const value = (name) => column(name)?.values[row] ?? null;
  if (value("label") || value("recipe") === null) return value("label") || value("run");
  return [printed(column("recipe"), value("recipe")), ...settingsOf(columns, row)].join(", ");
}

/** Return the settings of a row in which runs of its method differ, and its seed, as texts. */
export function settingsOf(columns, row) {
  const recipe = columns.find((one) => one.name === "recipe")?.values[row] ?? null;
  const seed = columns.find((one) => one.name === "seed")?.values[row] ?? null;
  const given = (allVaried(columns).get(recipe) ?? []).filter((one) => one.values[row] !== null);
  const texts = given.slice(0, SETTINGS).map((one) => settingText(one, row));
  return seed === null ? texts : [...texts, `seed ${seed}`];
}

/** Return the settings in which the runs of each recipe differ, by recipe. */
function variedSettings(columns, rows) {
  const recipe = columns.find((one) => one.name === "recipe");
  const settings = columns.filter((one) => one.kind === "setting");
  const varied = new Map();
  for (const one of recipe ? groupBy(rows, (row) => recipe.values[row]) : []) {
    const differing = settings.filter((setting) => new Set(one.map((row) => setting.values[row])).size > 1);
    const repeated = (setting) => setting.name === "strength" && differing.some((other) => other !== setting && one.every((row) => other.values[row] === setting.values[row]));
    varied.set(recipe.values[one[0]], differing.filter((setting) => !repeated(setting)));
  }
  return varied;
}

const known = new WeakMap(); // of the columns of a table

/** Return the settings in which the runs of each recipe of a whole table differ. */
function allVaried(columns) {
  if (!known.has(columns)) known.set(columns, variedSettings(columns, Array.from(columns[0].values, (_, row) => row)));
  return known.get(columns);
}

/** Return a setting of a row, as in "beta = 0.5". */
function settingText(setting, row) {
  const value = setting.values[row];
  return `${titleOf(setting)} = ${typeof value === "number" ? plain(value) : printed(setting, value)}`;
}

/** Return quantiles of numbers by linear interpolation, as numpy does. */
export function quantiles(numbers, shares) {
  const ordered = [...numbers].sort((a, b) => a - b);
  return shares.map((share) => {
    const at = share * (ordered.length - 1);
    const below = Math.floor(at);
    return ordered[below] + (at - below) * ((ordered[below + 1] ?? ordered[below]) - ordered[below]);
  });
}

/** Draw the quartiles of numbers as a box with the median, from left to right; place(value) is in pixels. */
export function drawBox(context, place, [low, middle, high], top, height) {
  context.strokeRect(place(low), top, Math.max(1, place(high) - place(low)), height);
  context.lineWidth = 2.5;
  line(context, place(middle), top, place(middle), top + height);
  context.lineWidth = 1;
}

function groupBy(rows, key) {
  const found = new Map();
  for (const row of rows) {
    const at = key(row);
    if (!found.has(at)) found.set(at, []);
    found.get(at).push(row);
  }
  return [...found.values()];
}

function compared(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const order = typeof a[i] === "number" && typeof b[i] === "number" ? a[i] - b[i] : String(a[i]).localeCompare(String(b[i]));
    if (order) return order;
  }
  return a.length - b.length;
}

function scoresOf(columns, rows) {
  const there = (column) => isNumeric(column) && rows.some((row) => column.values[row] !== null);
  const scores = columns.filter((column) => column.kind === "score" && there(column));
  return scores.length ? scores : columns.filter((column) => column.name === "psnr" && there(column));
}

/** Return the places of panels: beside the labels, or one below another with the labels above the rows. */
function layout(width, panels, methods) {
  const narrow = width < NARROW;
  const labels = narrow ? 0 : LABELS;
  const across = Math.max(1, Math.min(panels, Math.floor((width - labels) / PANEL)));
  const row = narrow ? ROW + 16 : ROW;
  const tall = TITLE + methods * row + TICKS;
  return { narrow, labels, across, row, tall, wide: (width - labels) / across, height: Math.max(1, Math.ceil(panels / across)) * tall };
}

function paint(context, box, { methods, scores, name, floors, colour }, style) {
  const colours = groups(colour, methods.flatMap((method) => method.rows));
  const place = layout(box.width, scores.length, methods.length);
  const items = [];
  context.font = `12px ${style.fontFamily}`;
  scores.forEach((score, i) => {
    const left = place.labels + (i % place.across) * place.wide;
    const top = Math.floor(i / place.across) * place.tall;
    items.push(...paintPanel(context, { ...place, left, top, first: i % place.across === 0 }, methods, score, { colours, name, floors, style }));
  });
  const listed = scores.map((score) => titleOf(score)).join(", ");
  return { items, legend: colours.legend, label: `${listed} of ${methods.length} methods.` };
}

function paintPanel(context, place, methods, score, { colours, name, floors, style }) {
  const value = (row) => score.values[row];
  const floorOf = (method) => floors.find((floor) => floor.data === method.data && floor.recipe === method.recipe)?.scores[score.name] ?? null;
  const all = [...methods.flatMap((method) => [...method.rows.map(value), floorOf(method)])].filter((number) => number !== null);
  const across = range(Math.min(...all), Math.max(...all), place.left + 6, place.left + place.wide - 16);
  const bottom = place.top + TITLE + methods.length * place.row;
  const quiet = style.getPropertyValue("--quiet");
  context.textAlign = "left";
  context.fillStyle = style.color;
  context.fillText(shortened(titleOf(score) + (score.best === "lower" ? " (lower is better)" : ""), Math.floor(place.wide / 6.5)), place.left + 6, place.top + 16);
  context.strokeStyle = style.getPropertyValue("--line");
  context.fillStyle = quiet;
  context.textAlign = "center";
  let free = -Infinity; // where the last label of a tick ends
  for (const [at, text] of across.ticks) {
    line(context, Math.round(at) + 0.5, place.top + TITLE, Math.round(at) + 0.5, bottom);
    const half = context.measureText(text).width / 2;
    if (at - half > free) context.fillText(text, at, bottom + 15);
    free = Math.max(free, at + half + 6);
  }
  return methods.flatMap((method, i) => {
    const top = place.top + TITLE + i * place.row;
    const middle = top + place.row - ROW / 2;
    const numbers = method.rows.map(value).filter((number) => number !== null);
    context.fillStyle = style.color;
    context.textAlign = place.narrow ? "left" : "right";
    if (place.narrow) context.fillText(shortened(method.label, Math.floor(place.wide / 6.5)), place.left + 6, top + 13);
    else if (place.first) context.fillText(shortened(method.label, 36), place.left - 6, middle + 4);
    const quartiles = numbers.length > 1 ? quantiles(numbers, [0.25, 0.5, 0.75]) : null;
    context.strokeStyle = style.color;
    if (quartiles) drawBox(context, across.place, quartiles, middle - 7, 14);
    const floor = floorOf(method);
    if (floor !== null) {
      context.setLineDash([3, 2]);
      line(context, across.place(floor), middle - 11, across.place(floor), middle + 11);
      context.setLineDash([]);
    }
    const said = [
      ...(quartiles ? [`median ${short(quartiles[1], 3)}, quartiles ${short(quartiles[0], 3)} to ${short(quartiles[2], 3)} of ${numbers.length}`] : []),
      ...(floor !== null ? [`noise floor ${short(floor, 3)}`] : []),
    ];
    const text = ({ row }) => [name(row), method.label, `${titleOf(score)} ${short(value(row), 3)}`, ...said];
    const items = method.rows.filter((row) => value(row) !== null).map((row) => ({ row, left: across.place(value(row)), top: middle + 10 * jitter(row), text }));
    context.globalAlpha = 0.8;
    for (const { row, left, top: at } of items) {
      context.fillStyle = colours.of(row);
      context.fill(new Path2D(shape(colours.shape(row), left, at, 3.2)));
    }
    context.globalAlpha = 1;
    return items;
  });
}
