// Where data comes from. This is the embedded implementation: everything is in the page. The live one (live.js) answers
// the same questions over its server and takes this one's place when the element holds null.
"use strict";
(() => {
  let loading = null;

  // The embedded data, or null in the live page.
  Strop.embedded = () => (loading ??= unpack(document.getElementById("strop-data").textContent.trim()));

  async function unpack(text) {
    if (text === "null" || text === "") return null;
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  // Whether a row passes the filters; `answer` is its whole text where that is known, `label` its task's.
  Strop.matches = (row, filters, answer, label) => {
    const { text, flag, outcome, task, min, max, from, to, kind, evaluation } = filters;
    if (kind && row.kind !== kind) return false;
    if (evaluation && row.evaluation !== evaluation) return false;
    if (outcome && row.outcome !== outcome) return false;
    if (flag && !(flag === "*" ? row.flags?.length : row.flags?.includes(flag))) return false;
    if (given(min) && !(row.reward !== null && row.reward >= Number(min))) return false;
    if (given(max) && !(row.reward !== null && row.reward <= Number(max))) return false;
    if (given(from) && !(row.step !== null && row.step >= Number(from))) return false;
    if (given(to) && !(row.step !== null && row.step <= Number(to))) return false;
    if (task && !row.task.startsWith(task) && !holds(label ?? "", task)) return false;
    return !text || holds(answer ?? row.text, text);
  };

  const given = (value) => value !== undefined && value !== null && value !== "";
  const holds = (text, part) => text.toLowerCase().includes(part.toLowerCase());

  const data = async (run) => {
    const whole = await Strop.embedded();
    return whole.runs.find((one) => one.id === String(run)) ?? null;
  };

  async function page() {
    const { runs, ...rest } = await Strop.embedded();
    return { ...rest, runs: runs.map(described) };
  }

  // A run without its rollouts; with `here`, the steps that have some in this page, and `flags`, the kinds among them.
  function described({ rollouts = [], details, ...run }) {
    const steps = new Set(rollouts.filter((row) => row.kind === "train").map((row) => row.step));
    const flags = new Set(rollouts.flatMap((row) => row.flags ?? []));
    return { ...run, here: [...steps].sort((left, right) => left - right), flags: [...flags].sort() };
  }

  // Rows of one step or of one evaluation, in their order.
  async function rows(run, { step, evaluation }) {
    const all = (await data(run))?.rollouts ?? [];
    if (evaluation) return all.filter((row) => row.kind === "evaluation" && row.evaluation === evaluation);
    return all.filter((row) => row.kind === "train" && row.step === Number(step));
  }

  // {rows: at most `limit`, matched, looked_at: rows in this page, total: rows of the run}
  async function search(run, filters, limit) {
    const of = await data(run);
    const all = of?.rollouts ?? [];
    const found = all.filter((row) =>
      Strop.matches(
        row,
        filters,
        Strop.get(of.details, row.id)?.answer,
        Strop.get(of.tasks, row.task)?.label,
      ),
    );
    return {
      rows: found.slice(0, limit),
      matched: found.length,
      looked_at: all.length,
      total: of?.total_rollouts ?? all.length,
    };
  }

  const detail = async (run, id) => Strop.get((await data(run))?.details, id) ?? null;

  // A task's groups over the whole run, and its rows in this page.
  async function task(run, id) {
    const of = await data(run);
    return {
      groups: (of?.groups ?? []).filter((group) => group[2] === id),
      rows: (of?.rollouts ?? []).filter((row) => row.task === id),
    };
  }

  Strop.source = { page, rows, search, detail, task, onchange: () => {} };
})();
