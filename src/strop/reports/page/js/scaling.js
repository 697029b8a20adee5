// More samples: for each model of `strop scale` the accuracy of every way of choosing among k samples, as a chart and a
// table; and rounds of self-debug compared with blind resampling.
"use strict";
(() => {
  const el = Strop.el;
  const svg = Strop.svg;
  const DASHES = ["1,0", "5,3", "1.5,2.5"];
  const WIDTH = 330;
  const HEIGHT = 190;
  const LEFT = 34;
  const RIGHT = 12;
  const FOOT = 30;

  // Its part of the overview; none if no run has such numbers.
  Strop.scaling = (runs) =>
    runs.flatMap((run, index) =>
      (run.scaling ?? []).map((found) =>
        el(
          "div",
          { class: "panel o-scaling" },
          el("h3", {}, runs.length > 1 && [Strop.runName(run, index), " "], found.label),
          el("p", { class: "muted" }, facts(found)),
          el("div", { class: "o-grid" }, picture(found, "samples per task", "samples"), picture(found, "CPU seconds per task", "cpu_seconds")),
          legend(found),
          el("div", { class: "table-box" }, table(found)),
          el("p", { class: "muted" }, MEANT),
          found.rounds && rounds(found.rounds),
        ),
      ),
    );

  const MEANT =
    "k: samples to choose from. Differences are paired, at the largest k. False positives: the chosen sample passes the shown tests and fails others. " +
    "CPU s: of sampling and of the runs for the choice, per task. The oracle knows the hidden tests.";

  const names = (found) => Object.keys(found.selectors ?? {});
  const look = (at) => ({ colour: Strop.runColour(at), dash: DASHES[Math.floor(at / 6) % DASHES.length] });
  const last = (list) => (list ?? []).at(-1);

  function facts({ tasks, samples, confidence, left_out: out, notes }) {
    const left = Object.entries(out ?? {}).map(([why, count]) => `${count} left out: ${why}`);
    return [`${tasks} tasks, ${samples} samples each, intervals at ${Strop.format.percent(confidence)}`, ...left, ...(notes ?? [])].join("; ");
  }

  // [value, low, high] at one index of {value: [...], interval: [[low, high], ...]}.
  function at(rates, place) {
    const value = (rates?.value ?? rates?.delta)?.[place];
    return typeof value === "number" ? [value, ...(rates.interval?.[place] ?? [])] : null;
  }

  function table(found) {
    const n = found.samples;
    const ks = [...new Set([1, 2, 4, 8, 16, 32, 64].filter((k) => k < n).concat(n))];
    const others = ["random", "shown"].filter((name) => Strop.get(found.selectors, name));
    const head = ["%", ...ks.map((k) => `k = ${k}`), ...others.map((name) => `minus ${name}`), "false positives", "CPU s"];
    const rows = names(found).map((name) => {
      const one = found.selectors[name];
      return [
        name,
        ...ks.map((k) => Strop.cells.value(at(one.accuracy, k - 1))),
        ...others.map((other) => Strop.cells.difference(at(Strop.get(one.differences, other), n - 1))),
        Strop.cells.value(name === "oracle" ? null : at(one.false_positives, n - 1)),
        Strop.format.number(last(one.cpu_seconds)),
      ];
    });
    return Strop.cells.grid(head, rows, "data o-results");
  }

  function rounds(found) {
    const head = ["after rounds", "self-debug", "resampled", "difference", "tokens", "of resampling"];
    const rows = (found.tokens ?? []).map((tokens, place) => [
      String(place + 1),
      Strop.cells.value(at(found.debugged, place)),
      Strop.cells.value(at(found.resampled, place)),
      Strop.cells.difference(at(found.differences, place)),
      Strop.format.number(tokens, 0),
      Strop.format.number(found.resampled_tokens?.[place], 0),
    ]);
    return el(
      "div",
      { class: "table-box o-against" },
      el("h3", {}, "Self-debug compared with blind resampling"),
      Strop.cells.grid(head, rows, "data o-results"),
      el("p", { class: "muted" }, `${found.tasks} tasks. Resampled: single answers until they have as many tokens. Both take the first answer that passes the shown tests.`),
    );
  }

  const legend = (found) =>
    el("p", { class: "o-legend" }, names(found).map((name, index) => el("span", {}, Strop.swatch(look(index).colour, look(index).dash.split(",").map(Number)), name)));

  // Accuracy over the logarithm of the cost.
  function picture(found, title, axis) {
    const curves = names(found).map((name, index) => ({ name, ...look(index), points: points(found.selectors[name], axis) }));
    const all = curves.flatMap((curve) => curve.points);
    const xs = all.map(([x]) => x);
    const [low, high] = [Math.log(Math.min(...xs)), Math.log(Math.max(...xs))];
    const most = Math.min(1, Math.ceil(10 * Math.max(0.05, ...all.map(([, y]) => y))) / 10);
    const across = (x) => LEFT + ((Math.log(x) - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT);
    const down = (y) => 8 + (1 - y / most) * (HEIGHT - 8 - FOOT);
    const lines = [0, 0.25, 0.5, 0.75, 1].map((share) => share * most).map((y) => [
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: down(y), y2: down(y), stroke: "currentColor", opacity: 0.12 }),
      svg("text", { x: LEFT - 4, y: down(y) + 4, "text-anchor": "end", "font-size": 10, fill: "currentColor" }, `${Number((100 * y).toFixed(1))}`),
    ]);
    const ticks = axis === "samples" ? [1, 2, 4, 8, 16, 32, 64].filter((k) => k <= found.samples) : all.length ? [Math.exp(low), Math.exp((low + high) / 2), Math.exp(high)] : [];
    const marks = ticks.map((x) =>
      svg("text", { x: across(x), y: HEIGHT - FOOT + 14, "text-anchor": "middle", "font-size": 10, fill: "currentColor" }, Strop.format.number(x, 2)));
    const label = `${title}: ${curves.map(({ name, points: some }) => `${name} ${Strop.format.percent(last(some)?.[1], 1)}`).join(", ")}`;
    return el(
      "figure",
      { class: "o-figure" },
      el("figcaption", {}, el("h4", {}, `% solved, by ${title}`)),
      svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, lines, marks, curves.map((curve) => drawn(curve, across, down))),
    );
  }

  const points = (one, axis) =>
    (one[axis] ?? []).map((x, place) => [x, one.accuracy?.value?.[place]]).filter(([x, y]) => x > 0 && typeof y === "number");

  function drawn({ name, colour, dash, points: some }, across, down) {
    const tip = svg("title", {}, `${name}: ${Strop.format.percent(last(some)?.[1], 1)}`);
    const places = some.map(([x, y]) => `${across(x).toFixed(1)} ${down(y).toFixed(1)}`);
    if (new Set(some.map(([x]) => x)).size < 2) {
      return some.length ? svg("circle", { cx: across(some[0][0]), cy: down(some[0][1]), r: 3, fill: colour }, tip) : null;
    }
    return svg("path", { d: `M${places.join("L")}`, stroke: colour, "stroke-width": 1.8, "stroke-dasharray": dash, fill: "none" }, tip);
  }
})();
