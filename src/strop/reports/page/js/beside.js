// Strop.beside(sides, details): two rollouts side by side: results, the difference between their answers, their tests.
// A side is {run, name: the run's, row}; a detail is null if the page does not hold it.
"use strict";
(() => {
  const { el, format } = Strop;
  const CONTEXT = 3; // equal lines kept around a change
  const FOLD = 4; // fewer equal lines than this are not folded

  Strop.beside = (sides, details) => {
    const answers = details.map((detail, at) => detail?.answer ?? sides[at].row.text ?? "");
    return [
      Strop.section("Results", results(sides, details)),
      Strop.section(
        "Answers",
        details.includes(null)
          ? el(
              "p",
              { class: "muted" },
              "This page holds only the beginning of an answer: strop view RUN shows all of it.",
            )
          : null,
        difference(answers, sides, details),
      ),
      Strop.section("Tests", tests(details)),
    ];
  };

  // One line per fact, one column per side; scores by name, with the difference.
  function results(sides, details) {
    const rows = sides.map(({ row }) => row);
    const [one, other] = rows;
    const several = sides[0].run !== sides[1].run;
    const line = (name, write) => [name, ...rows.map(write), ""];
    const told = (value) => (value === undefined ? "–" : Strop.reward(value));
    const number = (name, left, right) => [name, told(left), told(right), gap(left, right)];
    const scores = [...new Set(rows.flatMap((row) => Object.keys(row.scores ?? {})))];
    const stages = [...new Set(rows.flatMap((row) => Object.keys(row.stages ?? {})))];
    const stage = (name) => [name, ...rows.map((row, at) => stageOf(name, row, details[at])), ""];
    return Strop.table(
      "results of both",
      [[""], [open(sides[0], several)], [open(sides[1], several)], ["Difference", true]],
      [
        line("Outcome", (row) => Strop.outcome(row.outcome)),
        ...stages.map(stage),
        ["Cause", ...details.map((detail) => el("span", { class: "message" }, detail?.verdict?.detail || "–")), ""],
        ...(rows.every((row) => row.reward === null) ? [] : [number("Reward", one.reward, other.reward)]),
        ...scores.map((name) => number(`score ${name}`, Strop.get(one.scores, name), Strop.get(other.scores, name))),
        ...(rows.every((row) => row.advantage === null)
          ? []
          : [line("Advantage", (row) => format.signed(row.advantage))]),
        ["Tokens", format.count(one.tokens), format.count(other.tokens), gap(one.tokens, other.tokens)],
        line("Flags", (row) => (row.flags?.length ? row.flags.map((flag) => `⚑ ${flag}`).join(", ") : "–")),
      ],
    );
  }

  function stageOf(name, row, detail) {
    const stages =
      detail?.verdict?.stages ?? Object.entries(row.stages ?? {}).map(([of, passed]) => ({ name: of, passed }));
    const at = stages.findIndex((stage) => stage.name === name);
    return at < 0 ? "–" : Strop.stage(stages, at, detail?.verdict?.tests ?? []);
  }

  const open = ({ run, name, row }, several) =>
    el(
      "a",
      { href: Strop.link({ view: "rollout", run: run.id, id: row.id }) },
      `${several ? `${name} · ` : ""}${Strop.rolloutName(row, run)}`,
    );
  const gap = (left, right) =>
    Number.isFinite(left) && Number.isFinite(right)
      ? format.signed(right - left, Number.isInteger(right - left) ? 0 : 3)
      : "";

  function difference(answers, sides, details) {
    const found = Strop.difference(answers[0], answers[1]);
    if (found.kind === "same")
      return [
        el("p", null, "Both answers are the same, line by line."),
        Strop.code(answers[0], details[0]?.colours, "both answers"),
      ];
    const several = sides[0].run !== sides[1].run;
    const names = sides.map(({ run, name, row }) => `${several ? `${name} · ` : ""}${Strop.rolloutName(row, run)}`);
    if (found.kind === "too different") {
      const plain = answers.map((text, at) =>
        el("div", null, el("h3", null, names[at]), Strop.code(text, details[at]?.colours, names[at])),
      );
      return [
        el("p", { class: "muted" }, "Too different to compare line by line; both are shown unchanged."),
        el("div", { class: "both" }, plain),
      ];
    }
    const text = `${format.count(found.removed)} ${found.removed === 1 ? "line removed" : "lines removed"}, ${format.count(found.added)} ${found.added === 1 ? "line added" : "lines added"}.`;
    return [
      el("p", { class: "muted" }, text),
      el(
        "div",
        { class: "diff", role: "region", tabindex: 0, "aria-label": "difference between the answers" },
        head(names),
        body(found.rows),
      ),
    ];
  }

  const head = (names) =>
    el(
      "div",
      { class: "diff-row diff-head" },
      names.map((name) => el("div", { class: "diff-cell" }, name)),
    );

  // Rows with long runs of equal lines folded away.
  function body(rows) {
    const near = new Set();
    rows.forEach((row, at) => {
      if (row.kind !== "same") for (let to = at - CONTEXT; to <= at + CONTEXT; to += 1) near.add(to);
    });
    const items = [];
    for (let at = 0; at < rows.length;) {
      let end = at;
      while (end < rows.length && !near.has(end)) end += 1;
      if (end - at >= FOLD) items.push(rows.slice(at, end));
      else for (let to = at; to < end; to += 1) items.push(rows[to]);
      if (end < rows.length) items.push(rows[end]);
      at = end + 1;
    }
    const box = el("div", { class: "diff-body" });
    Strop.drawn(box, items.length, (at) => (Array.isArray(items[at]) ? folded(items[at]) : rowOf(items[at])));
    return box;
  }

  const folded = (rows) => {
    const inside = el(
      "details",
      { class: "diff-fold" },
      el("summary", null, `${format.count(rows.length)} equal lines`),
    );
    inside.addEventListener("toggle", () => Strop.drawn(inside, rows.length, (at) => rowOf(rows[at])), { once: true });
    return inside;
  };

  const SIGNS = { same: [" ", " "], changed: ["−", "+"], removed: ["−", " "], added: [" ", "+"] };

  const rowOf = (row) =>
    el(
      "div",
      { class: `diff-row diff-${row.kind}` },
      sideOf(row.left, SIGNS[row.kind][0], "left"),
      sideOf(row.right, SIGNS[row.kind][1], "right"),
    );

  function sideOf(line, sign, side) {
    if (line === null) return el("div", { class: `diff-cell diff-none ${side}` });
    const parts = line.parts.map(([text, marked]) => (marked ? el(sign === "+" ? "ins" : "del", null, text) : text));
    return el(
      "div",
      { class: `diff-cell ${side}` },
      el("span", { class: "diff-number" }, line.number),
      el("span", { class: "diff-sign" }, sign),
      el("code", null, parts),
    );
  }

  function tests(details) {
    const [left, right] = details.map(
      (detail) => new Map((detail?.verdict?.tests ?? []).map((test) => [test.id, test])),
    );
    const ids = [...new Set([...left.keys(), ...right.keys()])];
    if (ids.length === 0) return el("p", { class: "muted" }, "No test ran on either answer.");
    const differ = (id) => left.get(id)?.outcome !== right.get(id)?.outcome;
    ids.sort((one, other) => differ(other) - differ(one));
    const side = (test) =>
      test
        ? [Strop.outcome(test.outcome), test.message ? el("span", { class: "message" }, ` ${test.message}`) : ""]
        : "did not run";
    const count = ids.filter(differ).length;
    const rows = ids.map((id) => [
      el("code", null, id),
      side(left.get(id)),
      side(right.get(id)),
      differ(id) ? "differs" : "",
    ]);
    return Strop.fold(
      `${count} of ${ids.length} tests have different outcomes`,
      count > 0,
      Strop.table("tests of both", [["Test"], ["Left"], ["Right"], [""]], rows),
    );
  }
})();
