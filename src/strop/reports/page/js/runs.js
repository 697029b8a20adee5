// Many runs as one table: selectable columns, rows sorted by any of them.
"use strict";
(() => {
  const el = Strop.el;
  const FEW = 3; // runs from which a table is clearer than columns side by side
  let order = { column: "run", sign: 1 };
  const chosen = new Map(); // column: whether it is shown, if the user chose it

  const lastOf = (run, key) => (run.metrics ?? []).findLast((line) => typeof line[key] === "number")?.[key] ?? null;
  const after = (run, key) => (run.comparison ?? []).find((entry) => entry.key === key);

  // [name, value of a run, format]; settings that differ between runs are columns too.
  function columns(runs) {
    const keys = [...new Set(runs.flatMap((run) => (run.comparison ?? []).map(({ key }) => key)))];
    const settings = [...new Set(runs.flatMap((run) => Object.keys(run.settings ?? {})))].filter(
      (key) => !/^run\./.test(key) && new Set(runs.map((run) => JSON.stringify(Strop.get(run.settings, key)))).size > 1,
    );
    const plain = (value) => (value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value));
    const share = (value) => (typeof value === "number" ? (value * 100).toFixed(1) : "–");
    const points = (value) => (typeof value === "number" ? Strop.format.signed(value * 100, 1) : "–");
    return [
      ["run", (run) => Strop.runLabel(run), plain],
      ["state", (run) => run.state?.kind ?? "", plain],
      ["steps", (run) => run.metrics?.at(-1)?.step ?? null, Strop.format.count],
      ...keys.flatMap((key) => [
        [`${key} after, %`, (run) => after(run, key)?.after?.[0] ?? null, share],
        [`${key} after − before`, (run) => after(run, key)?.paired?.[0] ?? null, points],
      ]),
      ["last reward", (run) => lastOf(run, "reward"), (value) => Strop.format.number(value)],
      ["tokens", (run) => lastOf(run, "completion_tokens"), (value) => Strop.format.number(value, 1)],
      ["wall time", (run) => run.summary?.wall_seconds ?? null, Strop.format.seconds],
      ...settings.map((key) => [key, (run) => Strop.get(run.settings, key) ?? null, plain]),
    ];
  }

  // Sorts numbers by size and texts alphabetically, missing values last.
  function before(left, right, sign) {
    if (left === null || right === null) return (left === null) - (right === null);
    const both = typeof left === "number" && typeof right === "number";
    return sign * (both ? left - right : String(left).localeCompare(String(right), "en", { numeric: true }));
  }

  // Hidden by default: numbers that follow from others, and those of single stages.
  const usual = (name) => (/ after/.test(name) ? /^(pass@1|greedy) /.test(name) : !/^(state|tokens)$/.test(name));
  const isShown = ([name]) => chosen.get(name) ?? usual(name);

  Strop.runTable = (runs) => {
    const all = columns(runs);
    const seen = runs.length < FEW ? [] : runs.map((run) => all.map(([, of]) => of(run)));
    return { seen, nodes: () => (runs.length < FEW ? [] : [el("h2", {}, "Runs"), panel(runs, all)]) };
  };

  function panel(runs, all) {
    const box = el("div", { class: "table-box" });
    const draw = () => box.replaceChildren(table(runs, all.filter(isShown), draw));
    const choice = (column) => {
      const input = el("input", { type: "checkbox", checked: isShown(column), on: { change: () => (chosen.set(column[0], input.checked), draw()) } });
      return el("label", { class: "o-controls" }, input, ` ${column[0]}`);
    };
    draw();
    return el("div", { class: "panel o-runs" }, box, el("details", { class: "o-fold no-print" }, el("summary", {}, "Columns"), all.slice(1).map(choice)));
  }

  function table(runs, some, draw) {
    const by = some.find(([name]) => name === order.column) ?? some[0];
    const rows = runs.map((run, index) => ({ run, index })).sort((left, right) => before(by[1](left.run), by[1](right.run), order.sign));
    const choose = (name) => {
      order = { column: name, sign: order.column === name ? -order.sign : 1 };
      draw();
    };
    const head = ([name]) =>
      el("th", { scope: "col", "aria-sort": name === by[0] ? (order.sign > 0 ? "ascending" : "descending") : null },
        el("button", { type: "button", class: "quiet", on: { click: () => choose(name) } }, name, name === by[0] ? (order.sign > 0 ? " ▲" : " ▼") : ""));
    const cell = ([name, of, write], { run, index }) =>
      el("td", { class: typeof of(run) === "number" ? "num" : null }, name === "run" ? Strop.runName(run, index) : write(of(run)));
    return el("table", { class: "data" },
      el("thead", {}, el("tr", {}, some.map(head))),
      el("tbody", {}, rows.map((row) => el("tr", {}, some.map((column) => cell(column, row))))));
  }
})();
