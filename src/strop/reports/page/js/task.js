// View "task": one task over training, in every run of the page that has it. Address: task, run.
"use strict";
(() => {
  const { el, format } = Strop;
  const LIST = 200; // rollouts listed at once

  async function render(params, host) {
    const history = params.task ? await Strop.history(params.task, params.run) : [];
    if (!host.isConnected) return;
    host.dataset.size = sizeOf(history);
    if (history.length === 0) {
      host.replaceChildren(
        el("p", { class: "panel" }, `No rollout of task ${params.task ?? "(none)"} is in this page.`),
      );
      return;
    }
    const rows = history.flatMap(({ run, name, rows: some }) => some.map((row) => ({ run, name, row })));
    const list = listed(rows, history.length > 1);
    host.replaceChildren(
      head(params.task, history),
      Strop.section("Over training", Strop.historyChart(history), groupsOf(history)),
      Strop.section("In evaluations", evaluationsOf(history)),
      Strop.section(`Rollouts (${format.count(rows.length)})`, list),
    );
    keys(list, params.task);
  }

  const sizeOf = (history) => history.reduce((sum, { groups, rows }) => sum + groups.length + rows.length, 0);

  function head(task, history) {
    const { label, language } = history.map(({ run }) => Strop.get(run.tasks, task)).find(Boolean) ?? {};
    return el(
      "header",
      { class: "rollout-head" },
      el("h1", null, label || `Task ${task}`),
      el(
        "p",
        { class: "rollout-result muted" },
        el("code", null, task),
        language ? el("span", { class: "chip" }, language) : null,
        el("a", { class: "no-print", href: Strop.link({ view: "compare", task }) }, "Compare two checkpoints"),
        el("a", { class: "no-print", href: Strop.link({ view: "rollouts", task }) }, "Find among rollouts"),
      ),
    );
  }

  const open = (run, row) => Strop.link({ view: "rollout", run: run.id, id: row.id });
  const sign = (run, row) =>
    el(
      "a",
      { href: open(run, row), title: `${Strop.rolloutName(row, run)}: ${Strop.told(row)}` },
      Strop.outcome(row.outcome, true),
    );
  const strip = (run, rows) =>
    el(
      "span",
      { class: "strip" },
      rows.map((row) => sign(run, row)),
    );
  const rate = (passed, scored) => (scored > 0 ? passed / scored : null);
  const named = (history, name) => (history.length > 1 ? [name] : []);

  function groupsOf(history) {
    const rows = history.flatMap(({ run, name, groups, rows: all }) =>
      groups.map(([step, group, , n, scored, passed, mean, signal]) => [
        ...named(history, name),
        el(
          "a",
          { href: Strop.link({ view: "rollouts", run: run.id, step, at: `t.${step}.${group}.0` }) },
          `step ${step} · group ${group}`,
        ),
        `${passed} of ${scored}${n > scored ? ` (${n - scored} not scored)` : ""}`,
        [Strop.bar(rate(passed, scored), ""), " ", format.percent(rate(passed, scored))],
        format.number(mean),
        signal ? "yes" : "no",
        strip(
          run,
          all.filter((row) => row.kind === "train" && row.step === step && row.group === group),
        ),
      ]),
    );
    if (rows.length === 0) return el("p", { class: "muted" }, "Training has not sampled this task.");
    const columns = [["Group"], ["Passed"], ["Rate", true], ["Mean reward", true], ["Signal"], ["Rollouts"]];
    return Strop.table("groups of this task", history.length > 1 ? [["Run"], ...columns] : columns, rows);
  }

  function evaluationsOf(history) {
    const rows = history.flatMap(({ run, name, rows: all }) =>
      (run.evaluations ?? []).flatMap((evaluation) => {
        const of = all.filter((row) => row.kind === "evaluation" && row.evaluation === evaluation.file);
        const sampled = of.filter((row) => !row.greedy);
        const passed = sampled.filter((row) => row.outcome === "passed").length;
        const scored = sampled.filter((row) => row.outcome !== "error").length;
        if (of.length === 0) return [];
        const greedy = of.filter((row) => row.greedy);
        const line = [
          evaluation.label || evaluation.file,
          `${passed} of ${scored}`,
          strip(run, sampled),
          strip(run, greedy),
        ];
        return [[...named(history, name), ...line]];
      }),
    );
    if (rows.length === 0)
      return el(
        "p",
        { class: "muted" },
        "No evaluation in this page has this task: it was trained on, or its rollouts were not kept.",
      );
    const columns = [["Evaluation"], ["Passed"], ["Sampled"], ["Greedy"]];
    return Strop.table("evaluations of this task", history.length > 1 ? [["Run"], ...columns] : columns, rows);
  }

  function listed(rows, several) {
    const box = el("div", { class: "task-rollouts" });
    Strop.drawn(
      box,
      rows.length,
      (at) => {
        const { run, name, row } = rows[at];
        return el(
          "a",
          { class: "task-rollout", href: open(run, row) },
          el(
            "span",
            { class: "task-rollout-head" },
            Strop.outcome(row.outcome, true),
            " ",
            several ? `${name} · ` : "",
            Strop.rolloutName(row, run),
            el("span", { class: "muted" }, ` ${Strop.told(row)}, ${format.count(row.tokens)} tokens`),
          ),
          el("code", { class: "task-rollout-text" }, (row.text ?? "").trim().split("\n").slice(0, 4).join("\n")),
        );
      },
      LIST,
    );
    return box;
  }

  function keys(list, task) {
    const move = (by) => () => {
      const all = [...list.querySelectorAll("a.task-rollout")];
      const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + by))];
      next?.focus();
    };
    Strop.keys({
      j: ["next rollout", move(1)],
      k: ["previous rollout", move(-1)],
      c: ["compare two checkpoints", () => Strop.go({ view: "compare", task })],
      Escape: ["to the rollouts", () => Strop.go({ view: "rollouts" })],
    });
  }

  // In the live page: redrawn when the run plays this task again, unless the user is interacting with it.
  async function changed(params, host) {
    if (host.contains(document.activeElement)) return;
    const history = await Strop.history(params.task, params.run);
    if (sizeOf(history) !== Number(host.dataset.size)) await render(params, host);
  }

  Strop.view("task", { title: "Task", render, changed });
})();
