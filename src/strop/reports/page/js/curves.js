// Draws the charts: their controls, one figure per chart, redrawn in place when a control or the data changes.
"use strict";
(() => {
  const el = Strop.el;
  const ROWS = 1000; // maximum rows of the table below a chart
  const LOADING = "The chart library is loading; the first time on a machine it has to be built, which takes a few seconds.";
  const settings = { window: 5, axis: "step", hidden: new Set() };
  const alive = new Set(); // figures whose charts hold listeners

  // The curves of all runs of a page in `host`: `update(page)` of the result draws and redraws them.
  Strop.curves = (host) => {
    for (const figure of alive) if (!figure.node.isConnected) drop(figure);
    const figures = new Map();
    const state = { page: null, turn: 0, figures, body: el("div", { class: "o-sections" }) };
    const again = () => draw(state);
    state.controls = el("div", { class: "o-controls", role: "group", "aria-label": "Curves" });
    host.replaceChildren(state.controls, state.body);
    return {
      update: (page) => {
        const same = state.page && names(state.page) === names(page);
        state.page = page;
        if (!same) state.controls.replaceChildren(...controls(page.runs, again));
        return again();
      },
    };
  };

  const names = (page) => JSON.stringify(page.runs.map((run) => [run.id, run.name, run.folder]));

  function controls(runs, again) {
    const said = el("output", {}, windowText());
    const window = el("input", {
      type: "range", class: "no-print", min: 1, max: 50, value: settings.window, "aria-label": "steps of the rolling mean",
      on: {
        input: () => {
          settings.window = Number(window.value);
          said.replaceChildren(windowText());
          again();
        },
      },
    });
    const axis = el(
      "select",
      { on: { change: () => ((settings.axis = axis.value), again()) } },
      el("option", { value: "step" }, "steps"),
      el("option", { value: "time" }, "wall time"),
    );
    axis.value = settings.axis;
    return [
      el("label", { class: "o-window" }, "Lines: rolling mean of ", window, said),
      el("label", { class: "no-print" }, "Over ", axis),
      runs.length > 1 && el("span", { class: "o-runs" }, runs.map((run, index) => toggle(run, index, runs, again))),
    ].filter(Boolean);
  }

  const windowText = () => (settings.window === 1 ? "1 step" : `${settings.window} steps`);

  function toggle(run, index, runs, again) {
    const box = el("input", {
      type: "checkbox",
      class: "no-print",
      checked: !settings.hidden.has(run.id),
      on: {
        change: () => {
          settings.hidden[box.checked ? "delete" : "add"](run.id);
          again();
        },
      },
    });
    return el("label", {}, box, Strop.swatch(Strop.runColour(index)), Strop.runLabel(run));
  }

  // A short stroke in a colour, as the charts draw it.
  Strop.swatch = (colour, dash) =>
    Strop.svg(
      "svg",
      { class: "o-swatch", width: 22, height: 10, "aria-hidden": true },
      Strop.svg("line", { x1: 1, x2: 21, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash?.join(" ") }),
    );

  // Draws the charts one by one; a later call takes over from an earlier one.
  async function draw(state) {
    const turn = (state.turn += 1);
    delete state.body.dataset.drawn;
    if (!state.body.firstChild) state.body.append(el("p", { class: "muted", role: "status" }, LOADING));
    const [embed, specs] = await Promise.all([Strop.vega(), Strop.source.charts()]);
    if (turn !== state.turn) return;
    const charts = Strop.charts(specs, state.page.runs, settings);
    arrange(state, charts);
    for (const chart of charts) {
      await pause();
      if (turn !== state.turn || !state.body.isConnected) return;
      await show(state.figures.get(chart.key), chart, embed);
    }
    if (turn === state.turn) state.body.dataset.drawn = String(charts.length);
  }

  // Lets the browser paint and handle keys.
  const pause = () => new Promise((done) => setTimeout(done));

  // A figure for every chart, in order, section by section; unchanged figures are not touched.
  function arrange({ figures, body }, charts) {
    const keys = new Set(charts.map((chart) => chart.key));
    for (const [key, figure] of figures) {
      if (keys.has(key)) continue;
      drop(figure);
      figure.node.remove();
      figures.delete(key);
    }
    for (const chart of charts) if (!figures.has(chart.key)) figures.set(chart.key, newFigure());
    const sections = [...new Set(charts.map((chart) => chart.section))];
    keep(body, sections.map((name) => sectionOf(body, name)));
    for (const [at, name] of sections.entries()) {
      const grid = body.children[at].querySelector(".o-grid");
      keep(grid, charts.filter((chart) => chart.section === name).map((chart) => figures.get(chart.key).node));
    }
    if (!charts.length) body.replaceChildren(el("p", { class: "muted" }, "No step is finished yet, so there are no curves."));
  }

  function sectionOf(body, name) {
    const there = [...body.children].find((one) => one.dataset.section === name);
    return there ?? el("section", { "data-section": name }, el("h3", {}, name), el("div", { class: "o-grid" }));
  }

  // Makes `nodes` the children of a parent, moving only those in a different place.
  function keep(parent, nodes) {
    nodes.forEach((node, at) => {
      if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null);
    });
    while (parent.children.length > nodes.length) parent.lastElementChild.remove();
  }

  function newFigure() {
    const figure = { view: null, frame: "", drawn: "", chart: null };
    figure.title = el("h4", {});
    figure.said = el("p", { class: "muted" });
    figure.legend = el("p", { class: "o-legend" });
    figure.box = el("div", { class: "o-chart" });
    figure.numbers = el("div", { class: "o-numbers", tabindex: 0, role: "region" });
    figure.fold = el(
      "details",
      { class: "o-fold no-print", on: { toggle: () => fill(figure) } },
      el("summary", {}, "data"),
      figure.numbers,
    );
    const head = el("figcaption", {}, figure.title, figure.said, figure.legend);
    figure.node = el("figure", { class: "o-figure" }, head, figure.box, figure.fold);
    return figure;
  }

  async function show(figure, chart, embed) {
    figure.chart = chart;
    figure.title.replaceChildren(Strop.printable(chart.title));
    figure.said.replaceChildren(Strop.printable([chart.description, chart.note].filter(Boolean).join(" – ")));
    figure.legend.replaceChildren(
      ...chart.legend.map(({ label, colour, dash }) => el("span", {}, Strop.swatch(colour, dash), label)),
    );
    figure.numbers.setAttribute("aria-label", Strop.printable(`${chart.title}: numbers`));
    fill(figure);
    const drawn = JSON.stringify(chart.rows);
    const same = figure.view && figure.frame === chart.frame;
    if (same && figure.drawn === drawn) return;
    figure.drawn = drawn;
    if (same) {
      figure.view.data("points", chart.rows);
      await figure.view.runAsync();
      return;
    }
    const spec = { ...chart.spec, datasets: { points: chart.rows } };
    const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: tip };
    const old = figure.view;
    const { view } = await embed(figure.box, spec, options);
    old?.finalize();
    Object.assign(figure, { view, frame: chart.frame });
    alive.add(figure);
  }

  function drop(figure) {
    figure.view?.finalize();
    figure.view = null;
    alive.delete(figure);
  }

  // The table below a chart, created when it is opened.
  function fill({ fold, numbers, chart }) {
    if (!fold.open || !chart) return;
    const { head, rows } = chart.table();
    const percent = chart.format === "percent";
    const write = (value, column) => {
      if (typeof value === "string") return value;
      return percent && column > 0 ? Strop.format.percent(value, 1) : Strop.format.number(value, 4);
    };
    numbers.replaceChildren(
      rows.length > ROWS ? el("p", { class: "muted" }, `The last ${ROWS} of ${rows.length} rows.`) : "",
      el(
        "table",
        { class: "data" },
        el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col", class: "num" }, name)))),
        el(
          "tbody",
          {},
          rows.slice(-ROWS).map((row) => el("tr", {}, row.map((value, at) => el("td", { class: "num" }, write(value, at))))),
        ),
      ),
    );
  }

  let bubble = null;
  document.addEventListener("strop:view", () => bubble && (bubble.hidden = true));

  // Vega's tooltip, made of text nodes.
  function tip(handler, event, item, value) {
    bubble ??= document.body.appendChild(el("div", { class: "o-tip", role: "tooltip", hidden: true }));
    bubble.hidden = !value || typeof value !== "object";
    if (bubble.hidden) return;
    const lines = Object.entries(value).filter(([, text]) => !["null", "undefined", ""].includes(String(text)));
    bubble.replaceChildren(...lines.map(([name, text]) => el("div", {}, el("span", { class: "muted" }, `${name} `), String(text))));
    const left = Math.min(event.clientX + 12, window.innerWidth - bubble.offsetWidth - 8);
    const top = Math.min(event.clientY + 12, window.innerHeight - bubble.offsetHeight - 8);
    bubble.style.setProperty("left", `${Math.max(4, left)}px`);
    bubble.style.setProperty("top", `${Math.max(4, top)}px`);
  }
})();
