// Choose among the images of the data that a file contains.

/** Return the row for wanted factors of which one was moved since the last image: the closest along that factor, so
 * that no other factor moves. */
export function exampleAlong(rows, factors, wanted, last) {
  const exact = rows.findIndex((row) => row.every((value, k) => value === wanted[k]));
  if (exact >= 0 || !last) return Math.max(0, exact);
  const moved = wanted.findIndex((value, k) => value !== last[k]);
  const axis = Math.max(0, moved);
  const along = stripOf({ factors: rows }, axis, last);
  return best(along, (row) => apart(factors[axis], rows[row][axis], wanted[axis]));
}

/** Return the rows in which one factor moves and the others are as wanted, in order, one per value. */
export function stripOf(examples, axis, wanted) {
  return examples.factors
    .map((_, row) => row)
    .filter((row) => examples.factors[row].every((value, k) => k === axis || value === wanted[k]))
    .sort((a, b) => examples.factors[a][axis] - examples.factors[b][axis])
    .filter((row, i, rows) => i === 0 || examples.factors[row][axis] !== examples.factors[rows[i - 1]][axis]);
}

/** Return the row closest to the wanted factors from which one factor can be moved; the wanted one itself if possible. */
export function stripStart(examples, factors, axis, wanted) {
  const distance = (row) =>
    factors.reduce((sum, factor, k) => sum + (row[k] === wanted[k] ? 0 : 1 + apart(factor, row[k], wanted[k])), 0);
  const exact = examples.factors.findIndex((row) => distance(row) === 0);
  if (exact >= 0 && stripOf(examples, axis, wanted).length > 1) return exact;
  const roots = [...examples.roots].sort((a, b) => distance(examples.factors[a]) - distance(examples.factors[b]));
  return roots.find((row) => stripOf(examples, axis, examples.factors[row]).length > 1) ?? roots[0];
}

/** Return the distance of two values of a factor as a share of its size. */
function apart(factor, a, b) {
  const gap = Math.abs(a - b);
  if (factor.kind === "categorical") return gap === 0 ? 0 : 1;
  return (factor.kind === "cyclic" ? Math.min(gap, factor.size - gap) : gap) / factor.size;
}

function best(rows, distance) {
  return rows.reduce((least, row) => (distance(row) < distance(least) ? row : least));
}
