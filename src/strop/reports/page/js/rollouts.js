// The rollouts view: steps and evaluations; the groups of one of them side by side; or search results.
"use strict";
(() => {
  const el = Strop.el;
  const { PAGE, card, results, walker } = Strop.list;
  let state = null;

  async function render(params, host) {
    const run = (await Strop.source.page()).runs.find((one) => one.id === params.run);
    if (!run) return host.append(el("p", { class: "failure" }, `There is no run ${params.run}.`));
    const body = el("div", { class: "body", "aria-live": "off" });
    const count = el("p", { class: "count muted", role: "status" });
    const steps = el("div", { class: "places no-print" });
    const form = Strop.filters.form(params, run, filtered, () => state.walk.by(1));
    state = { run, body, count, steps, form, more: () => false, asked: 0, params, here: {}, headline: [], again: null, waiting: 0 };
    state.walk = walker(body, { moved, more: () => state.more(), beyond: (by) => beside(by, true) });
    keys();
    host.append(el("h1", { class: "unseen" }, "Rollouts"));
    host.append(el("div", { class: "browse" }, steps, el("div", { class: "beside" }, form.node, count, body)));
    await show(host);
  }

  // The place in the address: a search if there are filters, else an evaluation or a step (by default the newest here).
  async function show(host) {
    const { run, params } = state;
    const filters = Strop.filters.among(params);
    state.here = filters ? {} : place();
    state.again = null;
    Strop.places(state.steps, run, state.here);
    const asked = (state.asked += 1);
    const overtaken = () => asked !== state.asked || !host.isConnected;
    await (filters ? found(filters, overtaken) : browse(overtaken));
    if (overtaken()) return;
    const start = state.walk.find((row) => row.id === params.at) ?? state.walk.find((row) => String(row.group) === params.group);
    if (start) state.walk.to(start, { quiet: true });
  }

  function place() {
    const { run, params } = state;
    if (params.evaluation) return { evaluation: params.evaluation };
    const known = run.here?.length ? run.here : run.steps;
    const step = params.step ?? known.at(-1);
    if (step !== undefined) return { step: Number(step) };
    return run.evaluations.length ? { evaluation: run.evaluations.at(run.kind === "evaluation" ? 0 : -1).file } : {};
  }

  async function browse(overtaken) {
    const { run, body, count, here } = state;
    if (here.step === undefined && !here.evaluation) {
      count.replaceChildren("This run has no rollouts yet.");
      return body.replaceChildren();
    }
    const rows = await Strop.source.rows(run.id, here);
    if (overtaken()) return;
    const byGroup = Map.groupBy(rows, (row) => (row.kind === "train" ? row.group : row.task));
    const summaries = new Map(run.groups.filter((group) => group[0] === here.step).map((group) => [group[1], group]));
    const missing = [...summaries.values()].filter((group) => !byGroup.has(group[1]));
    const why = Strop.get(run.lost, here.evaluation ? `e.${here.evaluation}` : `t.${here.step}`);
    state.headline = [title(here), " · ", why ? el("span", { class: "bad" }, why) : extent(rows.length, byGroup.size, missing.length)];
    count.replaceChildren(...state.headline);
    body.replaceChildren();
    fill(body, [...byGroup.values()], (group) => asCard(run, group, summaries));
    if (missing.length) body.append(Strop.absent(run, missing, !rows.length));
  }

  function extent(rows, groups, missing) {
    const some = (number, word) => `${Strop.format.count(number)} ${word}${number === 1 ? "" : "s"}`;
    if (!rows) return missing ? `its ${some(missing, "group")} are not in this page` : "no rollouts";
    const all = `${some(rows, "rollout")} in ${some(groups, "group")}`;
    return missing ? `${all} here, ${some(missing, "more group")} in the run` : all;
  }

  function title({ step, evaluation }) {
    const label = state.run.evaluations.find(({ file }) => file === evaluation)?.label ?? evaluation;
    return el("strong", {}, evaluation ? `Evaluation ${label}` : `Step ${step}`);
  }

  function asCard(run, group, summaries) {
    const [{ kind, task }] = group;
    const summary = kind === "train" ? summaries.get(group[0].group)?.slice(3) : null;
    return card(group, {
      title: kind === "train" ? `Group ${group[0].group}` : "",
      label: Strop.get(run.tasks, task)?.label,
      summary,
      task,
    });
  }

  // Makes cards until there are PAGE rows; the button, or moving past the end, makes more.
  function fill(body, groups, make) {
    const grid = el("div", { class: "cards" });
    const button = el("button", { type: "button", class: "no-print", on: { click: () => state.more() } });
    let next = 0;
    const rest = () => groups.slice(next).reduce((sum, group) => sum + group.length, 0);
    state.more = () => {
      const from = next;
      for (let made = 0; next < groups.length && made < PAGE; next += 1) {
        grid.append(make(groups[next]));
        made += groups[next].length;
      }
      button.replaceChildren(`Show more (${Strop.format.count(rest())} left)`);
      button.hidden = next >= groups.length;
      return next > from;
    };
    state.more();
    body.append(grid, button);
  }

  async function found(filters, overtaken) {
    const { run, body, count } = state;
    let limit = PAGE;
    let answer = await Strop.source.search(run.id, filters, limit);
    if (overtaken()) return;
    let list = results(answer.rows, run.tasks, filters.text);
    const button = el("button", { type: "button", class: "no-print", on: { click: () => more() } }, "Show more");
    const say = () => {
      count.replaceChildren(counts(answer));
      button.hidden = answer.rows.length >= answer.matched;
    };
    async function more() {
      const had = answer.rows.length;
      limit = had + PAGE;
      answer = await Strop.source.search(run.id, filters, limit);
      if (overtaken()) return;
      list.add(answer.rows.slice(had));
      say();
    }
    state.more = () => {
      if (!button.hidden) more();
      return false;
    };
    // Repeats the search on an index that has grown: new rows are added after the existing ones.
    state.again = async () => {
      const fresh = await Strop.source.search(run.id, filters, limit);
      if (overtaken()) return;
      const had = answer.rows;
      answer = fresh;
      if (had.length && had.every((row, at) => fresh.rows[at]?.id === row.id)) list.add(fresh.rows.slice(had.length));
      else draw();
      say();
    };
    function draw() {
      list = results(answer.rows, state.run.tasks, filters.text);
      body.replaceChildren(...(answer.rows.length ? [list.node, button] : []));
      const chosen = state.params.at && state.walk.find((row) => row.id === state.params.at);
      if (chosen) state.walk.to(chosen, { quiet: true });
    }
    say();
    draw();
  }

  function counts({ rows, matched, looked_at, total }) {
    const write = Strop.format.count;
    const shown = rows.length < matched ? `${write(rows.length)} of ` : "";
    const part = `of the ${write(looked_at)} ${state.run.here ? "in this page" : "searched so far"}; the run has ${write(total)}`;
    return `${shown}${write(matched)} match (${looked_at < total ? part : `of all ${write(total)} of the run`})`;
  }

  function filtered(values) {
    clearTimeout(state.waiting);
    const { at, group, ...kept } = { ...state.params, ...values };
    state.params = kept;
    Strop.go({ ...kept }, { quiet: true });
    return show(state.body);
  }

  // Browsers slow down pages that write the address too often: it is updated when navigation pauses or the page is left.
  function moved(row, leaving = false) {
    clearTimeout(state.waiting);
    state.params = { ...state.params, at: row.id };
    const hash = location.hash;
    const write = () => location.hash === hash && Strop.go(state.params, { quiet: true });
    if (leaving) write();
    else state.waiting = setTimeout(write, 250);
  }

  // The next or previous step or evaluation; with `filled`, the next step whose rollouts are in this page.
  function beside(by, filled = false) {
    const { here, run } = state;
    if (here.evaluation) {
      const names = run.evaluations.map(({ file }) => file);
      const evaluation = names[names.indexOf(here.evaluation) + by];
      if (evaluation) Strop.go({ view: "rollouts", evaluation });
    } else if (here.step !== undefined) {
      const steps = (filled && run.here) || run.steps;
      const step = by > 0 ? steps.find((one) => one > here.step) : steps.findLast((one) => one < here.step);
      if (step !== undefined) Strop.go({ view: "rollouts", step });
    }
  }

  function up() {
    if (Strop.filters.among(state.params)) state.form.clear();
    else Strop.go({ view: "overview" });
  }

  function keys() {
    const { walk, form } = state;
    Strop.keys({
      "j ArrowDown": ["next rollout", () => walk.by(1)],
      "k ArrowUp": ["previous rollout", () => walk.by(-1)],
      "l ArrowRight": ["next group, then next step", () => walk.group(1)],
      "h ArrowLeft": ["previous group, then previous step", () => walk.group(-1)],
      L: ["next step", () => beside(1)],
      H: ["previous step", () => beside(-1)],
      Enter: ["open the rollout", () => walk.open()],
      "/": ["search", () => form.focus()],
      Escape: ["clear the filters, then to the overview", up],
    });
  }

  // New data: the list of steps grows, the content shown stays. A search continues in the new data.
  async function changed(_, host) {
    const run = (await Strop.source.page()).runs.find((one) => one.id === state.params.run);
    if (!run) return;
    const anew = run.epoch !== state.run.epoch || !state.body.firstChild;
    const newer = run.steps.at(-1) !== state.run.steps.at(-1);
    state.run = run;
    state.form.renew(run);
    if (state.again) {
      Strop.places(state.steps, run, state.here);
      return state.again();
    }
    if (anew) return show(host);
    Strop.places(state.steps, run, state.here);
    if (newer) newest(run.steps.at(-1));
  }

  function newest(step) {
    const link = el("a", { href: Strop.link({ view: "rollouts", step }) }, `step ${step} is available`);
    state.count.replaceChildren(...state.headline, " · ", link);
  }

  Strop.view("rollouts", { title: "Rollouts", tab: 2, render, changed });
})();
