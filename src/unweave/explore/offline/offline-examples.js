// Choose among the images of the data that a file contains.

/** Return the row whose factors come closest to the wanted ones. A factor that was just moved counts most. */
export function nearestExample(rows, factors, wanted, last) {
  const distance = (row) =>
    factors.reduce((sum, factor, k) => {
      if (row[k] === wanted[k]) return sum;
      const moved = last && last[k] !== wanted[k] ? factors.length : 1;
      return sum + moved * (1 + apart(factor, row[k], wanted[k]));
    }, 0);
  return best(rows, distance);
}

/** Return the rows in which one factor moves and the others are as wanted, or else as in the closest image. */
export function stripOf(examples, factors, axis, wanted) {
  const along = (point) =>
    examples.factors
      .map((_, row) => row)
      .filter((row) => examples.factors[row].every((value, k) => k === axis || value === point[k]))
      .sort((a, b) => examples.factors[a][axis] - examples.factors[b][axis])
      .filter((row, i, rows) => i === 0 || examples.factors[row][axis] !== examples.factors[rows[i - 1]][axis]);
  const exact = along(wanted);
  if (exact.length > 1) return exact;
  const roots = examples.roots.map((row) => examples.factors[row]);
  const closest = (root) => factors.reduce((sum, factor, k) => sum + (root[k] === wanted[k] ? 0 : 1 + apart(factor, root[k], wanted[k])), 0);
  const order = roots.map((root, i) => [closest(root), i]).sort((a, b) => a[0] - b[0]);
  const strips = order.map(([, i]) => along(roots[i]));
  return strips.find((strip) => strip.length > 1) ?? strips[0];
}

/** Return the distance of two values of a factor as a share of its size. */
function apart(factor, a, b) {
  const gap = Math.abs(a - b);
  if (factor.kind === "categorical") return 1;
  return (factor.kind === "cyclic" ? Math.min(gap, factor.size - gap) : gap) / factor.size;
}

function best(rows, distance) {
  let row = 0;
  let least = Infinity;
  rows.forEach((candidate, i) => {
    const d = distance(candidate);
    if (d < least) [row, least] = [i, d];
  });
  return row;
}
