// Strop.difference(left, right): how two texts differ, line by line, with marks on the words that changed.
//
// {kind, rows, removed, added}
//   kind     "same", "changed", or "too different" (then rows is empty: show both as they are)
//   rows     {kind: "same" | "changed" | "removed" | "added",
//             left, right: {number, parts: [[text, marked], ...]} or null}
//   removed, added   lines that only one side has
//
// The shortest edit script after E. W. Myers, "An O(ND) difference algorithm and its variations" (1986), with one
// deviation: it gives up after MOST_EDITS edits, so that time and memory are bounded for any texts. A newline at the end
// of a text makes no difference.
"use strict";
(() => {
  const MOST_LINES = 10_000;
  const MOST_CHARACTERS = 1_000_000;
  const MOST_EDITS = 2_000; // needs at most 16 MB for the trail
  const MOST_WORDS = 400; // per line; longer lines change as a whole
  const MOST_WORD_EDITS = 120;
  const MOST_MARKED_PAIRS = 400; // pairs of lines to compare word by word
  const LIKE = 0.34; // share of a line that must be common, else words are not marked

  // Numbers the texts; equal texts get equal numbers.
  const numbered = (lists) => {
    const known = new Map();
    return lists.map((list) =>
      Int32Array.from(list, (text) => {
        if (!known.has(text)) known.set(text, known.size);
        return known.get(text);
      }),
    );
  };

  // Edits from a to b, in order: [0 same | -1 only in a | 1 only in b, index in a, index in b]; null beyond `limit`.
  const edits = (a, b, limit) => {
    const most = Math.min(a.length + b.length, limit);
    const middle = most + 1;
    const reach = new Int32Array(2 * most + 3);
    const trail = [];
    for (let d = 0; d <= most; d += 1) {
      trail.push(reach.slice(middle - d - 1, middle + d + 2));
      for (let k = -d; k <= d; k += 2) {
        const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
        let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
        let y = x - k;
        while (x < a.length && y < b.length && a[x] === b[y]) {
          x += 1;
          y += 1;
        }
        reach[middle + k] = x;
        if (x >= a.length && y >= b.length) return walked(trail, d, a.length, b.length);
      }
    }
    return null;
  };

  // Traces the path back from the end of both; trail[d] is the start of round d, and its index 0 is diagonal -d - 1.
  const walked = (trail, rounds, endX, endY) => {
    const found = [];
    let x = endX;
    let y = endY;
    for (let d = rounds; d >= 0; d -= 1) {
      const before = (k) => trail[d][k + d + 1];
      const k = x - y;
      const down = k === -d || (k !== d && before(k - 1) < before(k + 1));
      const fromX = d === 0 ? 0 : before(down ? k + 1 : k - 1);
      const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
      const startX = d === 0 ? 0 : fromX + (down ? 0 : 1);
      const startY = d === 0 ? 0 : fromY + (down ? 1 : 0);
      while (x > startX && y > startY) found.push([0, (x -= 1), (y -= 1)]);
      if (d > 0) found.push(down ? [1, fromX, fromY] : [-1, fromX, fromY]);
      x = fromX;
      y = fromY;
    }
    return found.reverse();
  };

  // Indexes of the entries that also occur in the other list: only these can be common, so the search skips the rest.
  const shared = (list, other) => {
    const there = new Set(other);
    const found = [];
    list.forEach((number, index) => there.has(number) && found.push(index));
    return found;
  };

  // Edits of two lists of texts, like `edits`; null if more than `limit` lines with a twin would have to be removed.
  const compared = (left, right, limit) => {
    const [a, b] = numbered([left, right]);
    const [inA, inB] = [shared(a, b), shared(b, a)];
    const pick = (list, indexes) => Int32Array.from(indexes, (index) => list[index]);
    const found = edits(pick(a, inA), pick(b, inB), limit);
    if (found === null) return null;
    const all = [];
    let [i, j] = [0, 0];
    for (const [kind, p, q] of [...found, [0, inA.length, inB.length]]) {
      if (kind !== 0) continue;
      const [toA, toB] = [inA[p] ?? a.length, inB[q] ?? b.length];
      while (i < toA) all.push([-1, i++, j]);
      while (j < toB) all.push([1, i, j++]);
      if (i < a.length && j < b.length && p < inA.length) all.push([0, i++, j++]);
    }
    return all;
  };

  const words = (line) => line.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];

  const joined = (parts, text, marked) => {
    const last = parts.at(-1);
    if (last !== undefined && last[1] === marked) last[0] += text;
    else parts.push([text, marked]);
  };

  // The parts of two lines, one changed into the other; marked parts are missing in the other.
  const marked = (left, right) => {
    const whole = [[[left, false]], [[right, false]]];
    if (Math.max(left.length, right.length) > 8 * MOST_WORDS) return whole;
    const [a, b] = [words(left), words(right)];
    if (Math.max(a.length, b.length) > MOST_WORDS) return whole;
    const found = compared(a, b, MOST_WORD_EDITS);
    if (found === null) return whole;
    const common = found.reduce((sum, [kind, i]) => sum + (kind === 0 ? a[i].trim().length : 0), 0);
    if (common < LIKE * Math.max(left.trim().length, right.trim().length)) return whole;
    const parts = [[], []];
    for (const [kind, i, j] of found) {
      if (kind <= 0) joined(parts[0], a[i], kind !== 0);
      if (kind >= 0) joined(parts[1], b[j], kind !== 0);
    }
    return parts;
  };

  const lines = (text) => {
    const all = text.split("\n");
    if (all.at(-1) === "") all.pop();
    return all;
  };

  const plain = (texts, index) => ({ number: index + 1, parts: [[texts[index], false]] });

  // Rows for consecutive edits without a common line: removed lines next to added ones, in order.
  const paired = (a, b, gone, came, budget) => {
    const rows = [];
    for (let n = 0; n < Math.max(gone.length, came.length); n += 1) {
      const left = n < gone.length ? plain(a, gone[n]) : null;
      const right = n < came.length ? plain(b, came[n]) : null;
      if (left !== null && right !== null && budget.pairs > 0) {
        budget.pairs -= 1;
        [left.parts, right.parts] = marked(a[gone[n]], b[came[n]]);
      }
      rows.push({ kind: right === null ? "removed" : left === null ? "added" : "changed", left, right });
    }
    return rows;
  };

  Strop.difference = (left, right) => {
    const refused = { kind: "too different", rows: [], removed: 0, added: 0 };
    if (left.length + right.length > MOST_CHARACTERS) return refused;
    const [a, b] = [lines(left), lines(right)];
    if (Math.max(a.length, b.length) > MOST_LINES) return refused;
    const found = compared(a, b, MOST_EDITS);
    if (found === null) return refused;
    const budget = { pairs: MOST_MARKED_PAIRS };
    const rows = [];
    let [gone, came, removed, added] = [[], [], 0, 0];
    const close = () => {
      rows.push(...paired(a, b, gone, came, budget));
      [gone, came] = [[], []];
    };
    for (const [kind, i, j] of found) {
      if (kind < 0) removed += gone.push(i) && 1;
      else if (kind > 0) added += came.push(j) && 1;
      else {
        close();
        rows.push({ kind: "same", left: plain(a, i), right: plain(b, j) });
      }
    }
    close();
    return { kind: removed + added > 0 ? "changed" : "same", rows, removed, added };
  };
})();
