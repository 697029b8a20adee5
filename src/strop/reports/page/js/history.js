// A task across steps and runs: Strop.history(task, run) -> [{run, name, groups, rows}], Strop.historyChart of
// that, Strop.inOrder(rows, run).
"use strict";
(() => {
  const { el, svg, format } = Strop;
  const [WIDEST, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 170, 40, 24, 12, 26];

  // The run in the address comes first.
  Strop.history = async (task, first) => {
    const { runs } = await Strop.source.page();
    const there = runs.filter((run) => run.id === first || Strop.get(run.tasks, task) !== undefined);
    there.sort((one, other) => (other.id === first) - (one.id === first));
    const found = await Promise.all(
      there.map(async (run) => ({ run, name: Strop.runLabel(run), ...(await Strop.source.task(run.id, task)) })),
    );
    for (const one of found) one.rows = Strop.inOrder(one.rows, one.run);
    return found.filter(({ groups, rows }) => groups.length + rows.length > 0);
  };

  // Rows in chronological order: by step, an evaluation after the groups of its step; within a step as given.
  Strop.inOrder = (rows, run) => {
    const evaluations = new Map(
      (run.evaluations ?? []).map((evaluation, at) => [evaluation.file, { ...evaluation, at }]),
    );
    const key = (row) => {
      const evaluation = evaluations.get(row.evaluation);
      return row.kind === "train" ? [row.step, 0] : [evaluation?.step ?? Infinity, 1 + (evaluation?.at ?? 0)];
    };
    const keyed = rows.map((row) => ({ row, key: key(row) }));
    keyed.sort((one, other) => one.key[0] - other.key[0] || one.key[1] - other.key[1]);
    return keyed.map(({ row }) => row);
  };

  const rate = (passed, scored) => (scored > 0 ? passed / scored : null);

  // Pass rate (filled points) and mean reward (open points) of the task's groups, with lines through the means per step.
  Strop.historyChart = (history) => {
    const points = history.map(({ groups }) =>
      groups.map(([step, , , , scored, passed, mean]) => ({ step, pass: rate(passed, scored), mean })),
    );
    const all = points.flat();
    if (all.length === 0) return null;
    const steps = all.map(({ step }) => step);
    const means = all.map(({ mean }) => mean).filter(Number.isFinite);
    const width = Math.max(280, Math.min(WIDEST, window.innerWidth - 60));
    const x = scale(Math.min(...steps), Math.max(...steps), LEFT, width - RIGHT);
    const [low, high] = [Math.min(0, ...means), Math.max(1, ...means)];
    const y = scale(low, high, HEIGHT - BOTTOM, TOP);
    const drawn = svg(
      "svg",
      {
        class: "task-chart",
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: "img",
        "aria-label": "pass rate and mean reward of this task's groups by step",
      },
      axes(x, y, [Math.min(...steps), Math.max(...steps)], [low, high], width - RIGHT),
      points.map((some, at) => [series(some, "pass", x, y, at % 6), series(some, "mean", x, y, at % 6)]),
    );
    const names = history.map(({ name }, at) => el("span", { class: `run-${at % 6}` }, `■ ${name} `));
    return el(
      "figure",
      { class: "task-figure" },
      drawn,
      el("figcaption", { class: "muted" }, "● pass rate, ○ mean reward, by step ", history.length > 1 ? names : null),
    );
  };

  const scale = (from, to, low, high) => (value) =>
    to > from ? low + ((value - from) / (to - from)) * (high - low) : (low + high) / 2;

  const axes = (x, y, steps, values, end) => [
    [...new Set([values[0], 0, 0.5, 1, values[1]])].map((value) => [
      svg("line", { class: "grid", x1: LEFT, x2: end, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, format.number(value, 2)),
    ]),
    [...new Set(steps)].map((step) =>
      svg("text", { x: x(step), y: HEIGHT - 6, "text-anchor": "middle" }, `step ${step}`),
    ),
  ];

  function series(some, name, x, y, number) {
    const known = some.filter((point) => Number.isFinite(point[name]));
    const means = [...Map.groupBy(known, ({ step }) => step)].map(([step, of]) => [
      step,
      of.reduce((sum, point) => sum + point[name], 0) / of.length,
    ]);
    const line = means.map(([step, mean]) => `${x(step).toFixed(1)},${y(mean).toFixed(1)}`).join(" ");
    return svg(
      "g",
      { class: `series-${name} run-${number}` },
      svg("polyline", { points: line }),
      known.map((point) =>
        svg(
          "circle",
          { cx: x(point.step), cy: y(point[name]), r: 3.2 },
          svg("title", null, `step ${point.step}: ${format.number(point[name])}`),
        ),
      ),
    );
  }
})();
