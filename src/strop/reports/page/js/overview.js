// The overview: facts about the runs, what they learnt, problems, and curves; all runs of the page side by side.
"use strict";
(() => {
  const el = Strop.el;
  const SIGNS = { running: "▶", finished: "✓", stopped: "■", empty: "○", flawed: "⚠" };

  Strop.view("overview", {
    title: "Overview",
    tab: 1,
    render: async (params, host) => {
      const page = await Strop.source.page();
      host.parts = [headline, Strop.runTable, alarms, results, scaled, hacks, facts].map((build) => ({ build, node: el("section", { class: "o-part" }), seen: "" }));
      const curves = el("section", { class: "o-part" });
      host.append(...host.parts.map(({ node }) => node), el("section", { class: "o-curves", hidden: evaluations(page.runs) }, el("h2", {}, "Curves"), curves));
      host.curves = Strop.curves(curves);
      tables(host, page, params);
      host.drawing = drawn(host, curves, page);
    },
    changed: async (params, host) => {
      const page = await Strop.source.page();
      tables(host, page, params);
      await host.drawing;
      host.drawing = drawn(host, null, page);
    },
  });

  // Fills every part, except those whose data has not changed, so that open sections stay open.
  function tables(host, page, params) {
    for (const part of host.parts) {
      const { seen, nodes } = part.build(page.runs, params);
      const now = JSON.stringify(seen);
      if (now === part.seen) continue;
      part.seen = now;
      const made = nodes();
      part.node.replaceChildren(...made);
      part.node.hidden = made.length === 0;
    }
  }

  async function drawn(host, box, page) {
    try {
      await host.curves.update(page);
    } catch (error) {
      console.error(error);
      const text = `The curves could not be drawn: ${error?.message ?? error}`;
      if (host.isConnected) box?.replaceChildren(el("p", { class: "failure", role: "alert" }, text));
    }
  }

  // The results, in a sentence or two per run.
  function headline(runs) {
    const said = runs.map((run) => [state(run), Strop.sentences(run)]);
    const seen = said.map(([node, lines], index) => [runs[index].name, node?.textContent, lines]);
    const nodes = () => [
      el("h1", { class: "o-title" }, runs.length > 1 ? "Results" : runs[0]?.name ?? "Result"),
      el(
        "div",
        { class: "panel o-headline" },
        said.map(([node, lines], index) => [
          el("p", { class: "o-state" }, several(runs, index), node),
          lines.length ? lines.map(([text, meant, kind]) => el("p", { class: "o-said" }, text, meant && [" ", el("b", { class: kind }, meant)])) : el("p", { class: "o-said muted" }, unevaluated(runs[index])),
        ]),
      ),
    ];
    return { seen, nodes };
  }

  function unevaluated(run) {
    const asked = ["before", "after"].some((when) => setting(run, `evaluation.${when}`) !== "false") || setting(run, "evaluation.every") > 0;
    if (!asked) return "The recipe asks for no evaluation.";
    return kindOf(run) === "finished" ? "No evaluation." : "No evaluation yet.";
  }

  const state = (run) => {
    const kind = run.state?.problems?.length ? "flawed" : kindOf(run);
    return run.state && el("span", { class: `state state-${kind}` }, `${SIGNS[kind]} ${run.state.text || kind}`);
  };

  // Facts about each run: one row per fact, one column per run.
  const FACTS = [
    ["state", state],
    ["folder", (run) => run.folder],
    ["model", (run) => setting(run, "model.name")],
    ["tasks", (run) => setting(run, "tasks.source")],
    ["rewards", (run) => rewards(run)],
    ["steps", (run) => steps(run)],
    ["rollouts", (run) => run.total_rollouts > 0 && Strop.format.count(run.total_rollouts)],
    ["wall time", (run) => time(run)],
    ["spent on", (run) => split(run)],
    ["memory", (run) => run.summary?.peak_rss_bytes > 0 && `${Strop.format.bytes(run.summary.peak_rss_bytes)} at most`],
    ["last step", (run) => last(run)],
    ["strop", (run) => version(run)],
  ];

  const evaluations = (runs) => runs.length > 0 && runs.every(({ kind }) => kind === "evaluation");

  const kindOf = (run) => (Object.hasOwn(SIGNS, run.state?.kind ?? "") ? run.state.kind : "empty");

  function setting(run, key) {
    const value = Strop.get(run.settings ?? {}, key);
    return value === undefined || value === null ? null : String(value);
  }

  // The last lines of metrics hold the value of each reward, named as in the recipe.
  function rewards(run) {
    const names = Object.keys(run.metrics?.at(-1)?.rewards ?? {});
    return names.length > 0 && names.join(", ");
  }

  function steps(run) {
    const done = run.metrics?.at(-1)?.step ?? 0;
    return run.steps_planned ? `${done} of ${run.steps_planned}` : done || null;
  }

  const total = (run) => [...Strop.clock(run).values()].at(-1);

  function time(run) {
    if (run.summary?.wall_seconds > 0) return Strop.format.seconds(run.summary.wall_seconds);
    return total(run) > 0 && `${Strop.format.seconds(total(run))} in steps`;
  }

  function split(run) {
    const parts = Object.entries(run.summary?.time_split ?? {}).filter(([, seconds]) => seconds > 0);
    parts.sort(([, left], [, right]) => right - left);
    return parts.length > 0 && parts.map(([name, seconds]) => `${name.replaceAll("_", " ")} ${Strop.format.seconds(seconds)}`).join(", ");
  }

  function last(run) {
    const line = run.metrics?.at(-1);
    if (!line) return null;
    const parts = [
      typeof line.reward === "number" && `reward ${Strop.format.number(line.reward)}`,
      typeof line.pass_rate === "number" && `pass rate ${Strop.format.percent(line.pass_rate, 1)}`,
      typeof line.completion_tokens === "number" && `${Strop.format.number(line.completion_tokens, 1)} tokens`,
      typeof line.turns === "number" && `${Strop.format.number(line.turns, 1)} turns`,
      line.error_rate > 0 && `errors ${Strop.format.percent(line.error_rate, 1)}`,
    ].filter(Boolean);
    return parts.length > 0 && parts.join(", ");
  }

  function version(run) {
    const { strop, git } = run.versions ?? {};
    const commit = git?.commit && `${String(git.commit).slice(0, 8)}${git.dirty ? " with changes" : ""}`;
    return [strop, commit].filter(Boolean).join(", ") || null;
  }

  function facts(runs, { run: here }) {
    const rows = FACTS.map(([name, of]) => [name, runs.map((run) => of(run) || null)]).filter(([, cells]) => cells.some(Boolean));
    const seen = [here, runs.map((run) => run.name), rows.map(([, cells]) => cells.map((cell) => cell?.textContent ?? cell))];
    const name = (run, index) =>
      el("th", { scope: "col", class: run.id === here && runs.length > 1 ? "is-here" : null }, Strop.runName(run, index));
    const nodes = () => [
      el(
        "details",
        { class: "panel o-about" },
        el("summary", {}, runs.length > 1 ? "About the runs" : "About the run"),
        el(
        "div",
        { class: "table-box" },
        el(
          "table",
          { class: "data o-facts" },
          el("thead", {}, el("tr", {}, el("td", {}), runs.map(name))),
          el(
            "tbody",
            {},
            rows.map(([title, cells]) =>
              el("tr", {}, el("th", { scope: "row" }, title), cells.map((cell) => el("td", {}, cell ?? el("span", { class: "muted" }, "–")))),
            ),
          ),
        ),
      ),
      ),
    ];
    return { seen, nodes };
  }

  function results(runs) {
    const seen = [runs.map(({ name, evaluations, comparison, extra_comparisons, summary }) => [name, evaluations, comparison, extra_comparisons, summary?.controls])];
    const nodes = () => {
      const made = Strop.results(runs);
      return made.length ? [el("h2", {}, evaluations(runs) ? "Models" : "Before and after"), el("div", { class: "panel" }, made)] : [];
    };
    return { seen, nodes };
  }

  function scaled(runs) {
    const nodes = () => {
      const made = Strop.scaling(runs);
      return made.length ? [el("h2", {}, "More samples, and how to choose one"), ...made] : [];
    };
    return { seen: runs.map(({ name, scaling }) => [name, scaling]), nodes };
  }

  const several = (runs, index) => (runs.length > 1 ? [Strop.runName(runs[index], index), " "] : []);

  function alarms(runs) {
    const all = runs.flatMap((run, index) => (run.alarms ?? []).map((alarm) => ({ run, index, ...alarm })));
    const item = ({ run, index, step, when, name, text }) =>
      el(
        "li",
        {},
        several(runs, index),
        el("b", { class: "warn" }, `⚠ ${name}`),
        " ",
        el("a", { href: Strop.link({ view: "rollouts", run: run.id, step }) }, when),
        `: ${text}`,
      );
    const nodes = () => (all.length ? [el("h2", {}, "Alarms"), el("ul", { class: "panel o-list" }, all.map(item))] : []);
    return { seen: all.map(({ index, when, name, text }) => [index, when, name, text]), nodes };
  }

  const FLAGGED = 20; // maximum links to flagged answers

  // The number of answers that bypass their task, with links to them.
  function hacks(runs) {
    const all = runs.map((run, index) => ({ run, index, audit: run.summary?.hack_audit })).filter(({ audit }) => audit);
    const item = ({ run, index, audit }) => {
      const kinds = Object.entries(audit.kinds ?? {}).map(([kind, count]) => `${kind} ${count}`).join(", ");
      const flagged = (audit.flagged_answers ?? []).slice(0, FLAGGED);
      return el(
        "li",
        {},
        several(runs, index),
        `${audit.flagged} of ${audit.answers} answers after training bypass their task`,
        kinds ? ` (${kinds})` : "",
        flagged.map(([task, at], order) => [order ? ", " : ": ", answerLink(run, task, at, order)]),
        (audit.flagged_answers ?? []).length > FLAGGED ? ", …" : "",
      );
    };
    const nodes = () => (all.length ? [el("h2", {}, "Hack audit"), el("ul", { class: "panel o-list" }, all.map(item))] : []);
    return { seen: all.map(({ index, audit }) => [index, audit]), nodes };
  }

  const answerLink = (run, task, at, order) =>
    el("a", { href: Strop.link({ view: "rollout", run: run.id, id: `e.after.${task}.${at}` }) }, `answer ${order + 1}`);
})();
