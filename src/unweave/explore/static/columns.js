// The columns of a table of runs: their order, filters such as "mig > 0.3 recipe = qlae", and numbers for charts.
import { words } from "unweave/element";


/** Return whether all values of a column that are there are numbers. */
export function isNumeric(column) {
  column.numeric ??=
    column.values.some((value) => value !== null) &&
    column.values.every((value) => value === null || typeof value === "number");
  return column.numeric;
}

/** Return the name of a column as it is printed. */
export function titleOf(column) {
  return column.title ?? words(column.name);
}

/** Return a value as it is printed: methods and data sets as their papers spell them. */
export function printed(column, value) {
  return column.titles && Object.hasOwn(column.titles, value) ? column.titles[value] : value;
}

/** Return the row numbers in the order of a column; missing values come last. */
export function sorted(rows, column, descending) {
  const sign = descending ? -1 : 1;
  const values = column.values;
  const compare = isNumeric(column)
    ? (a, b) => sign * (values[a] - values[b])
    : (a, b) => sign * String(values[a]).localeCompare(String(values[b]), "en", { numeric: true });
  return [...rows].sort((a, b) => {
    const missing = (values[a] === null || values[a] === "") - (values[b] === null || values[b] === "");
    return missing || compare(a, b) || a - b;
  });
}

const CONDITION = /([\w.]+)\s*(<=|>=|!=|=|<|>)\s*("[^"]*"|\S+)/g;

/** Read a filter: conditions on columns, and words that any text of a row must contain. */
export function parseFilter(text, columns) {
  const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const conditions = [];
  const rest = text.replace(CONDITION, (all, name, operator, wanted) => {
    const column = byName.get(name.toLowerCase());
    if (!column) throw new Error(`There is no column “${name}”.`);
    conditions.push(condition(column, operator, wanted.replaceAll('"', "")));
    return " ";
  });
  const words = rest.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = columns.filter((column) => !isNumeric(column));
  return (row) =>
    conditions.every((holds) => holds(row)) &&
    words.every((word) =>
      texts.some((column) => spellings(column, row).some((text) => text.includes(word))),
    );
}

/** Return a text in lower case as it is typed in commands, and as it is printed. */
function spellings(column, row) {
  const value = column.values[row] ?? "";
  return [String(value).toLowerCase(), String(printed(column, value)).toLowerCase()];
}

function condition(column, operator, wanted) {
  const numeric = isNumeric(column);
  const right = numeric ? Number(wanted) : wanted.toLowerCase();
  if (numeric && Number.isNaN(right))
    throw new Error(`The column “${column.name}” is compared with a number, not with “${wanted}”.`);
  if (!numeric && operator === "=") return (row) => spellings(column, row).includes(right);
  if (!numeric && operator === "!=") return (row) => !spellings(column, row).includes(right);
  const left = (row) => (numeric ? column.values[row] : String(column.values[row] ?? "").toLowerCase());
  const tests = {
    "=": (value) => value === right,
    "!=": (value) => value !== right,
    "<": (value) => value !== null && value < right,
    ">": (value) => value !== null && value > right,
    "<=": (value) => value !== null && value <= right,
    ">=": (value) => value !== null && value >= right,
  };
  return (row) => tests[operator](left(row));
}

/** Return rows as CSV: one line per row, and the names of the columns above. */
export function csv(columns, rows) {
  const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const line = (cells) => cells.map((cell) => quoted(String(cell ?? ""))).join(",");
  return [line(columns.map((c) => c.name)), ...rows.map((row) => line(columns.map((c) => c.values[row])))].join("\r\n");
}
