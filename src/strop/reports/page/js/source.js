// The source of data: Strop.source.page(), rows, search, detail, task, charts. Strop.ask answers a query from the data
// embedded in the page; in the live page, whose element holds null, live.js sends the same query to the server.
"use strict";
(() => {
  let loading = null;
  let charts = null;

  async function embedded() {
    loading ??= unpack(document.getElementById("strop-data").textContent.trim());
    return loading;
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  // Whether a row passes the filters; `answer` is its whole text, `label` that of its task.
  function matches(row, filters, answer, label) {
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
  }

  const last = (row, sign) => (row.reward === null ? Infinity : sign * row.reward);

  // Sort orders of rows, as in reports/page/rollout_index.py.
  const SORTS = {
    best: (row) => last(row, -1),
    worst: (row) => last(row, 1),
    longest: (row) => -row.tokens,
    shortest: (row) => row.tokens,
    flagged: (row) => -(row.flags?.length ?? 0),
  };

  function sorted(rows, order) {
    const key = Strop.get(SORTS, order);
    const compare = (left, right) => (key(left) === key(right) ? 0 : key(left) - key(right));
    return key ? rows.toSorted(compare) : rows;
  }

  const given = (value) => value !== undefined && value !== null && value !== "";
  const holds = (text, part) => text.toLowerCase().includes(part.toLowerCase());

  // A run without its rollouts; with `here`, the steps that have rollouts in this page, and `flags`, their kinds of flags.
  function described({ rollouts = [], details, ...run }) {
    const steps = new Set(rollouts.filter((row) => row.kind === "train").map((row) => row.step));
    const flags = new Set(rollouts.flatMap((row) => row.flags ?? []));
    return { ...run, here: [...steps].sort((left, right) => left - right), flags: [...flags].sort() };
  }

  // Answers to queries about one run, in the form of `strop view` (reports/view.py).
  const ANSWERS = {
    rows: ({ rollouts: all = [] }, { step, evaluation }) => ({
      rows: all.filter((row) =>
        evaluation ? row.kind === "evaluation" && row.evaluation === evaluation : row.kind === "train" && row.step === Number(step)),
    }),
    search: ({ rollouts: all = [], details, tasks, total_rollouts: total = all.length }, { limit, sort, ...filters }) => {
      const fits = (row) => matches(row, filters, Strop.get(details, row.id)?.answer, Strop.get(tasks, row.task)?.label);
      const found = sorted(all.filter(fits), sort);
      return { rows: found.slice(0, limit), matched: found.length, looked_at: all.length, total };
    },
    task: ({ groups = [], rollouts: all = [] }, { task }) => ({
      groups: groups.filter((group) => group[2] === task),
      rows: all.filter((row) => row.task === task),
    }),
    detail: ({ details }, { id }) => ({ detail: Strop.get(details, id) ?? null }),
  };

  Strop.ask = async (path, { run, ...params } = {}) => {
    const { runs, ...rest } = await embedded();
    if (path === "page") return { ...rest, runs: runs.map(described) };
    if (path === "charts") return rest.charts ?? {};
    return ANSWERS[path](runs.find((one) => one.id === String(run)) ?? {}, params);
  };

  Strop.vega = async () => window.vegaEmbed ?? Strop.fail("This page was made without its chart library.");

  Strop.fail = (message) => {
    throw new Error(message);
  };

  const renewed = (error) => {
    charts = null;
    throw error;
  };

  Strop.source = {
    page: () => Strop.ask("page"),
    // Rows of one step or of one evaluation, in their order.
    rows: async (run, { step, evaluation }) => (await Strop.ask("rows", evaluation ? { run, evaluation } : { run, step })).rows,
    // {rows: at most `limit`, matched, looked_at: rows that were searched, total: rows of the run}
    search: (run, filters, limit) => Strop.ask("search", { ...filters, run, limit }),
    // null for a missing rollout
    detail: async (run, id) => (await Strop.ask("detail", { run, id })).detail,
    // A task's groups over the whole run, and its rows.
    task: (run, task) => Strop.ask("task", { run, task }),
    charts: () => (charts ??= Strop.ask("charts").catch(renewed)),
    onchange: () => {},
  };
})();
