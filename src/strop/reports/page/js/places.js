// The steps and evaluations of a run as a list to choose from, each with a small bar; and groups missing from the page.
"use strict";
(() => {
  const el = Strop.el;
  const AROUND = 500;
  const LONG = 7; // characters from which a name has its own line

  // Per step: share passed and mean reward, from the metrics, else from the groups.
  function byStep(run) {
    const sums = new Map();
    for (const [step, , , , scored, passed] of run.groups) {
      const sum = sums.get(step) ?? [0, 0];
      sums.set(step, [sum[0] + scored, sum[1] + passed]);
    }
    const shares = new Map([...sums].map(([step, [scored, passed]]) => [step, { share: scored ? passed / scored : null, reward: null }]));
    for (const line of run.metrics) {
      shares.set(line.step, { share: line.pass_rate ?? shares.get(line.step)?.share ?? null, reward: line.reward ?? null });
    }
    return shares;
  }

  // Whether rewards say more than passed or failed: then the list shows their mean.
  const fractions = (run) => run.metrics.some(({ reward, pass_rate: rate }) => Number.isFinite(reward) && Math.abs(reward - (rate ?? 0)) > 1e-6);

  // `reward`: shown next to the share; undefined for none, null for an unknown one.
  function item(text, share, link, here, absent, title, reward) {
    return el("li", {},
      el("a", { href: link, class: [absent && "absent", text.length > LONG && "long"].filter(Boolean).join(" ") || null, "aria-current": here ? "true" : null, title },
        el("span", { class: "name" }, text),
        Strop.bar(share, Strop.format.percent(share)),
        el("span", { class: "num share" }, Strop.format.percent(share)),
        reward !== undefined && el("span", { class: "num muted reward" }, Strop.format.number(reward, 2))));
  }

  const toEvaluation = (name) => Strop.link({ view: "rollouts", evaluation: name });
  const toStep = (step) => Strop.link({ view: "rollouts", step });

  function evaluationItems(run, here) {
    return run.evaluations.map(({ file, label, result }) =>
      item(short(file) + sign(run, `e.${file}`), result?.["pass@1"] ?? result?.greedy ?? null, toEvaluation(file), file === here.evaluation, false, Strop.get(run.lost, `e.${file}`) ?? `evaluation ${label || file}`));
  }

  // Rollouts that are damaged or missing.
  const sign = (run, name) => (Strop.get(run.lost, name) ? " ⚠" : "");

  const short = (name) => name.replace(/^step-0*(\d)/, "step $1");

  // If there are very many steps: those around the current place, the first and the last.
  function near(steps, here) {
    const at = Math.max(0, steps.indexOf(here.step ?? steps.at(-1)));
    const from = Math.max(0, Math.min(at - AROUND / 2, steps.length - AROUND));
    const shown = steps.slice(from, from + AROUND);
    return [...new Set([steps[0], ...shown, steps.at(-1)])].filter((step) => step !== undefined);
  }

  function stepItems(run, here) {
    const shares = byStep(run);
    const present = run.here ? new Set(run.here) : null;
    const rewarded = fractions(run);
    return near(run.steps, here).map((step) => {
      const { share, reward } = shares.get(step) ?? { share: null, reward: null };
      const absent = present !== null && !present.has(step);
      const why = Strop.get(run.lost, `t.${step}`) ?? (absent ? "its rollouts are not in this page" : "");
      const title = [`mean reward ${Strop.format.number(reward, 2)}`, why];
      return item(`${step}${sign(run, `t.${step}`)}`, share, toStep(step), step === here.step, absent, title.filter(Boolean).join("; "), rewarded ? reward : undefined);
    });
  }

  // The same list as a select element, for narrow screens.
  function picker(run, here) {
    const node = el("select", { "aria-label": "Step or evaluation", on: { change: () => (location.hash = node.value) } },
      here.step === undefined && !here.evaluation ? el("option", { value: "" }, "step …") : null,
      run.evaluations.map(({ file, label }) => el("option", { value: toEvaluation(file) }, `evaluation ${label || file}`)),
      near(run.steps, here).map((step) => el("option", { value: toStep(step) }, `step ${step}`)));
    if (here.evaluation) node.value = toEvaluation(here.evaluation);
    else node.value = here.step === undefined ? "" : toStep(here.step);
    return node;
  }

  const drawn = new WeakMap();

  // Draws the list into a host if it has changed; `here` is {step} or {evaluation} or {}. Keeps the focus.
  Strop.places = (host, run, here) => {
    const at = host.contains(document.activeElement) ? document.activeElement : null;
    const { id, evaluations, steps, metrics, groups, lost } = run;
    const shown = JSON.stringify([id, here, evaluations.map(({ file }) => file), steps, metrics.length, groups.length, lost]);
    if (drawn.get(host) === shown || at?.matches("select")) return; // a select may be open; it is updated later
    drawn.set(host, shown);
    draw(host, run, here);
    if (at?.hash) [...host.querySelectorAll("a")].find((link) => link.hash === at.hash)?.focus();
  };

  function draw(host, run, here) {
    const list = (title, items) => (items.length ? [el("h2", {}, title), el("ol", {}, items)] : []);
    const scroll = host.querySelector(".place-list")?.scrollTop ?? 0;
    const all = el("nav", { class: "place-list", "aria-label": "Steps and evaluations", tabindex: -1 },
      list("Evaluations", evaluationItems(run, here)),
      list(fractions(run) ? "Steps: passed, mean reward" : "Steps", stepItems(run, here)));
    host.replaceChildren(picker(run, here), all);
    all.scrollTop = scroll;
    const current = all.querySelector("[aria-current]");
    if (current && (current.offsetTop < all.scrollTop || current.offsetTop > all.scrollTop + all.clientHeight - 30)) {
      all.scrollTop = current.offsetTop - all.clientHeight / 2;
    }
  }

  // Groups of a step whose rollouts are not in the page: their known facts.
  Strop.absent = (run, groups, open) =>
    el("details", { class: "absent-groups", open },
      el("summary", {}, `${Strop.format.count(groups.length)} groups whose rollouts are not in this page`),
      el("p", { class: "muted" }, "To see all of them: ", el("code", {}, `strop view ${run.folder}`)),
      el("div", { class: "table-box" },
        el("table", { class: "data" },
          el("thead", {}, el("tr", {}, ["group", "passed", "reward", "task"].map((name) => el("th", { scope: "col" }, name)))),
          el("tbody", {}, groups.slice(0, AROUND).map(([, group, task, , scored, passed, reward]) =>
            el("tr", {},
              el("td", { class: "num" }, group),
              el("td", { class: "num" }, `${passed} of ${scored}`),
              el("td", { class: "num" }, Strop.format.number(reward, 2)),
              el("td", {}, el("a", { href: Strop.link({ view: "task", task }) }, Strop.get(run.tasks, task)?.label ?? task))))))));
})();
