// Names, verdicts and scores of rollouts: Strop.rolloutName, Strop.told, Strop.verdict (stages, tests, output),
// Strop.scores.
"use strict";
(() => {
  const { format } = Strop;
  const NEAR = 1e-6;
  const SHORT = 20; // maximum characters of a test's name that is not wrapped

  // "step 12 · group 3 · answer 1", "before training · answer 0"
  Strop.rolloutName = (row, run) => {
    const answer = row.greedy ? "greedy answer" : `answer ${row.index}`;
    if (row.kind === "train") return `step ${row.step} · group ${row.group} · ${answer}`;
    const evaluation = (run?.evaluations ?? []).find(({ file }) => file === row.evaluation);
    return `${evaluation?.label || row.evaluation} · ${answer}`;
  };

  // A reward in human-readable form: scored or not.
  Strop.reward = (value) => (value === null || value === undefined ? "not scored" : format.number(value));

  // "failed, reward 0.5". Evaluations have no rewards.
  Strop.told = (row) =>
    row.kind === "evaluation" && row.reward === null
      ? row.outcome
      : `${row.outcome}, reward ${Strop.reward(row.reward)}`;

  // How a stage ended. A failed stage without output after another failed one was not reached.
  Strop.stage = (stages, at, tests) => {
    const stage = stages[at];
    const silent = !stage.output && !(stage.name === "test" && tests.length > 0);
    if (stage.passed || !silent || stages.slice(0, at).every((earlier) => earlier.passed)) {
      return Strop.outcome(stage.passed ? "passed" : "failed");
    }
    const sign = Strop.el("span", { class: "sign", "aria-hidden": true }, "·");
    return Strop.el("span", { class: "outcome muted" }, sign, " not reached");
  };

  function stageOf(stage, index, all, tests) {
    const twin = all.slice(0, index).find((earlier) => earlier.output && earlier.output === stage.output);
    const time = stage.seconds ? Strop.el("span", { class: "muted" }, format.seconds(stage.seconds)) : null;
    return Strop.el(
      "li",
      { class: "stage" },
      Strop.el(
        "p",
        { class: "stage-head" },
        Strop.el("b", null, stage.name),
        " ",
        Strop.stage(all, index, tests),
        " ",
        time,
      ),
      twin ? Strop.el("p", { class: "muted" }, `printed the same as ${twin.name}`) : null,
      stage.output && !twin
        ? Strop.folded(`Output of ${stage.name},`, stage.output, { label: `output of ${stage.name}` })
        : null,
      stage.truncated ? Strop.el("p", { class: "muted" }, "The output was cut.") : null,
    );
  }

  const written = (text) => (text ? Strop.el("code", { class: "message" }, text) : "");

  const testRow = (told) => (test) => [
    Strop.el("code", { class: test.id.length < SHORT ? "num" : null }, test.id),
    Strop.outcome(test.outcome),
    ...(told ? [written(test.given), written(test.expected)] : []),
    test.message ? Strop.el("span", { class: "message" }, test.message) : "",
    format.seconds(test.seconds || null),
  ];

  // Tests that no longer ran, in one line.
  const left = (tests, columns) =>
    tests.length ? [[`${format.count(tests.length)} more`, Strop.el("span", { class: "muted" }, "not run"), ...Array.from({ length: columns - 2 }, () => "")]] : [];

  function testsOf(tests) {
    if (tests.length === 0) return null;
    const passed = tests.filter((test) => test.outcome === "passed").length;
    const told = tests.some((test) => test.given || test.expected);
    const columns = [["Test"], ["Outcome"], ...(told ? [["Given"], ["Expected"], ["Got"]] : [["Message"]]), ["Time", true]];
    const ran = tests.filter(({ message }) => message !== "not run");
    const rest = tests.filter(({ message }) => message === "not run");
    const table = Strop.table("tests", columns, [...ran.map(testRow(told)), ...left(rest, columns.length)]);
    const text = `${format.count(passed)} of ${format.count(tests.length)} tests passed`;
    return Strop.fold(text, tests.length <= 24, table);
  }

  // The section of a verdict, which may be missing.
  Strop.verdict = (verdict) => {
    if (!verdict) return Strop.section("Verdict", Strop.el("p", { class: "muted" }, "This rollout was not verified."));
    const tests = verdict.tests ?? [];
    const stages = verdict.stages ?? [];
    const ours = verdict.outcome === "error" ? " This is the grader's failure, not the model's: no score." : "";
    return Strop.section(
      "Verdict",
      Strop.el("p", { class: "verdict-line" }, Strop.outcome(verdict.outcome), " ", verdict.detail ?? "", ours),
      stages.length
        ? Strop.el(
            "ol",
            { class: "stages" },
            stages.map((stage, at) => stageOf(stage, at, stages, tests)),
          )
        : null,
      testsOf(tests),
      verdict.output
        ? Strop.folded("What the answer printed,", verdict.output, { label: "what the answer printed" })
        : null,
    );
  };

  // A table of scores [{name, value, weight}] that shows how they add up to the reward; no sum if weights are null.
  Strop.scores = (scores, reward) => {
    if (scores.length === 0)
      return Strop.el(
        "p",
        { class: "muted" },
        reward === null ? "None: evaluations have verdicts only." : `Reward: ${Strop.reward(reward)}.`,
      );
    const weighed = scores.every((score) => typeof score.weight === "number");
    const part = (score) => (score.value === null || score.value === undefined ? null : score.value * score.weight);
    const columns = weighed
      ? [["Score"], ["Value", true], ["×\u00a0Weight", true], ["=\u00a0Part", true]]
      : [["Score"], ["Value", true]];
    const rows = scores.map((score) => [
      score.name,
      Strop.reward(score.value),
      ...(weighed ? [format.number(score.weight), format.number(part(score))] : []),
    ]);
    const total = Strop.el("b", null, Strop.reward(reward));
    rows.push([Strop.el("b", null, "Reward"), ...(weighed ? ["", ""] : []), total]);
    return [Strop.table("scores", columns, rows), note(scores.map(part), weighed, reward)];
  };

  function note(parts, weighed, reward) {
    if (reward === null || reward === undefined) {
      return Strop.el("p", { class: "muted" }, "Not scored: excluded from the baseline and the loss.");
    }
    if (!weighed) return null;
    const sum = parts.reduce((total, part) => total + (part ?? 0), 0);
    if (Math.abs(sum - reward) <= NEAR * Math.max(1, Math.abs(reward))) return null;
    return Strop.el(
      "p",
      { class: "warning" },
      `The parts add up to ${format.number(sum, 6)}, not to the recorded reward.`,
    );
  }
})();
