// The live page: asks its server for data, and every two seconds for changes in its runs. Callbacks of onchange then get a
// new page object. While the server has not yet read all rollouts, it is asked again at once.
"use strict";
(() => {
  const EVERY = 2000;
  const GROWING = 100;
  const SLOWEST = 10000;
  if (document.getElementById("strop-data").textContent.trim() !== "null") return;

  const callbacks = [];
  let current = null; // promise of the newest page
  let latest = null; // that page
  let wait = GROWING;
  let timer = 0;
  let library = null;

  async function ask(path, params = {}) {
    const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
    let response;
    try {
      response = await fetch(`/api/${path}?${new URLSearchParams(given)}`, { cache: "no-store", credentials: "omit" });
    } catch {
      Strop.fail("The server does not answer: has strop view ended? The data shown may be old.");
    }
    const answer = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer;
    return Strop.fail(answer?.error ?? `The server answered ${response.status}.`);
  }

  // Rows may be shown before the page knows their tasks, so the tasks that come with them are kept at once.
  Strop.ask = async (path, params) => {
    const answer = await ask(path, params);
    const run = answer.tasks && latest?.runs.find((one) => one.id === String(params.run));
    if (run) keep(run.tasks, answer.tasks);
    return answer;
  };

  // A run's tasks stay the same object as long as the page lives, so that views see additions. Ids may be "__proto__".
  function keep(tasks, more) {
    for (const [id, task] of Object.entries(more)) {
      Object.defineProperty(tasks, id, { value: task, enumerable: true, configurable: true, writable: true });
    }
    return tasks;
  }

  function page() {
    current ??= ask("page").then(taken, (error) => {
      current = null;
      throw error;
    });
    return current;
  }

  // A run with its changes applied, in the form of reports/view.py.
  function renewed(run, { spliced, ...changed }) {
    const lists = Object.entries(spliced).map(([name, [at, gone, more]]) => [name, [...run[name].slice(0, at), ...more, ...run[name].slice(at + gone)]]);
    return { ...run, ...changed, ...Object.fromEntries(lists) };
  }

  function taken(answer) {
    const fresh = answer.runs ? answer : { ...latest, stamp: answer.stamp, runs: answer.changed.map((one, at) => renewed(latest.runs[at], one)) };
    const runs = fresh.runs.map((run, at) => ({ ...run, tasks: keep(latest?.runs[at].tasks ?? {}, run.tasks) }));
    latest = { ...fresh, runs, notice: runs.find((run) => run.notice)?.notice ?? "" };
    wait = runs.every((run) => run.index.complete) ? EVERY : GROWING;
    later();
    return latest;
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(poll, wait);
  }

  async function poll() {
    if (document.hidden) return later(); // asks again when it becomes visible, see below
    const before = latest;
    try {
      const fresh = await ask("page", { stamp: latest.lost ? "" : latest.stamp });
      if (fresh.runs || fresh.changed) taken(fresh);
    } catch (error) {
      if (error.message !== latest.notice) latest = { ...latest, notice: error.message, lost: true };
      wait = Math.min(SLOWEST, Math.max(EVERY, wait * 1.5));
    }
    if (latest !== before) {
      current = Promise.resolve(latest);
      for (const callback of callbacks) await heard(callback, latest);
    }
    later();
  }

  // A failing callback must not prevent the next ones.
  async function heard(callback, next) {
    try {
      await callback(next);
    } catch (error) {
      console.error(error);
    }
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !latest) return;
    clearTimeout(timer);
    poll();
  });

  Object.assign(Strop.source, { page, onchange: (callback) => void callbacks.push(callback) });

  // The chart library is large: it is loaded once, after the page.
  Strop.vega = () => (library ??= script("/vega.js").then(() => window.vegaEmbed ?? Strop.fail("The chart library did not load.")));

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
