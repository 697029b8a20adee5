// The live page: the same questions as source.js, asked of the server that sent the page, which follows the runs.
// Every two seconds it asks what is new; callbacks of onchange get a new page object when something is.
// For both modes: Strop.vega() and Strop.source.charts(), promises of the chart library and of the charts.
"use strict";
(() => {
  const EVERY = 2000;
  const FIRST = 400; // a small run's index is complete by then
  const GROWING = 1000; // while an index grows
  const SLOWEST = 10000;
  const isLive = document.getElementById("strop-data").textContent.trim() === "null";

  if (!isLive) {
    Strop.vega = async () => window.vegaEmbed ?? fail("This page was made without its chart library.");
    Strop.source.charts = async () => (await Strop.source.page()).charts ?? {};
    return;
  }

  const callbacks = [];
  let current = null; // promise of the page as it was last put together
  let latest = null; // that page
  let wait = FIRST;
  let timer = 0;
  let charts = null;
  let library = null;

  function fail(message) {
    throw new Error(message);
  }

  async function ask(path, params = {}) {
    const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
    let response;
    try {
      response = await fetch(`/api/${path}?${new URLSearchParams(given)}`, { cache: "no-store", credentials: "omit" });
    } catch {
      fail("The server does not answer: was strop view ended? What is shown may be old.");
    }
    const answer = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer;
    return fail(answer?.error ?? `The server answered ${response.status}.`);
  }

  function page() {
    current ??= ask("page").then(begin, (error) => {
      current = null;
      throw error;
    });
    return current;
  }

  function begin(fresh) {
    const runs = fresh.runs.map((run) => ({ ...run, told: Object.keys(run.tasks).length }));
    latest = together(fresh, runs, "");
    later();
    return latest;
  }

  // A page with what its runs say of themselves: how far each index is, and the first notice.
  function together(base, runs, notice) {
    const index = Object.fromEntries(runs.map((run) => [run.id, run.index]));
    return { ...base, runs, index, notice: notice || (runs.find((run) => run.notice)?.notice ?? "") };
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(poll, wait);
  }

  async function poll() {
    if (document.hidden) return later(); // asked again when it is seen, see below
    let notice = "";
    let runs = latest.runs;
    try {
      runs = await Promise.all(latest.runs.map(renewed));
      wait = runs.every((run) => run.index.complete) ? EVERY : GROWING;
    } catch (error) {
      notice = error.message;
      wait = Math.min(SLOWEST, wait * 1.5);
    }
    const next = together(latest, runs, notice);
    const different = next.notice !== latest.notice || runs.some((run, at) => run !== latest.runs[at]);
    if (different) {
      latest = next;
      current = Promise.resolve(next);
      for (const callback of callbacks) await heard(callback, next);
    }
    later();
  }

  // One callback's failure must not end the following.
  async function heard(callback, next) {
    try {
      await callback(next);
    } catch (error) {
      console.error(error);
    }
  }

  // Rows may be shown before the index has told of their tasks: what comes with them is kept at once.
  function labelled(id, answer) {
    const run = latest?.runs.find((one) => one.id === String(id));
    if (run) keep(run.tasks, answer.tasks);
    return answer;
  }

  // A run's tasks are one object as long as the page lives, so that views see what was added. Ids may be "__proto__".
  function keep(tasks, more) {
    for (const [id, task] of Object.entries(more)) {
      Object.defineProperty(tasks, id, { value: task, enumerable: true, configurable: true, writable: true });
    }
    return tasks;
  }

  // The run with what is new in it; the same object when nothing is.
  async function renewed(run) {
    const { id, epoch, stamp } = run;
    const news = await ask("changes", {
      run: id,
      epoch,
      stamp,
      metrics: run.metrics.length,
      groups: run.groups.length,
      tasks: run.told,
    });
    const { reset, metrics, groups, tasks, index, notice } = news;
    const told = Object.keys(tasks).length;
    const grown = metrics.length || groups.length || told;
    const moved = index.looked_at !== run.index.looked_at || index.complete !== run.index.complete;
    if (!reset && !news.run && !grown && !moved && notice === run.notice) return run;
    const lists = reset
      ? { metrics, groups, tasks: keep(run.tasks, tasks), told }
      : {
          metrics: run.metrics.concat(metrics),
          groups: run.groups.concat(groups),
          tasks: keep(run.tasks, tasks),
          told: run.told + told,
        };
    const place = { epoch: news.epoch, stamp: news.stamp, index, notice, total_rollouts: index.total };
    return { ...run, ...(news.run ?? {}), ...lists, ...place };
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !latest) return;
    clearTimeout(timer);
    poll();
  });

  async function rows(run, { step, evaluation }) {
    return labelled(run, await ask("rows", evaluation ? { run, evaluation } : { run, step })).rows;
  }

  const search = async (run, filters, limit) => labelled(run, await ask("search", { ...filters, run, limit }));
  const task = (run, id) => ask("task", { run, task: id });

  // null for a rollout that is not there, as in the embedded data; other failures are errors.
  async function detail(run, id) {
    const answer = await ask("detail", { run, id });
    return answer.detail;
  }

  Strop.source = {
    page,
    rows,
    search,
    task,
    detail,
    onchange: (callback) => void callbacks.push(callback),
    charts: () => (charts ??= ask("charts").catch((error) => ((charts = null), fail(error.message)))),
  };

  // The chart library is large: it comes after the page, once.
  Strop.vega = () => (library ??= script("/vega.js").then(() => window.vegaEmbed ?? fail("The chart library did not load.")));

  function script(source) {
    return new Promise((resolve, reject) => {
      const node = document.createElement("script");
      node.addEventListener("load", resolve);
      node.addEventListener("error", () => reject(new Error("The chart library could not be loaded from the server.")));
      node.src = source;
      document.head.append(node);
    });
  }
})();
