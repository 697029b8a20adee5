// What the charts show: turns specs (reports/page/charts.py) and metrics into each chart's rows, title and table.
"use strict";
(() => {
  const DASHES = [[1, 0], [5, 3], [1.5, 2.5], [7, 2, 1.5, 2]];
  const RUN_COLOURS = 6;
  const DRAWN = 900; // maximum points of a chart; in longer series every n-th point is drawn

  // settings: {window: points of the rolling mean, axis: "step" or "time", hidden: Set of run ids}
  // -> [{key, section, title, description, spec, rows, legend: [{label, colour, dash}], note, table()}], those with data only
  Strop.charts = (specs, runs, settings) => {
    const shown = runs
      .map((run, index) => ({ run, colour: Strop.runColour(index), dash: DASHES[Math.floor(index / RUN_COLOURS) % 4] }))
      .filter(({ run }) => !settings.hidden.has(run.id))
      .map((look) => ({ ...look, name: Strop.runLabel(look.run), at: Strop.clock(look.run) }));
    const axis = axisOf(settings.axis, shown);
    const found = Object.entries(specs).flatMap(([name, spec]) => {
      const make = { each, together, evaluation: evaluations, parts }[spec.usermeta.kind] ?? line;
      return make(spec.usermeta, shown, axis, settings).map((chart) => finished(chart, name, spec, axis));
    });
    return found.filter((chart) => chart.rows.length > 0);
  };

  Strop.runColour = (index) => `var(--run-${index % RUN_COLOURS})`;

  // A run's name, else that of its folder.
  Strop.runLabel = (run) => run.name || String(run.folder ?? "").split("/").filter(Boolean).at(-1) || run.id;

  // Mean of the last `window` values at each position, of fewer at the start.
  Strop.rolling = (values, window) =>
    values.map((_, at) => {
      const last = values.slice(Math.max(0, at - window + 1), at + 1);
      return last.reduce((sum, value) => sum + value, 0) / last.length;
    });

  // Seconds of training at the end of each step: Map of step -> seconds. A left-out step counts as long as the next one.
  Strop.clock = (run) => {
    const at = new Map([[0, 0]]);
    let [passed, before] = [0, 0];
    for (const line of run.metrics ?? []) {
      passed += (number(line, ["seconds"]) ?? 0) * Math.max(1, line.step - before);
      at.set(line.step, passed);
      before = line.step;
    }
    return at;
  };

  function axisOf(kind, shown) {
    if (kind !== "time") return { label: "step", whole: true, place: (look, step) => step };
    const most = Math.max(0, ...shown.flatMap(({ at }) => [...at.values()]));
    const [unit, seconds] = most > 7200 ? ["hours", 3600] : most > 180 ? ["minutes", 60] : ["seconds", 1];
    const place = (look, step) => (look.at.has(step) ? look.at.get(step) / seconds : null);
    return { label: `${unit} of training`, whole: false, place };
  }

  function number(line, path) {
    const value = path.reduce((at, key) => (at && typeof at === "object" ? Strop.get(at, key) : undefined), line);
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  }

  function measured(meta, path) {
    return (metrics) => {
      const value = number(metrics, path);
      if (value === null || !meta.over) return value;
      const over = number(metrics, [meta.over]);
      if (!over) return null;
      return meta.complement ? 1 - value / over : value / over;
    };
  }

  // Names below a metric, over all runs, in order of appearance.
  const namesOf = (shown, group) => [
    ...new Set(shown.flatMap(({ run }) => (run.metrics ?? []).flatMap((line) => Object.keys(line[group] ?? {})))),
  ];

  // One line of a chart: every point of a number, with its rolling mean.
  function series(look, axis, window, measure, more = {}) {
    const points = (look.run.metrics ?? [])
      .map((metrics) => ({ step: metrics.step, x: axis.place(look, metrics.step), value: measure(metrics) }))
      .filter((point) => point.value !== null && point.x !== null);
    const means = Strop.rolling(points.map((point) => point.value), window);
    const { colour, dash } = { ...look, ...more };
    return points.map((point, at) => ({
      ...point, mean: means[at], colour, dash, run: look.name, label: look.name, series: look.run.id, ...more,
    }));
  }

  // Runs that differ only in the seed, by their positions in `shown`.
  function ofSeeds(shown) {
    const same = ({ run }) => JSON.stringify(Object.entries(run.settings ?? {}).filter(([key]) => key !== "seed" && !key.startsWith("run.")).sort());
    return [...Map.groupBy(shown.keys(), (at) => same(shown[at])).values()].filter((places) => places.length > 1);
  }

  // One line per run and, for seeds of one recipe, their mean at the steps that all of them have.
  function withMeans(lines, shown, window) {
    const means = ofSeeds(shown).map((places) => {
      const steps = [...Map.groupBy(places.flatMap((at) => lines[at]), ({ step }) => step)].filter(([, points]) => points.length === places.length);
      const mean = (points, of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
      const values = steps.map(([, points]) => mean(points, ({ value }) => value));
      const rolling = Strop.rolling(values, window);
      const label = `mean of ${places.length} seeds, ${shown[places[0]].name} …`;
      const look = { colour: "var(--text)", dash: DASHES[1], run: label, label, series: `seeds ${places[0]}` };
      return steps.map(([step, points], at) => ({ ...look, step, x: mean(points, ({ x }) => x), value: values[at], mean: rolling[at] }));
    });
    return [...lines, ...means];
  }

  function line(meta, shown, axis, { window }) {
    const measure = measured(meta, meta.value[0].split("."));
    return [{ lines: withMeans(shown.map((look) => series(look, axis, window, measure)), shown, window) }];
  }

  function each(meta, shown, axis, { window }) {
    const group = meta.value[0].replace(".*", "");
    return namesOf(shown, group).map((name) => ({
      name,
      lines: withMeans(shown.map((look) => series(look, axis, window, measured(meta, [group, name]))), shown, window),
    }));
  }

  // With one run: a colour per name; with several: a colour per run and a dash pattern per name.
  function together(meta, shown, axis, { window }) {
    const group = meta.value[0].replace(".*", "");
    const names = namesOf(shown, group);
    const looks = names.map((name, index) => ({
      label: name,
      dash: DASHES[index % DASHES.length],
      ...(shown.length === 1 ? { colour: Strop.runColour(index) } : {}),
    }));
    const lines = shown.flatMap((look) =>
      names.map((name, index) => {
        const more = { ...looks[index], label: shown.length === 1 ? name : `${look.name}: ${name}` };
        const measure = measured(meta, [group, name]);
        const value = (metrics) => measure(metrics) ?? (metrics[group] ? meta.absent : null);
        return series(look, axis, window, value, { ...more, series: `${look.run.id} ${name}` });
      }),
    );
    return [{ lines, legend: names.length > 1 ? looks.map((look) => ({ colour: "var(--muted)", ...look })) : [] }];
  }

  const SHAPES = { before: "circle", warm: "triangle-up", after: "diamond" };
  const PLAIN = /^(pass@\d+|greedy|build|lint)$/; // test is pass@1 again, the greedy stages are in the table

  function evaluations(meta, shown, axis) {
    const points = shown.flatMap((look) => Strop.evaluated(look.run).map((point) => ({ ...point, look })));
    const charts = new Map();
    for (const { look, set, key, ...point } of points) {
      const x = axis.place(look, point.step);
      if (!PLAIN.test(key) || x === null) continue;
      const name = set ? `${key}, ${set}` : `${key}, held-out`;
      if (!charts.has(name)) charts.set(name, new Map());
      const of = charts.get(name);
      if (!of.has(look.run.id)) of.set(look.run.id, []);
      const ends = { from: point.low, to: point.high, low: point.low ?? point.value, high: point.high ?? point.value };
      const row = { ...point, ...ends, x, shape: SHAPES[point.label] ?? "square", colour: look.colour, run: look.name, series: look.run.id };
      of.get(look.run.id).push({ ...row, order: of.get(look.run.id).length });
    }
    return [...charts]
      .map(([name, of]) => ({ name, lines: [...of.values()], kind: "evaluation" }))
      .filter(({ lines }) => lines.some((some) => some.length > 1));
  }

  // Bars of one run: its steps, or means of several steps if single bars would be too narrow.
  function parts(meta, shown, axis) {
    const names = [...meta.value, meta.over];
    const looks = names.map((name, index) => ({
      label: name === meta.over ? "other" : name.replace(/^seconds_/, ""),
      colour: index < meta.value.length ? Strop.runColour(index) : "var(--muted)",
    }));
    return shown.map((look) => {
      const metrics = (look.run.metrics ?? []).filter((line) => meta.value.some((name) => number(line, [name]) !== null));
      const size = Math.ceil(metrics.length / (DRAWN / 4 / names.length));
      const rows = [];
      for (let from = 0; from < metrics.length; from += size || 1) {
        const start = from > 0 ? metrics[from - 1].step : metrics[0].step - 1;
        rows.push(...bar(meta, looks, look, axis, start, metrics.slice(from, from + size)));
      }
      const note = size > 1 ? `means of ${size} steps` : "";
      return { name: look.name, id: look.run.id, lines: [rows], legend: looks, note, kind: "parts" };
    });
  }

  function bar(meta, looks, look, axis, start, some) {
    const mean = (name) => some.reduce((sum, line) => sum + (number(line, [name]) ?? 0), 0) / some.length;
    const values = meta.value.map(mean);
    values.push(Math.max(0, mean(meta.over) - values.reduce((sum, value) => sum + value, 0)));
    const last = some.at(-1).step;
    const [x0, x1] = axis.whole ? [start + 0.5, last + 0.5] : [axis.place(look, start) ?? 0, axis.place(look, last)];
    let high = 0;
    return values.map((value, index) => ({
      step: last, x0, x1, value, low: high, high: (high += value),
      part: looks[index].label, colour: looks[index].colour, run: look.name,
    }));
  }

  const filled = (text, name) => text.replace("{name}", () => name ?? "");

  function finished({ name, id, lines, legend = [], note = "", kind = "line" }, key, spec, axis) {
    const meta = spec.usermeta;
    const most = Math.max(200, Math.floor(DRAWN / Math.max(1, lines.length)));
    const every = kind === "line" ? Math.max(1, ...lines.map((some) => Math.ceil(some.length / most))) : 1;
    const drawn = lines.flatMap((some) => some.filter((_, at) => at % every === 0 || at === some.length - 1));
    const flat = meta.zero && drawn.every((row) => row.value === 0);
    return {
      key: `${key} ${id ?? name ?? ""}`,
      section: meta.section,
      title: filled(meta.title, name),
      description: filled(meta.description, name),
      spec: placed(spec, axis, flat, `${filled(meta.title, name)}. ${filled(meta.description, name)}`),
      frame: `${axis.label} ${flat}`, // does not change with the data
      rows: drawn,
      legend,
      note: every > 1 ? `every ${every}th point is drawn` : note,
      format: meta.format,
      table: () => tableOf(kind, lines.filter((some) => some.length > 0)),
    };
  }

  // A spec with its axes: a series of zeros lies on the bottom of its chart.
  function placed(spec, axis, flat, description) {
    const copy = { ...structuredClone(spec), description };
    for (const { encoding } of copy.layer) {
      encoding.x.title = axis.label;
      if (!axis.whole) delete encoding.x.axis.tickMinStep;
      if (flat) encoding.y.scale = { domain: [0, 1] };
    }
    return copy;
  }

  // {head, rows}: the numbers behind a chart; null if a line has none.
  function tableOf(kind, lines) {
    if (kind === "evaluation") {
      const rows = lines.flat().map((row) => [row.step, row.run, row.label, row.value, row.from, row.to]);
      return { head: ["step", "run", "evaluation", "value", "from", "to"], rows };
    }
    if (kind === "parts") {
      const names = [...new Set(lines.flat().map((row) => row.part))];
      return { head: ["step", ...names], rows: byStep(names.map((name) => lines.flat().filter((row) => row.part === name)), ["value"]) };
    }
    const head = lines.flatMap(([row]) => [row.label, "mean"]);
    return { head: ["step", ...head], rows: byStep(lines, ["value", "mean"]) };
  }

  function byStep(lines, fields) {
    const steps = new Map();
    lines.forEach((some, index) => {
      for (const row of some) {
        if (!steps.has(row.step)) steps.set(row.step, Array(lines.length * fields.length).fill(null));
        fields.forEach((field, at) => (steps.get(row.step)[index * fields.length + at] = row[field]));
      }
    });
    return [...steps].sort(([a], [b]) => a - b).map(([step, values]) => [step, ...values]);
  }
})();
