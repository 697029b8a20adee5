// View "rollout": one play of a task, from the prompt to the advantage. Address: run, id; print=1 for a printable page.
"use strict";
(() => {
  const { format } = Strop;
  const FIRST_LINES = 16; // a prompt of up to this many lines is open at first
  const BEGUN = 80; // characters of a request in the head of its event

  const runOf = async (id) => (await Strop.source.page()).runs.find((run) => run.id === String(id));

  async function render(params, host) {
    const { run, id = "" } = params;
    const [of, detail] = await Promise.all([runOf(run), Strop.source.detail(run, id)]);
    const place = placeOf(id, of);
    const around = place ? await Strop.source.rows(run, place) : [];
    const row = around.find((one) => one.id === id) ?? null;
    if (!host.isConnected) return;
    if (row === null && detail === null) {
      host.append(missing(id));
      return;
    }
    const known = row ?? rowFrom(detail, id, place);
    const mates = around.filter((one) => one.task === known.task && one.group === known.group);
    host.append(head(known, of, mates, stopOf(detail)), detail ? whole(known, detail, of) : partly(known));
    if (detail?.left_out)
      host.firstChild.append(Strop.el("p", { class: "muted" }, `This page is incomplete: ${detail.left_out}.`));
    keys(known, mates, around, of);
    if (params.print === "1") document.documentElement.dataset.layout = "print";
  }

  // The query for a row and its neighbours: ids are t.STEP.GROUP.INDEX and e.NAME.TASK.INDEX.
  function placeOf(id, run) {
    const train = /^t\.(\d+)\.\d+\.\d+$/.exec(id);
    if (train) return { step: Number(train[1]) };
    const names = (run?.evaluations ?? []).map(({ file }) => file).filter((name) => id.startsWith(`e.${name}.`));
    return names.length
      ? { evaluation: names.reduce((long, name) => (name.length > long.length ? name : long)) }
      : null;
  }

  const rowFrom = (detail, id, place) => ({
    id,
    kind: place?.evaluation ? "evaluation" : "train",
    evaluation: place?.evaluation ?? "",
    step: place?.step ?? null,
    group: null,
    index: id.split(".").at(-1),
    task: "",
    flags: [],
    outcome: detail.verdict?.outcome ?? "",
    reward: detail.reward,
    advantage: detail.advantage,
  });

  const missing = (id) =>
    Strop.el(
      "p",
      { class: "panel" },
      `Rollout ${id} is not in this page. `,
      Strop.el("a", { href: Strop.link({ view: "rollouts" }) }, "All rollouts"),
    );

  const up = (row) => ({ view: "rollouts", step: row.step, evaluation: row.evaluation, at: row.id });

  const open = (row) => ({ view: "rollout", id: row.id });

  // Why a play ended without an answer, and what it lacks then; null for an answered play.
  function stopOf(detail) {
    const { stop_reason: reason, carries } = detail ?? {};
    if (!carries && (reason ?? "answered") === "answered") return null;
    return `${reason === "answered" ? "answered" : `ended: ${reason}`}${carries ? `, carries ${carries}` : ""}`;
  }

  function head(row, run, mates, stop) {
    const label = Strop.get(run?.tasks, row.task)?.label;
    const at = mates.findIndex((one) => one.id === row.id);
    return Strop.el(
      "header",
      { class: "rollout-head" },
      Strop.el("h1", null, Strop.rolloutName(row, run)),
      label ? Strop.el("p", { class: "rollout-task" }, label) : null,
      Strop.el(
        "p",
        { class: "rollout-result" },
        Strop.outcome(row.outcome),
        row.kind === "train" || row.reward !== null
          ? Strop.el("span", null, "reward ", Strop.el("b", null, Strop.reward(row.reward)))
          : null,
        row.kind === "train"
          ? Strop.el("span", null, "advantage ", Strop.el("b", null, format.signed(row.advantage)))
          : null,
        row.truncated ? Strop.el("span", { class: "chip" }, "cut at the token limit") : null,
        stop ? Strop.el("span", { class: "chip" }, stop) : null,
        (row.flags ?? []).map((flag) => Strop.el("span", { class: "chip flag" }, `⚑ ${flag}`)),
      ),
      Strop.el(
        "nav",
        { class: "rollout-nav no-print", "aria-label": "around this rollout" },
        links(row, mates, at),
        strip(row, mates),
      ),
    );
  }

  const link = (text, params, title) => Strop.el("a", { href: Strop.link(params), title }, text);

  const links = (row, mates, at) => [
    link(row.kind === "train" ? "↑ Group" : "↑ Evaluation", up(row)),
    row.task ? link("Task over training", { view: "task", task: row.task }) : null,
    row.task ? link("Compare", { view: "compare", task: row.task, left: row.id }) : null,
    at > 0 ? link("← Previous", open(mates[at - 1])) : null,
    at >= 0 && at + 1 < mates.length ? link("Next →", open(mates[at + 1])) : null,
  ];

  // The group's rollouts in short form: one sign each.
  const strip = (row, mates) =>
    mates.length < 2
      ? null
      : Strop.el(
          "span",
          { class: "strip" },
          mates.map((one) =>
            Strop.el(
              "a",
              {
                href: Strop.link(open(one)),
                "aria-current": one.id === row.id ? "true" : null,
                title: `answer ${one.index}: ${Strop.told(one)}`,
              },
              Strop.outcome(one.outcome, true),
            ),
          ),
        );

  const partly = (row) => [
    Strop.section(
      "Answer",
      Strop.el(
        "p",
        { class: "muted" },
        "This page holds only the beginning of this answer: strop view RUN shows all of it.",
      ),
      Strop.code(row.text ?? "", [], "answer"),
    ),
    Strop.section(
      "Scores",
      Strop.scores(
        Object.entries(row.scores ?? {}).map(([name, value]) => ({ name, value, weight: null })),
        row.reward,
      ),
    ),
  ];

  function whole(row, detail, run) {
    const turns = detail.turns ?? [];
    return Strop.el(
      "div",
      { class: "rollout-body" },
      Strop.el(
        "div",
        { class: "rollout-main" },
        Strop.section(
          "Prompt",
          Strop.folded("Model input,", detail.prompt ?? "", { most: FIRST_LINES, label: "prompt" }),
        ),
        Strop.section("Answer", Strop.code(detail.answer ?? "", detail.colours, "answer")),
        Strop.verdict(detail.verdict),
        Strop.section(
          "Sampled text",
          turns.map((turn, number) => turnOf(turn, number, turns.length)),
        ),
      ),
      Strop.el(
        "aside",
        { class: "rollout-side", "aria-label": "scores and facts" },
        Strop.section("Scores", Strop.scores(detail.scores ?? [], detail.reward)),
        Strop.section("Facts", facts(row, detail, run)),
      ),
      Strop.el("div", { class: "rollout-wide" }, Strop.section("Tokens", Strop.tokens(turns, row.kind === "train"))),
    );
  }

  const REASONS = { stop: "met a stop string", eos: "ended by itself", length: "reached the token limit" };

  function turnOf(turn, number, all) {
    const text = turn.text ?? "";
    const head = `Turn ${number + 1} of ${all}: ${Strop.get(REASONS, turn.finish_reason) ?? turn.finish_reason},`;
    const given = turn.given ? Strop.folded("Given before it,", turn.given, { label: "given" }) : null;
    const sampled = Strop.folded(head, text, { most: all > 1 ? FIRST_LINES : 0, label: "sampled text" });
    const events = (turn.events ?? []).map((event) => eventOf(event, number));
    const left = turn.events_left_out;
    return [given, sampled, events, left ? Strop.el("p", { class: "muted" }, `${left} more events.`) : null, resultOf(turn)];
  }

  // The turn's own verdict, reward and advantage, in one line; null without any.
  function resultOf({ verdict, reward, advantage }) {
    const parts = [
      verdict && [Strop.outcome(verdict.outcome), " ", verdict.detail, verdict.tests ? ` (${verdict.passed} of ${verdict.tests} tests passed)` : ""],
      typeof reward === "number" && ["reward ", Strop.el("b", null, Strop.reward(reward))],
      typeof advantage === "number" && ["advantage ", Strop.el("b", null, format.signed(advantage))],
    ].filter(Boolean);
    return parts.length ? Strop.el("p", { class: "turn-result" }, parts.map((part, at) => (at ? [", ", part] : ["This turn: ", part]))) : null;
  }

  // The beginning of a text, on one line.
  function begun(text) {
    const line = text.slice(0, 10 * BEGUN).split(/\s+/).filter(Boolean).join(" ");
    return line.length > BEGUN ? `${line.slice(0, BEGUN)}…` : line;
  }

  // The environment's requests after a turn, and their results.
  const eventOf = (event, number) =>
    Strop.fold(
      [
        `After turn ${number + 1}: `,
        Strop.el("b", null, event.name),
        Strop.el("span", { class: "muted" }, ` ${format.seconds(event.seconds)}, ${format.bytes(event.bytes)} `),
        Strop.el("code", null, begun(event.asked ?? "")),
      ],
      false,
      Strop.output(event.asked ?? "", "asked"),
      Strop.output(event.result ?? "", "result"),
    );

  const total = (events) => events.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0);

  function facts(row, detail, run) {
    const verdict = detail.verdict ?? {};
    const effects = (detail.turns ?? []).flatMap((turn) => turn.events ?? []);
    const versions = [...new Set((detail.turns ?? []).map((turn) => turn.policy_version))];
    return Strop.facts([
      ["run", run?.name ?? null],
      ["task", row.task ? link(row.task, { view: "task", task: row.task }) : null],
      ["language", detail.language || null],
      ["tokens", format.count(row.tokens)],
      ["turns", (detail.turns ?? []).length > 1 ? String(detail.turns.length) : null],
      ["effects", effects.length ? `${effects.length} in ${format.seconds(total(effects))}` : null],
      ["ended", detail.stop_reason && detail.stop_reason !== "answered" ? detail.stop_reason : null],
      ["policy's updates", versions.join(", ") || null],
      ["verified in", format.seconds(verdict.seconds)],
      ["CPU time", format.seconds(verdict.cpu_seconds)],
      ["peak memory", verdict.peak_bytes ? format.bytes(verdict.peak_bytes) : null],
      ["seed", detail.seed === null || detail.seed === undefined ? null : Strop.el("code", null, String(detail.seed))],
      ["id", Strop.el("code", null, row.id)],
    ]);
  }

  // j, k: within the group. h, l: the previous and the next group, in this step or a neighbouring one.
  function keys(row, mates, around, run) {
    const by = (list, from, move) => list[list.findIndex((one) => one.id === from) + move];
    const to = (target) => target && Strop.go(open(target));
    const near = (move) => () => to(mates.some((one) => one.id === row.id) ? by(mates, row.id, move) : undefined);
    Strop.keys({
      j: ["next rollout of the group", near(1)],
      k: ["previous rollout of the group", near(-1)],
      l: ["next group", () => beside(row, around, run, 1).then(to)],
      h: ["previous group", () => beside(row, around, run, -1).then(to)],
      c: [
        "compare with another checkpoint",
        () => row.task && Strop.go({ view: "compare", task: row.task, left: row.id }),
      ],
      g: ["the task over training", () => row.task && Strop.go({ view: "task", task: row.task })],
      Escape: ["up to the group", () => Strop.go(up(row))],
    });
  }

  const sameGroup = (one, other) => one.task === other.task && one.group === other.group;

  async function beside(row, around, run, move) {
    const firsts = around.filter((one, index) => index === 0 || !sameGroup(one, around[index - 1]));
    const here = firsts.findIndex((one) => sameGroup(one, row));
    const there = here < 0 ? undefined : firsts[here + move];
    if (there || row.kind !== "train") return there;
    const steps = run?.steps ?? [];
    for (let at = steps.indexOf(row.step) + move; at >= 0 && at < steps.length; at += move) {
      const rows = await Strop.source.rows(run.id, { step: steps[at] });
      if (rows.length > 0) return move > 0 ? rows[0] : rows.find((one) => sameGroup(one, rows.at(-1)));
    }
    return undefined;
  }

  Strop.view("rollout", { title: "Rollout", render });
})();
