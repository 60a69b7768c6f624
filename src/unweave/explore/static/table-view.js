// A study or a store: its progress, a table that sorts and filters, charts of its runs, and their pictures.
import { fromAddress, toAddress } from "unweave/address";
import { makeCharts } from "unweave/charts";
import { csv, isNumeric, parseFilter, printed, sorted, titleOf } from "unweave/columns";
import { h, notice, save, short } from "unweave/element";
import { runTitle } from "unweave/methods";
import { makeCards } from "unweave/run-cards";
import { ask } from "unweave/server-source";
import { makeStudyProgress } from "unweave/study-progress";

const ROW = 2; // rem, the height of a row in style.css
const SPARE = 8; // rows above and below the window
const MOST = 3; // runs side by side
const DIGITS = { psnr: 1, seconds: 1 }; // after the point; three by default
const PAUSE = 4000; // milliseconds between two looks at the store
const kept = { filter: "", sort: null, descending: false, chosen: new Set(), hidden: new Set() };
const IN_ADDRESS = ["filter", "sort"]; // of what is kept

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
  const isStudy = page.kind === "study";
  const charts = makeCharts((row) => open(row), isStudy ? "methods" : "points");
  const progress = isStudy ? makeStudyProgress() : null;
  const cards = makeCards();
  const chooser = h("div", { class: "chooser" });
  const tools = h(
    "div",
    { class: "tools" },
    h("details", {}, h("summary", {}, "Columns"), chooser),
    h("button", { onclick: download }, "Save as CSV"),
  );
  let all = []; // the columns of the table, of which some are not shown
  let columns = [];
  let byName = new Map();
  let matching = [];
  let version = null;
  let ended = false;
  let widths = "";
  let floors = [];
  let axes = {}; // that the chart shows at first

  document.title = `${page.title} · Unweave`;
  const parts = [cards.element, charts.element];
  root.replaceChildren(
    h("header", { class: "heading" }, h("div", { class: "title" }, h("h1", {}, isStudy ? page.title : "All runs"), compare), count),
    ...(progress ? [progress.element] : []),
    h("div", { class: "toolbar" }, filter, wrong.element),
    problem.element,
    ...(isStudy ? parts.reverse() : parts),
    h("div", { class: "table" }, tools, grid),
  );

  async function look() {
    let pause = PAUSE;
    try {
      const table = await ask(`api/table${version === null ? "" : `?known=${version}`}`);
      if (ended) return;
      if (table.columns) take(table);
      if (table.read >= table.total) progress?.look(byName.get("state")?.values ?? []);
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
    all = table.columns.filter((column) => column.name === "label" || column.values.some((value) => value !== null && value !== ""));
    byName = new Map(all.map((column) => [column.name, column]));
    axes = table.axes;
    charts.offer(all, axes);
    chooser.replaceChildren(...["run", "score", "setting"].map(chooserOf));
    showColumns();
  }

  function showColumns() {
    columns = all.filter((column) => column.name === "run" || !kept.hidden.has(column.name));
    widths = `2rem ${columns.map(width).join(" ")} 1fr`;
    grid.style.setProperty("--run", columns.length ? width(columns[0]) : "0px");
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
        return h("label", {}, box, titleOf(column));
      });
    return h("fieldset", { hidden: !boxes.length }, h("legend", {}, { run: "Runs", score: "Scores", setting: "Settings" }[kind]), boxes);
  }

  function download() {
    save(`${page.title}.csv`, csv(columns, matching), "text/csv");
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
    drawCharts();
    cards.draw(all, byName.has(kept.sort) ? matching : bestFirst(matching));
  }

  /** Return rows with those in training first, then by the first score of the chart. */
  function bestFirst(rows) {
    const [score, state] = [byName.get(axes.y), byName.get("state")];
    const sign = score?.best === "lower" ? -1 : 1;
    const rank = (row) => (state?.values[row] === "running" ? Infinity : sign * (score?.values[row] ?? -Infinity * sign));
    return [...rows].sort((a, b) => rank(b) - rank(a) || 0); // two infinities are equal
  }

  function resort() {
    const column = byName.get(kept.sort);
    if (column) matching = sorted(matching, column, kept.descending);
    body.style.height = `${matching.length * ROW}rem`;
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
        h("button", { title: column.title ? `in filters: ${column.name}` : null, onclick: () => sortBy(column) }, titleOf(column)),
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
    const row = ROW * parseFloat(getComputedStyle(document.documentElement).fontSize); // in pixels
    const first = Math.max(0, Math.floor(grid.scrollTop / row) - SPARE);
    const last = Math.min(matching.length, Math.ceil((grid.scrollTop + grid.clientHeight) / row) + SPARE);
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
      const text = cellText(column, row);
      const unnamed = column.name === "label" && !column.values[row];
      const kind = [isNumeric(column) ? "number" : "", unnamed ? "unnamed" : "", column.name === "state" ? `state ${text.replace(" ", "-")}` : ""]
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
    element.style.top = `${position * ROW}rem`;
    return element;
  }

  /** Return the text of a cell; a run without a label is told by its method. */
  function cellText(column, row) {
    const value = column.values[row];
    if (column.name === "label" && !value) return runTitle(all, row);
    return textOf(column, value);
  }

  /** Return the width that the name and the first values of a column need. */
  function width(column) {
    const lengths = column.values.slice(0, 200).map((_, row) => cellText(column, row).length);
    const longest = Math.min(24, Math.max(titleOf(column).length + 2, ...lengths));
    return `${(longest * (isNumeric(column) ? 0.52 : 0.6) + 1.3).toFixed(2)}rem`;
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

  function drawCharts() {
    charts.draw({ all, columns, rows: matching, name: (row) => runTitle(all, row), floors });
  }

  /** Ask for noise floors while the chart that shows them is seen; they are computed by the server, which takes long. */
  async function lookAtFloors() {
    let pause = PAUSE;
    try {
      const found = charts.shown() === "methods" ? await ask("api/floors") : { floors };
      if (ended) return;
      if (found.floors.length !== floors.length) {
        floors = found.floors;
        if (columns.length) drawCharts();
      }
      if (found.busy) pause /= 2;
    } catch {
      // the table says that the server does not answer
    }
    if (!ended) setTimeout(lookAtFloors, pause);
  }

  new ResizeObserver(drawRows).observe(grid);
  showCompare();
  look();
  lookAtFloors();
  return () => (ended = true);
}

function address(name) {
  return `#/run/${encodeURIComponent(name)}`;
}

function textOf(column, value) {
  if (typeof value !== "number") return String(printed(column, value) ?? "");
  return column.name === "seed" ? String(value) : short(value, DIGITS[column.name] ?? 3);
}

/** Choose a run for a comparison; a fourth one begins a new choice. */
export function chooseForComparison(name) {
  if (kept.chosen.size >= MOST) kept.chosen.clear();
  kept.chosen.add(name);
}
