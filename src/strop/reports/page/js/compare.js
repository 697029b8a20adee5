// View "compare": two rollouts of one task side by side: from two checkpoints, two steps, two runs, or the same group.
// Address: task, run, left, right; each side is a row's id, or RUN:ID for a row of another run.
"use strict";
(() => {
  const { el } = Strop;

  const LOOKED_AT = 1_000; // rollouts to search for tasks that can be compared
  const MOST_PLACES = 5; // places to name; more are only counted

  const key = (run, row) => `${run.id}:${row.id}`;

  async function render(params, host) {
    const task = params.task ?? "";
    const history = task ? await Strop.history(task, params.run) : [];
    const all = history.flatMap(({ run, name, rows }) => rows.map((row) => ({ run, name, row, key: key(run, row) })));
    if (!host.isConnected) return;
    host.append(el("h1", null, "Compare two answers"));
    if (all.length < 2) {
      const text = task ? "This page holds fewer than two rollouts of this task." : "Choose a task.";
      host.append(el("p", { class: "panel" }, text), await tasks(params.run));
      return;
    }
    const [left, right] = sides(all, params);
    const { label } = history.map(({ run }) => Strop.get(run.tasks, task)).find(Boolean) ?? {};
    const go = (one, other) => Strop.go({ view: "compare", task, left: one.key, right: other.key }, { replace: true });
    host.append(
      el(
        "p",
        null,
        label ? `${label} ` : "",
        el("a", { class: "no-print", href: Strop.link({ view: "task", task }) }, "Task over training"),
      ),
    );
    host.append(pickers(history, all, left, right, go));
    const gone = [
      ["left", left],
      ["right", right],
    ]
      .filter(([side, one]) => params[side] && !named(one, params, side))
      .map(([side]) => params[side]);
    if (gone.length)
      host.append(el("p", { class: "warning" }, `Not in this page, so another one is shown: ${gone.join(", ")}.`));
    keys(all, left, right, go, task);
    const details = await Promise.all([left, right].map(({ run, row }) => Strop.source.detail(run.id, row.id)));
    if (host.isConnected) host.append(...Strop.beside([left, right], details));
  }

  const named = (one, params, side) => one.key === params[side] || one.key === `${params.run}:${params[side]}`;

  // The sides in the address, else the first answers of the first and the last evaluation, else the first and last row.
  function sides(all, params) {
    const at = (side) => all.find((one) => named(one, params, side));
    const evaluated = all.filter(({ row }) => row.kind === "evaluation");
    const first = at("left") ?? evaluated[0] ?? all[0];
    const asked = at("right");
    if (asked) return [first, asked];
    const twins = all.filter(
      ({ run, row }) => run === first.run && row.kind === first.row.kind && row.index === first.row.index,
    );
    const others = twins.filter(
      ({ row, key: of }) => of !== first.key && Boolean(row.greedy) === Boolean(first.row.greedy),
    );
    return [first, others.at(-1) ?? all.findLast((one) => one !== first)];
  }

  // Without a task: lists tasks with several rollouts in the page, those seen at most places first.
  async function tasks(id) {
    const run = (await Strop.source.page()).runs.find((one) => one.id === id) ?? {};
    const { rows } = await Strop.source.search(id, {}, LOOKED_AT);
    const places = (some) => new Set(some.map((row) => row.evaluation || `step ${row.step}`));
    const found = [...Map.groupBy(Strop.inOrder(rows, run), (row) => row.task)]
      .filter(([, some]) => some.length > 1)
      .map(([task, some]) => ({ task, count: some.length, places: [...places(some)] }))
      .sort((one, other) => other.places.length - one.places.length);
    const lines = found.map(({ task, count, places: seen }) => [
      el("a", { href: Strop.link({ view: "compare", task }) }, Strop.get(run.tasks, task)?.label || task),
      String(count),
      seen.length > MOST_PLACES ? `${seen.length} steps and evaluations` : seen.join(", "),
    ]);
    const table = Strop.table("tasks", [["Task"], ["Rollouts", true], ["Seen at"]], lines);
    return Strop.section(
      "Tasks of this run",
      lines.length ? table : el("p", { class: "muted" }, "No task has two rollouts here."),
    );
  }

  function pickers(history, all, left, right, go) {
    const swap = el("button", { type: "button", on: { click: () => go(right, left) } }, "⇄ Swap");
    const find = (value) => all.find((one) => one.key === value);
    return el(
      "div",
      { class: "pickers no-print" },
      picker("Left", history, left, (value) => go(find(value), right)),
      swap,
      picker("Right", history, right, (value) => go(left, find(value))),
    );
  }

  function picker(label, history, chosen, choose) {
    const groups = history.flatMap(({ run, name, rows }) => {
      const places = Map.groupBy(rows, (row) => (row.kind === "evaluation" ? placeName(row, run) : `step ${row.step}`));
      return [...places].map(([place, some]) =>
        el(
          "optgroup",
          { label: history.length > 1 ? `${name}: ${place}` : place },
          some.map((row) => option(row, run, chosen)),
        ),
      );
    });
    return el(
      "label",
      { class: "picker" },
      label,
      el("select", { on: { change: (event) => choose(event.target.value) } }, groups),
    );
  }

  const placeName = (row, run) => run.evaluations?.find(({ file }) => file === row.evaluation)?.label || row.evaluation;

  const option = (row, run, chosen) =>
    el(
      "option",
      { value: key(run, row), selected: key(run, row) === chosen.key },
      `${Strop.rolloutName(row, run)}: ${Strop.told(row)}`,
    );

  function keys(all, left, right, go, task) {
    const next = (one, by) => all[(all.indexOf(one) + by + all.length) % all.length];
    Strop.keys({
      j: ["next on the right", () => go(left, next(right, 1))],
      k: ["previous on the right", () => go(left, next(right, -1))],
      l: ["next on the left", () => go(next(left, 1), right)],
      h: ["previous on the left", () => go(next(left, -1), right)],
      x: ["swap", () => go(right, left)],
      Escape: ["up to the task", () => Strop.go({ view: "task", task })],
    });
  }

  Strop.view("compare", { title: "Compare", tab: 4, render });
})();
