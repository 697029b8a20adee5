// Tables of evaluations: before, after the warm start and after training, with intervals and paired differences.
"use strict";
(() => {
  const el = Strop.el;
  const PHASES = ["before", "warm", "after"];
  const HEADS = { before: "before", warm: "warm start", after: "after" };
  const ORDER = [/^pass@/, /^greedy$/, /^build$/, /^lint$/, /^base$/, /^test$/, /^greedy-/, /./];

  const resultOf = (run, set, phase) =>
    (run.evaluations ?? []).find((one) => one.set === set && one.name === phase)?.result;

  // [{key, before, warm, after, paired, paired_warm}] of a run on a set; "" is the held-out set.
  const comparisonOf = (run, set) => (set ? Strop.get(run.extra_comparisons, set) : run.comparison) ?? [];

  const triple = (result, key) => {
    const value = Strop.get(result, key);
    return typeof value === "number" ? [value, ...(Strop.get(result.intervals, key) ?? [])] : null;
  };

  const percent = (value) => (typeof value === "number" ? (value * 100).toFixed(1) : "–");
  const range = (low, high, write) =>
    typeof low === "number" && el("span", { class: "o-interval muted" }, `[${write(low)}, ${write(high)}]`);

  function valueCell(found) {
    if (!found) return el("td", { class: "num muted" }, "–");
    return el("td", { class: "num" }, el("b", {}, percent(found[0])), " ", range(found[1], found[2], percent));
  }

  const points = (value) => Strop.format.signed(value * 100, 1);

  // A paired difference in percentage points, marked if its interval excludes zero.
  function differenceCell(found) {
    if (!found) return el("td", { class: "num muted" }, "–");
    const [delta, low, high] = found;
    const [sign, kind, said] =
      low > 0 ? ["▲", "good", "better: the interval excludes zero"]
      : high < 0 ? ["▼", "bad", "worse: the interval excludes zero"]
      : ["○", "muted", "the interval contains zero"];
    const mark = el("span", { class: kind, title: said }, sign, el("span", { class: "unseen" }, ` ${said}`));
    return el("td", { class: "num" }, el("b", { class: kind }, points(delta)), " ", mark, " ", range(low, high, points));
  }

  const rank = (key) => ORDER.findIndex((pattern) => pattern.test(key));

  // One table per set, with a row per number and run, so that runs are below each other.
  function table(runs, set) {
    const all = runs.map((run) => new Map(comparisonOf(run, set).map((entry) => [entry.key, entry])));
    const keys = [...new Set(all.flatMap((entries) => [...entries.keys()]))];
    keys.sort((left, right) => rank(left) - rank(right));
    const has = (column) => all.some((entries) => [...entries.values()].some((entry) => entry[column]));
    const phases = PHASES.filter(has);
    const differences = [["paired", "after − before"], ["paired_warm", "after − warm start"]].filter(([name]) => has(name));
    const several = runs.length > 1;
    const head = [...phases.map((phase) => HEADS[phase]), ...differences.map(([, title]) => title)];
    const body = keys.map((key) => {
      const there = runs.map((run, index) => [run, index, all[index].get(key)]).filter(([, , entry]) => entry);
      return el(
        "tbody",
        {},
        there.map(([run, index, entry], at) =>
          el(
            "tr",
            {},
            at === 0 && el("th", { scope: "rowgroup", rowspan: there.length }, key),
            several && el("td", {}, Strop.runName(run, index)),
            phases.map((phase) => valueCell(entry[phase])),
            differences.map(([name]) => differenceCell(entry[name])),
          ),
        ),
      );
    });
    return el(
      "div",
      { class: "table-box" },
      el(
        "table",
        { class: "data o-results" },
        el("caption", {}, caption(runs, set)),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "%"),
            several && el("th", { scope: "col" }, "run"),
            head.map((text) => el("th", { scope: "col", class: "num" }, text)),
          ),
        ),
        body,
      ),
    );
  }

  // What the model may have seen of the tasks, one line per run; from the evaluation before training if there is one.
  function seen(runs, set) {
    return runs.map((run, index) => {
      const note = PHASES.map((phase) => resultOf(run, set, phase)?.contamination?.note).find(Boolean);
      return note && el("p", { class: "muted o-seen" }, runs.length > 1 && [Strop.runName(run, index), " "], note, ".");
    }).filter(Boolean);
  }

  function caption(runs, set) {
    const results = runs.flatMap((run) => PHASES.map((phase) => resultOf(run, set, phase))).filter(Boolean);
    const of = (name) => [...new Set(results.map((result) => result[name]).filter((value) => value !== undefined))];
    const facts = [
      of("tasks").length && `${of("tasks").join(" or ")} tasks`,
      of("samples").length && `${of("samples").join(" or ")} samples a task`,
      of("confidence").length && `intervals at ${of("confidence").map((level) => Strop.format.percent(level)).join(" or ")}`,
    ];
    return el("span", {}, el("b", {}, set || "Held-out tasks"), " ", el("small", { class: "muted" }, facts.filter(Boolean).join(", ")));
  }

  // The models of `strop eval`, one row each; below each later one its difference from the first on the same tasks.
  function models(runs) {
    const there = runs.map((run, index) => ({ run, index, done: evaluated(run) })).filter(({ run, done }) => run.kind === "evaluation" && done.length);
    return there.map(({ run, index, done }) => {
      const keys = [...new Set(done.flatMap(({ result }) => Object.keys(result.intervals)))].sort((left, right) => rank(left) - rank(right));
      const differences = run.summary?.evaluation?.differences ?? {};
      const body = done.flatMap(({ label, file, result }) => {
        const name = el("a", { href: Strop.link({ view: "rollouts", run: run.id, evaluation: file }) }, label);
        const paired = Strop.get(differences, label);
        const than = (key) => {
          const found = Strop.get(paired, key);
          return differenceCell(found && [found.delta, found.low, found.high]);
        };
        return [
          [name, ...keys.map((key) => valueCell(triple(result, key)))],
          paired && [el("span", { class: "muted" }, "difference from the first"), ...keys.map(than)],
        ].filter(Boolean);
      });
      const { result } = done[0];
      const facts = `${result.tasks} tasks, ${result.samples} samples per task, intervals at ${Strop.format.percent(result.confidence)}`;
      return el("div", { class: "table-box" }, el("p", { class: "muted" }, runs.length > 1 && [Strop.runName(run, index), " "], facts), grid(["%", ...keys], body, "data o-results"));
    });
  }

  const evaluated = (run) => (run.evaluations ?? []).filter(({ result }) => result?.intervals);

  const MEANT = {
    resampled: "resampled: single answers of the same model at equal sampled tokens, any of them right",
    ceiling: "ceiling: the best possible in one turn",
    room: "room: the model before training, with more tokens for an answer",
  };

  // What each evaluation is compared with, and the share of plays that had passed by each turn.
  function controls(runs) {
    const rows = runs.flatMap((run, index) =>
      (run.evaluations ?? []).filter(({ result }) => result?.controls || result?.by_turn).map((one) => ({ run, index, ...one })),
    );
    if (!rows.length) return null;
    const names = [...new Set(rows.flatMap(({ result }) => Object.keys(result.controls ?? {})))];
    const turns = Math.max(0, ...rows.map(({ result }) => result.by_turn?.passed?.length ?? 0));
    const head = ["evaluation", "solved", ...names.flatMap((name) => [name, "difference"]), ...Array.from({ length: turns }, (_, at) => `by turn ${at + 1}`), turns && "repeated"];
    const body = rows.flatMap(({ run, index, label, result }) =>
      ["pass@1", "greedy"].filter((key) => typeof result[key] === "number").map((key) => [
        [runs.length > 1 && [Strop.runName(run, index), " "], `${label}, ${key}`],
        valueCell(triple(result, key)),
        ...names.flatMap((name) => {
          const control = Strop.get(result.controls, name);
          const found = Strop.get(control?.difference, key);
          return [valueCell(control && triple(control, key)), differenceCell(found && [found.delta, found.low, found.high])];
        }),
        ...Array.from({ length: turns }, (_, at) => percent(result.by_turn?.passed?.[at])),
        turns && percent(result.by_turn?.repeated),
      ].filter((cell) => cell !== 0)),
    );
    const said = [...names.map((name) => Strop.get(MEANT, name)), turns && "by turn: share of plays that had passed their environment's tests by then; repeated: second answers that repeat the first"];
    return el(
      "div",
      { class: "table-box o-against" },
      el("h3", {}, "Compared with"),
      grid(head.filter(Boolean), body, "data o-results"),
      el("p", { class: "muted" }, said.filter(Boolean).join("; "), "."),
    );
  }

  const TRAINED = {
    ssd: "ssd: supervised training on its own answers, verified or not",
    rft: "rft: on its own answers that passed",
    warm: "warm: the warm start continued",
  };

  // What else was trained from the same start with the same compute, and by how much the trained model is better.
  function trained(runs) {
    const rows = runs.flatMap((run, index) => Object.entries(run.summary?.controls ?? {}).map(([name, found]) => ({ run, index, name, found })));
    if (!rows.length) return null;
    const body = rows.flatMap(({ run, index, name, found }) =>
      ["pass@1", "greedy"].filter((key) => typeof found[key] === "number").map((key) => {
        const better = Strop.get(found.difference, key);
        return [
          [runs.length > 1 && [Strop.runName(run, index), " "], `${name}, ${key}`],
          valueCell(triple(found, key)),
          valueCell(triple(resultOf(run, "", "after"), key)),
          differenceCell(better && [better.delta, better.low, better.high]),
        ];
      }),
    );
    const names = [...new Set(rows.map(({ name }) => name))];
    const said = names.map((name) => Strop.get(TRAINED, name)).filter(Boolean);
    return el(
      "div",
      { class: "table-box o-trained" },
      el("h3", {}, "Controls at equal compute"),
      grid(["%", "control", "trained model", "trained − control"], body, "data o-results"),
      el("p", { class: "muted" }, `Trained from the same start on the same tasks with the same compute as the run's steps. ${said.join("; ")}.`),
    );
  }

  // The result in one sentence per set: [text, its meaning, kind]; kind is good, bad or muted. None without an evaluation.
  Strop.sentences = (run) => {
    const share = (found) => `${percent(found[0])} %${typeof found[1] === "number" ? ` [${percent(found[1])}, ${percent(found[2])}]` : ""}`;
    if (run.kind === "evaluation") {
      return evaluated(run).map(({ label, result }) => {
        const key = Object.keys(result.intervals).sort((left, right) => rank(left) - rank(right))[0];
        const found = triple(result, key);
        return [`${label}: ${found ? share(found) : "no number"} of ${result.tasks} tasks solved (${key}).`];
      });
    }
    return ["", ...Object.keys(run.extra_comparisons ?? {})].flatMap((set) => {
      const [first] = [...comparisonOf(run, set)].sort((left, right) => rank(left.key) - rank(right.key));
      const tasks = PHASES.map((phase) => resultOf(run, set, phase)?.tasks).find(Number.isFinite);
      const of = `${set ? `${set}: ` : ""}${first?.key} on ${tasks ?? "the"} ${set ? "tasks" : "held-out tasks"}`;
      const [start, pair, when] = first?.before ? ["before", "paired", "before training"] : ["warm", "paired_warm", "after the warm start"];
      if (!first) return [];
      if (!first[start]) return first.after ? [[`${of}: ${share(first.after)} after training.`]] : [];
      if (!first.after) return [[`${of}: ${share(first[start])} ${when}; after training is not evaluated yet.`]];
      const both = `${of}: ${share(first[start])} ${when}, ${share(first.after)} after`;
      const [delta, low, high] = first[pair] ?? [];
      if (typeof low !== "number") return [[`${both}.`]];
      const [said, kind] =
        low > 0 ? ["The interval is above zero: the model got better.", "good"]
        : high < 0 ? ["The interval is below zero: the model got worse.", "bad"]
        : ["The interval contains zero: no difference is shown.", "muted"];
      return [[`${both}: ${points(delta)} points [${points(low)}, ${points(high)}].`, said, kind]];
    });
  };

  // Rates by topic: the user can choose any number that is reported for all tasks.
  function topics(runs) {
    const columns = runs.flatMap((run, index) =>
      PHASES.map((phase) => ({ run, index, phase, result: resultOf(run, "", phase) })).filter(({ result }) => result?.topics),
    );
    const found = [...new Set(columns.flatMap(({ result }) => Object.keys(result.topics)))].sort();
    if (!found.length) return null;
    const keys = [...new Set(columns.flatMap(({ result }) => Object.keys(result.intervals ?? {})))];
    const select = el("select", { on: { change: () => draw() } }, keys.map((key) => el("option", { value: key }, key)));
    const box = el("div", { class: "table-box" });
    const tasks = (topic) => columns.map(({ result }) => Strop.get(result.topics, topic)?.tasks).find(Number.isFinite);
    const title = ({ run, index, phase }) => [runs.length > 1 && Strop.runName(run, index), " ", HEADS[phase]];
    const draw = () =>
      box.replaceChildren(
        grid(
          ["topic", "tasks", ...columns.map(title)],
          found.map((topic) => [
            topic,
            Strop.format.count(tasks(topic)),
            ...columns.map(({ result }) => valueCell(triple(Strop.get(result.topics, topic), select.value))),
          ]),
        ),
      );
    draw();
    return fold("By topic", el("label", {}, "Number ", select), box);
  }

  // How the answers of each evaluation ended, and what they cost.
  function outcomes(runs) {
    const rows = runs.flatMap((run, index) =>
      (run.evaluations ?? []).filter(({ result }) => result?.outcomes).map(({ name, file, result }) => ({ run, index, name: file ?? name, result })),
    );
    if (!rows.length) return null;
    const names = Strop.outcomes.filter((name) => rows.some(({ result }) => Strop.get(result.outcomes, name)));
    const head = ["evaluation", ...names.map((name) => Strop.outcome(name)), "tokens", "truncated", "seconds"];
    const body = rows.map(({ run, index, name, result }) => [
      [runs.length > 1 && Strop.runName(run, index), " ", el("a", { href: Strop.link({ view: "rollouts", run: run.id, evaluation: name }) }, name)],
      ...names.map((outcome) => Strop.format.count(Strop.get(result.outcomes, outcome) ?? 0)),
      Strop.format.number(result.tokens_mean, 1),
      Strop.format.percent(result.truncated_rate, 1),
      Strop.format.seconds(result.seconds),
    ]);
    return fold("Outcomes of the evaluations", el("div", { class: "table-box" }, grid(head, body)));
  }

  const fold = (title, ...nodes) => el("details", { class: "o-fold" }, el("summary", {}, title), nodes);

  // A table whose first column names the row; a cell may be a <td> already.
  function grid(head, rows, kind = "data") {
    const cell = (one) => (one instanceof HTMLTableCellElement ? one : el("td", { class: "num" }, one));
    return el(
      "table",
      { class: kind },
      el("thead", {}, el("tr", {}, head.map((text, at) => el("th", { scope: "col", class: at ? "num" : null }, text)))),
      el("tbody", {}, rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, first), rest.map(cell)))),
    );
  }

  Strop.cells = { value: valueCell, difference: differenceCell, grid };

  // Every number of a run's evaluations, by step: those in files and those in lines of metrics.
  Strop.evaluated = (run) => {
    if (run.kind === "evaluation") return []; // its models are not points of a curve
    const last = run.metrics?.at(-1)?.step ?? run.steps_planned ?? 0;
    const files = (run.evaluations ?? []).map(({ name: label, set, step, result }) => ({
      label, set, step: step ?? (label === "after" ? last : 0), result,
    }));
    const seen = new Set(files.filter(({ set }) => !set).map(({ step, label }) => (label === "warm" ? null : step)));
    const steps = (run.metrics ?? [])
      .filter((metrics) => metrics.held_out && !seen.has(metrics.step))
      .map((metrics) => ({ label: `step ${metrics.step}`, set: "", step: metrics.step, result: metrics.held_out }));
    const RANK = { before: 0, warm: 1, after: 3 };
    const all = [...files, ...steps].sort((a, b) => a.step - b.step || (RANK[a.label] ?? 2) - (RANK[b.label] ?? 2));
    return all.flatMap(({ result, ...of }) =>
      Object.keys(result ?? {})
        .filter((key) => Number.isFinite(result[key]))
        .map((key) => {
          const [low, high] = Strop.get(result.intervals, key) ?? [null, null];
          return { ...of, key, value: result[key], low, high };
        }),
    );
  };

  // A run's name with the colour that it has in the charts.
  Strop.runName = (run, index) =>
    el("span", { class: "o-run" }, Strop.swatch(Strop.runColour(index)), Strop.runLabel(run));

  // All evaluation results, as nodes; none without evaluations.
  Strop.results = (runs) => {
    const extra = runs.flatMap((run) => Object.keys(run.extra_comparisons ?? {}));
    const sets = ["", ...new Set(extra)].filter((set) => runs.some((run) => comparisonOf(run, set).length));
    const modelled = models(runs);
    const against = controls(runs);
    const beside = trained(runs);
    if (!sets.length) return [...modelled, against, ...(modelled.length ? [outcomes(runs)] : [])].filter(Boolean);
    const said = "Differences are paired: the same tasks before and after, in points. ▲ better, ▼ worse, ○ the interval contains zero.";
    return [
      ...sets.flatMap((set) => [table(runs, set), ...seen(runs, set)]),
      el("p", { class: "muted" }, said),
      beside,
      ...modelled,
      against,
      topics(runs),
      outcomes(runs),
    ].filter(Boolean);
  };
})();
