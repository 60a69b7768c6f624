// A study or a store: a table that sorts and filters, and a chart of any column against any other.
import { fromAddress, toAddress } from "unweave/address";
import { csv, isNumeric, parseFilter, printed, sorted } from "unweave/columns";
import { h, notice, save, short, words } from "unweave/element";
import { makeCards } from "unweave/run-cards";
import { makeScatter } from "unweave/scatter";
import { ask } from "unweave/server-source";

const ROW = 30; // pixels, the height of a row in style.css
const SPARE = 8; // rows above and below the window
const MOST = 3; // runs side by side
const PAUSE = 4000; // milliseconds between two looks at the store
const kept = { filter: "", sort: null, descending: false, x: null, y: null, colour: null, chosen: new Set(), hidden: new Set() };
const IN_ADDRESS = ["filter", "sort", "x", "y", "colour"]; // of what is kept

/** Show the table in an element. Returns a function that ends the view. */
export function showTable(root, page) {
  for (const name of IN_ADDRESS) kept[name] = fromAddress(name) ?? kept[name];
  if (fromAddress("sort")) kept.descending = fromAddress("order") === "down";
  const problem = notice();
  const wrong = notice(); // in the filter
  const count = h("p", { class: "count", role: "status" }, "Reading the runs…");
  const filter = h("input", {
    type: "search",
    class: "filter",
    value: kept.filter,
    placeholder: "Filter: words, or conditions such as  mig > 0.3  recipe = qlae",
    "aria-label": "Filter",
    oninput: refilter,
  });
  const compare = h("button", { class: "main", hidden: true, onclick: openSeveral });
  const head = h("div", { class: "row head", role: "row" });
  const body = h("div", { class: "rows" });
  const grid = h(
    "div",
    {
      class: "grid",
      role: "table",
      tabindex: 0,
      "aria-label": "Runs",
      onscroll: () => requestAnimationFrame(drawRows),
    },
    head,
    body,
  );
  const scatter = makeScatter((row) => open(row));
  const cards = makeCards();
  const chooser = h("div", { class: "chooser" });
  const tools = h(
    "div",
    { class: "tools" },
    h("details", {}, h("summary", {}, "Columns"), chooser),
    h("button", { onclick: download }, "Save as CSV"),
  );
  const choices = Object.fromEntries(
    ["y", "x", "colour"].map((axis) => [axis, h("select", { onchange: () => choose(axis) })]),
  );
  const names = { y: "Plot", x: "against", colour: "coloured by" };
  const axes = h(
    "div",
    { class: "axes" },
    ["y", "x", "colour"].map((axis) => h("label", {}, `${names[axis]} `, choices[axis])),
  );
  let all = []; // the columns of the table, of which some are not shown
  let columns = [];
  let byName = new Map();
  let matching = [];
  let version = null;
  let ended = false;
  let widths = "";

  document.title = `${page.title} · Unweave`;
  root.replaceChildren(
    h("header", { class: "heading" }, h("div", { class: "title" }, h("h1", {}, page.kind === "study" ? page.title : "All runs"), compare), count),
    h("div", { class: "toolbar" }, filter, wrong.element),
    problem.element,
    cards.element,
    h("div", { class: "table" }, h("section", { class: "side" }, axes, scatter.element), tools, grid),
  );

  async function look() {
    let pause = PAUSE;
    try {
      const table = await ask(`api/table${version === null ? "" : `?known=${version}`}`);
      if (ended) return;
      if (table.columns) take(table);
      if (table.reading || table.read < table.total) {
        pause = table.columns ? 1500 : 300; // a table that grows is large to send
        if (table.read < table.total)
          count.textContent = `Reading the runs: ${table.read.toLocaleString("en")} of ${table.total.toLocaleString("en")}…`;
      }
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
    if (!ended) setTimeout(look, pause);
  }

  function take(table) {
    version = table.version;
    all = table.columns.filter((column) => column.values.some((value) => value !== null && value !== ""));
    byName = new Map(all.map((column) => [column.name, column]));
    for (const axis of ["x", "y", "colour"]) fill(axis, table.axes);
    chooser.replaceChildren(...["run", "score", "setting"].map(chooserOf));
    showColumns();
  }

  function showColumns() {
    columns = all.filter((column) => column.name === "run" || !kept.hidden.has(column.name));
    widths = `2rem ${columns.map(width).join(" ")} 1fr`;
    grid.style.setProperty("--run", width(columns[0] ?? { name: "", values: [] }));
    drawHead();
    refilter();
  }

  function chooserOf(kind) {
    const boxes = all
      .filter((column) => column.kind === kind && column.name !== "run")
      .map((column) => {
        const box = h("input", {
          type: "checkbox",
          checked: !kept.hidden.has(column.name),
          onchange: () => {
            if (box.checked) kept.hidden.delete(column.name);
            else kept.hidden.add(column.name);
            showColumns();
          },
        });
        return h("label", {}, box, words(column.name));
      });
    return h("fieldset", { hidden: !boxes.length }, h("legend", {}, { run: "Runs", score: "Scores", setting: "Settings" }[kind]), boxes);
  }

  function download() {
    save(`${page.title}.csv`, csv(columns, matching), "text/csv");
  }

  function fill(axis, proposed) {
    const possible = all.filter((column) => column.name !== "run" && (axis !== "y" || isNumeric(column)));
    const first = {
      y: byName.get(proposed.y) ?? byName.get("psnr") ?? possible[0],
      x: byName.get(proposed.x) ?? byName.get("seed"),
      colour: byName.get("recipe"),
    }[axis];
    const chosen = byName.has(kept[axis]) ? kept[axis] : first?.name;
    const options = possible.map((column) =>
      h("option", { value: column.name, selected: column.name === chosen }, words(column.name)),
    );
    choices[axis].replaceChildren(...options);
  }

  function choose(axis) {
    kept[axis] = choices[axis].value;
    toAddress({ [axis]: kept[axis] });
    drawScatter();
  }

  function refilter() {
    kept.filter = filter.value;
    if (!ended) toAddress({ filter: filter.value.trim() });
    if (!columns.length) return;
    const total = columns[0].values.length;
    const rows = Array.from({ length: total }, (_, row) => row);
    try {
      matching = filter.value.trim() ? rows.filter(parseFilter(filter.value, all)) : rows;
      wrong.show(matching.length || !total ? "" : "No run matches the filter.");
    } catch (error) {
      matching = [];
      wrong.show(error.message);
    }
    count.textContent =
      matching.length === total
        ? `${total.toLocaleString("en")} runs`
        : `${matching.length.toLocaleString("en")} of ${total.toLocaleString("en")} runs`;
    resort();
    drawScatter();
    cards.draw(all, matching);
  }

  function resort() {
    const column = byName.get(kept.sort);
    if (column) matching = sorted(matching, column, kept.descending);
    body.style.height = `${matching.length * ROW}px`;
    grid.setAttribute("aria-rowcount", matching.length + 1);
    drawRows();
  }

  function drawHead() {
    grid.style.setProperty("--widths", widths);
    const cells = columns.map((column) => {
      const sort = kept.sort === column.name ? (kept.descending ? "descending" : "ascending") : "none";
      return h(
        "div",
        { role: "columnheader", "aria-sort": sort, class: isNumeric(column) ? "number" : "" },
        h("button", { onclick: () => sortBy(column) }, words(column.name)),
      );
    });
    head.replaceChildren(h("div", { role: "columnheader", title: "Choose up to three runs to compare" }, h("span", { class: "hidden-text" }, "Compare")), ...cells);
  }

  function sortBy(column) {
    const again = kept.sort === column.name;
    kept.descending = again ? !kept.descending : column.kind === "score" || column.name === "psnr";
    kept.sort = column.name;
    toAddress({ sort: kept.sort, order: kept.descending ? "down" : "up" });
    drawHead();
    head.querySelectorAll("button")[columns.indexOf(column)].focus();
    refilter();
  }

  function drawRows() {
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - SPARE);
    const last = Math.min(matching.length, Math.ceil((grid.scrollTop + grid.clientHeight) / ROW) + SPARE);
    const rows = [];
    for (let i = first; i < last; i += 1) rows.push(makeTableRow(matching[i], i));
    body.replaceChildren(...rows);
  }

  function makeTableRow(row, position) {
    const name = columns[0].values[row];
    const check = h("input", {
      type: "checkbox",
      checked: kept.chosen.has(name),
      "aria-label": `Compare ${name}`,
      onchange: () => mark(name, check),
    });
    const cells = columns.map((column) => {
      const value = column.values[row];
      const text = textOf(column, value);
      const kind = [isNumeric(column) ? "number" : "", column.name === "state" ? `state ${text.replace(" ", "-")}` : ""]
        .join(" ")
        .trim();
      return h(
        "div",
        { role: "cell", class: kind, title: text.length > 14 ? text : null },
        column.name === "run" ? h("a", { href: address(name) }, name) : text,
      );
    });
    const element = h(
      "div",
      { class: "row", role: "row", "aria-rowindex": position + 2 },
      h("div", { role: "cell" }, check),
      cells,
    );
    element.style.top = `${position * ROW}px`;
    return element;
  }

  function mark(name, check) {
    if (check.checked) kept.chosen.add(name);
    else kept.chosen.delete(name);
    if (kept.chosen.size > MOST) {
      kept.chosen.delete(name);
      check.checked = false;
    }
    showCompare();
  }

  function showCompare() {
    compare.hidden = kept.chosen.size < 2;
    compare.textContent = `Compare ${kept.chosen.size} runs`;
  }

  function openSeveral() {
    location.hash = `#/compare/${[...kept.chosen].map(encodeURIComponent).join(",")}`;
  }

  function open(row) {
    location.hash = address(columns[0].values[row]);
  }

  function drawScatter() {
    const [x, y, colour] = ["x", "y", "colour"].map((axis) => byName.get(choices[axis].value));
    if (x && y) scatter.draw({ rows: matching, x, y, colour, name: title });
  }

  function title(row) {
    return byName.get("label")?.values[row] || columns[0].values[row];
  }

  new ResizeObserver(drawRows).observe(grid);
  showCompare();
  look();
  return () => (ended = true);
}

function address(name) {
  return `#/run/${encodeURIComponent(name)}`;
}

function textOf(column, value) {
  if (typeof value !== "number") return String(printed(column, value) ?? "");
  return column.name === "seed" ? String(value) : short(value, 3);
}

/** Return the width that the name and the first values of a column need. */
function width(column) {
  const lengths = column.values.slice(0, 200).map((value) => textOf(column, value).length);
  const longest = Math.min(24, Math.max(column.name.length + 2, ...lengths));
  return `${(longest * (isNumeric(column) ? 0.52 : 0.6) + 1.3).toFixed(2)}rem`;
}

/** Choose a run for a comparison; a fourth one begins a new choice. */
export function chooseForComparison(name) {
  if (kept.chosen.size >= MOST) kept.chosen.clear();
  kept.chosen.add(name);
}
