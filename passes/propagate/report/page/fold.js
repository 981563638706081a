/* Finds repeated layers in the list of ops: runs of equal sections that follow each other. */

const WINDOW = 6, MAX_CANDIDATES = 40, SHORTEST = 4;

/* For each of these ops a number, which is equal for ops that differ only in names and places. */
function opTokens(g, ops) {
  const seen = new Map();
  return ops.map((k) => {
    const key = [g.kind[k], g.operands[k].length, g.depth[k]].join();
    if (!seen.has(key)) seen.set(key, seen.size);
    return seen.get(key);
  });
}

/* By position: the next one at which the same WINDOW tokens stand; -1: none. */
function nextEqual(tokens) {
  const next = new Int32Array(tokens.length).fill(-1), last = new Map();
  for (let i = tokens.length - WINDOW; i >= 0; i--) {
    const key = tokens.slice(i, i + WINDOW).join();
    if (last.has(key)) next[i] = last.get(key);
    last.set(key, i);
  }
  return next;
}

/* The longest run of equal sections that starts at `from`; null if there is none. */
function runAt(tokens, next, from) {
  let best = null, at = from;
  for (let tries = 0; tries < MAX_CANDIDATES && (at = next[at]) >= 0; tries++) {
    const period = at - from;
    if (period < SHORTEST) continue;
    let equal = 0;
    while (from + period + equal < tokens.length &&
      tokens[from + equal] === tokens[from + period + equal])
      equal++;
    const count = Math.floor(equal / period) + 1;
    if (count > 1 && (!best || count * period > best.count * best.period))
      best = {from, period, count};
  }
  return best;
}

/* The list of ops as rows: {op} or {fold: {from, period, count}}, which are places in the list. */
function foldOps(g, ops) {
  const tokens = opTokens(g, ops), rows = [], next = nextEqual(tokens);
  for (let i = 0; i < tokens.length;) {
    const run = runAt(tokens, next, i);
    rows.push(run ? {fold: run} : {op: ops[i]});
    i += run ? run.period * run.count : 1;
  }
  return rows;
}
