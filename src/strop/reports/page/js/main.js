// The frame: header with the runs, tabs, theme, the run's status line, global keys; and the start of the page.
"use strict";
(() => {
  const el = Strop.el;
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  let page = null;
  const drawn = new WeakMap();
  let brand, tabs, switcher, status, theme, help;

  async function start() {
    setTheme(stored());
    help = el("dialog", { class: "help", "aria-label": "Keys" });
    brand = el("a", { class: "brand", href: "#" }, "Strop");
    tabs = el("nav", { class: "tabs no-print", "aria-label": "Views" });
    switcher = el("select", { "aria-label": "Run", on: { change: () => toRun(switcher.value) } });
    status = el("div", { class: "status", role: "status" });
    theme = el("button", { class: "quiet", type: "button", title: "light, dark or as in the system (t)", on: { click: nextTheme } });
    const main = el("main", { id: "main", tabindex: -1 });
    document.body.append(header(), status, main, help);
    showTheme();
    try {
      page = await Strop.source.page();
    } catch (error) {
      main.append(el("p", { class: "failure", role: "alert" }, `The data could not be read: ${error?.message ?? error}`));
      console.error(error);
      return;
    }
    Strop.source.onchange(changed);
    document.addEventListener("strop:view", frame);
    document.addEventListener("keydown", pressed);
    await Strop.draw();
    root.dataset.ready = "true";
  }

  function header() {
    const keys = el("button", { class: "quiet", type: "button", title: "keys (?)", on: { click: showHelp } }, "Keys");
    return el(
      "header",
      { class: "top no-print" },
      brand,
      el("label", { class: "run-pick" }, el("span", { class: "unseen" }, "Run"), switcher),
      tabs,
      el("div", { class: "tools" }, keys, theme),
    );
  }

  async function changed(fresh) {
    page = fresh ?? (await Strop.source.page());
    frame();
    await Strop.refresh();
  }

  const runOf = (id) => page.runs.find((run) => run.id === id);

  // Header and status line for the view and the run in the address.
  function frame() {
    const { view, run } = Strop.params();
    const here = runOf(run);
    document.title = [here?.name, "Strop"].filter(Boolean).map(Strop.printable).join(" · ");
    renew(switcher, page.runs.map(({ id, name, folder }) => [id, name || folder]), (runs) =>
      runs.map(([id, name]) => el("option", { value: id }, name)));
    switcher.value = run;
    switcher.disabled = page.runs.length < 2;
    brand.href = Strop.link({ view: "overview" });
    const seen = { rollout: "rollouts", task: "rollouts" }[view] ?? view;
    tabs.replaceChildren(
      ...Strop.tabs().map((tab) =>
        el("a", { href: Strop.link({ view: tab.name }), "aria-current": tab.name === seen && "page" }, tab.title),
      ),
    );
    const { state: said, alarms } = here ?? {};
    renew(status, [run, said, alarms, page.notice, page.sampling], () => (here ? state(here) : [none(run)]));
  }

  const none = (run) => el("span", { class: "bad" }, `There is no run ${run} in this page.`);

  // Redraws a part of the frame only if its content has changed, so that open sections stay open.
  function renew(node, shown, make) {
    const text = JSON.stringify(shown);
    if (drawn.get(node) === text) return;
    drawn.set(node, text);
    node.replaceChildren(...make(shown));
  }

  function state(run) {
    const { kind, text, problems } = run.state;
    const alarms = run.alarms ?? [];
    return [
      el("span", { class: `state state-${problems?.length ? "flawed" : kind}` }, text || kind),
      page.notice && page.notice !== text ? el("span", { class: "warn", role: "alert" }, page.notice) : null,
      alarms.length ? more(`${alarms.length} ${alarms.length === 1 ? "alarm" : "alarms"}`, alarms.map(alarm), "warn") : null,
      problems?.length ? more(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}`, problems.map((line) => el("li", {}, line)), "bad") : null,
      page.sampling ? more("which rollouts are in this page", [el("li", {}, page.sampling)], "muted") : null,
    ].filter(Boolean);
  }

  const alarm = ({ step, when, name, text }) =>
    el("li", {}, el("b", {}, name), " · ", el("a", { href: Strop.link({ view: "rollouts", step }) }, when), ` · ${text}`);

  const more = (title, lines, kind) =>
    el("details", { class: `status-more ${kind}` }, el("summary", {}, title), el("ul", {}, ...lines));

  // Runs differ in steps and tasks, so only the kind of view is kept.
  function toRun(run) {
    const { view, task } = Strop.params();
    const kept = view === "task" || view === "compare" ? { view, task } : { view: view === "rollout" ? "rollouts" : view };
    Strop.go({ ...kept, run });
  }

  function besideRun(by) {
    const at = page.runs.findIndex((run) => run.id === Strop.params().run);
    const next = page.runs[at + by];
    if (next) toRun(next.id);
  }

  // Theme: that of the system, unless one is chosen.
  function stored() {
    try {
      return localStorage.getItem("strop-theme") ?? "auto";
    } catch {
      return "auto";
    }
  }

  function setTheme(name) {
    root.dataset.theme = THEMES.includes(name) ? name : "auto";
  }

  function nextTheme() {
    setTheme(THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length]);
    showTheme();
    try {
      localStorage.setItem("strop-theme", root.dataset.theme);
    } catch {
      return; // a browser without storage for local files
    }
  }

  function showTheme() {
    theme.replaceChildren(`Theme: ${root.dataset.theme}`);
  }

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  Strop.theme = () => (root.dataset.theme === "auto" ? (dark.matches ? "dark" : "light") : root.dataset.theme);

  const EVERYWHERE = new Map([
    ["t", ["theme: auto, light, dark", nextTheme]],
    ["p", ["print layout on and off", printLayout]],
    ["?", ["these keys", showHelp]],
    ["[", ["previous run", () => besideRun(-1)]],
    ["]", ["next run", () => besideRun(1)]],
  ]);

  function printLayout() {
    if (root.dataset.layout === "print") delete root.dataset.layout;
    else root.dataset.layout = "print";
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
    const at = event.target;
    if (at.closest?.("input, textarea, select")) {
      if (event.key === "Escape") at.blur();
      return;
    }
    if ((event.key === "Enter" || event.key === " ") && at.closest?.("a, button, summary")) return;
    if (event.key === "Escape" && root.dataset.layout === "print") return done(event, printLayout);
    const ofView = Strop.keysOfView().get(event.key);
    if (ofView) return done(event, () => ofView.run(event));
    const everywhere = EVERYWHERE.get(event.key);
    if (everywhere) return done(event, everywhere[1]);
    const tab = Strop.tabs()[Number(event.key) - 1];
    if (tab && /^[1-6]$/.test(event.key)) done(event, () => Strop.go({ view: tab.name }));
  }

  function done(event, run) {
    event.preventDefault();
    run();
  }

  function showHelp() {
    const ofView = new Map([...Strop.keysOfView().values()].map(({ names, label }) => [names, label]));
    const everywhere = [...EVERYWHERE].map(([name, [label]]) => [name, label]);
    const count = Strop.tabs().length;
    const lines = [...ofView, ...everywhere, [count > 1 ? `1 … ${count}` : "1", "views"]];
    help.replaceChildren(
      el("h2", {}, "Keys"),
      el("dl", {}, ...lines.flatMap(([names, label]) => [el("dt", {}, ...caps(names)), el("dd", {}, label)])),
      el("button", { type: "button", autofocus: true, on: { click: () => help.close() } }, "Close"),
    );
    help.showModal();
  }

  const WORDS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };
  const caps = (names) => names.split(" ").map((name) => el("kbd", {}, WORDS[name] ?? name));

  start();
})();
