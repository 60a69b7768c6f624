// A table of what differs between runs: their scores, and the settings that are not the same.
import { plain } from "unweave/axes";
import { isNumeric, titleOf } from "unweave/columns";
import { h, notice } from "unweave/element";
import { cell } from "unweave/groups";
import { ask } from "unweave/server-source";

const PAUSE = 700; // milliseconds between two looks at a table that is being read
const LEFT_OUT = ["run", "state", "step", "error"];

/** Make the table of runs by their names; look(isEnded) reads them. */
export function makeDifferences(names, titles) {
  const problem = notice();
  const table = h("table", { class: "differences" }, h("caption", {}, "Reading what differs…"));

  async function look(isEnded) {
    try {
      const { columns, read, total } = await ask("api/table");
      if (isEnded()) return;
      const rows = names.map((name) => columns.find((column) => column.name === "run").values.indexOf(name));
      if (rows.every((row) => row >= 0)) fill(columns, rows);
      else if (read < total || !total) setTimeout(() => look(isEnded), PAUSE);
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
  }

  function fill(columns, rows) {
    const values = (column) => rows.map((row) => column.values[row]);
    const differs = (column) => new Set(values(column).map((value) => value ?? "")).size > 1;
    const scores = columns.filter((column) => column.kind === "score" && values(column).some((value) => value !== null));
    const others = columns.filter((column) => column.kind !== "score" && !LEFT_OUT.includes(column.name) && differs(column));
    const text = (column, value) => (column.kind === "setting" && typeof value === "number" ? plain(value) : cell(column, value));
    const line = (column) => {
      const best = bestOf(column, values(column));
      const cells = values(column).map((value) => h("td", { class: isNumeric(column) ? "number" : "" }, value !== null && value === best ? h("b", {}, text(column, value)) : text(column, value) || "–"));
      return h("tr", {}, h("th", { scope: "row" }, titleOf(column)), cells);
    };
    table.replaceChildren(
      h("caption", {}, others.length ? "What differs: scores, the best one bold, and settings" : "Scores, the best one bold. Nothing else differs."),
      h("thead", {}, h("tr", {}, h("td"), titles.map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, scores.map(line)),
      h("tbody", {}, others.map(line)),
    );
  }

  return { element: h("section", { class: "scroll" }, table, problem.element), look };
}

/** Return the best of the values of a score, null if they are equal or neither end is better. */
function bestOf(column, values) {
  const there = values.filter((value) => typeof value === "number");
  const sign = { higher: 1, lower: -1 }[column.best];
  if (!sign || there.length < 2 || there.every((value) => value === there[0])) return null;
  return there.reduce((best, value) => (sign * value > sign * best ? value : best));
}
