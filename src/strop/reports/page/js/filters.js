// The filters of the rollouts view: a form, and the matching parameters of the address.
"use strict";
(() => {
  const el = Strop.el;
  const NAMES = ["text", "flag", "outcome", "task", "min", "max", "from", "to", "kind", "sort"];
  const SORTS = [["", "newest"], ["best", "highest reward"], ["worst", "lowest reward"], ["longest", "longest"], ["shortest", "shortest"], ["flagged", "flagged"]];

  // The filters among an address's parameters, null if there are none. An evaluation alone is a place, not a filter.
  function among(params) {
    const found = Object.fromEntries(NAMES.filter((name) => params[name]).map((name) => [name, params[name]]));
    if (!Object.keys(found).length) return null;
    return params.evaluation ? { ...found, evaluation: params.evaluation } : found;
  }

  const option = (value, text = value) => el("option", { value }, text);
  const field = (label, control, kind = "") => el("label", { class: `field ${kind}` }, el("span", {}, label), control);

  // The form: {node, clear, focus, renew(run)}. `changed(parameters)` is called when the filters change, with empty texts
  // for unset ones; `left` when Enter or arrow down moves from a field to the results.
  function form(params, run, changed, left) {
    let waiting = 0;
    const say = () => {
      clearTimeout(waiting);
      return changed(read(fields));
    };
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(say, 150);
    };
    const leave = async (event) => {
      if (event.isComposing || !event.target.matches("input")) return;
      if (event.key !== "Enter" && !(event.key === "ArrowDown" && event.target.type === "search")) return;
      event.preventDefault();
      event.target.blur();
      await say();
      left();
    };
    const clear = () => {
      for (const [name, control] of Object.entries(fields)) {
        if (name !== "where" || !control.value.startsWith("e:")) control.value = "";
      }
      say();
    };
    const fields = controls(params, run, say, soon);
    const node = el("div", { class: "filters no-print", role: "search", on: { keydown: leave } }, laid(fields, params, clear));
    return { node, clear, focus: () => fields.text.focus(), renew: (fresh) => renew(fields, fresh) };
  }

  function controls(params, run, say, soon) {
    const given = (name) => ({ value: params[name] ?? "", on: { input: soon } });
    const typed = (name, more) =>
      el("input", { type: "search", autocomplete: "off", spellcheck: "false", ...given(name), ...more });
    const number = (name, label, placeholder) =>
      el("input", { type: "number", step: "any", "aria-label": label, placeholder, ...given(name) });
    const fields = {
      text: typed("text", { placeholder: "Search in answers", "aria-label": "Search in answers", class: "words" }),
      where: el("select", { "aria-label": "where", on: { change: say } }),
      outcome: el("select", { on: { change: say } }, option("", "any"), Strop.outcomes.map((name) => option(name))),
      flag: el("select", { on: { change: say } }),
      task: typed("task", { placeholder: "id or words", class: "task" }),
      min: number("min", "reward from", "from"),
      max: number("max", "reward to", "to"),
      from: number("from", "step from", "from"),
      to: number("to", "step to", "to"),
      sort: el("select", { on: { change: say } }, SORTS.map(([value, text]) => option(value, text))),
    };
    renew(fields, run);
    choose(fields.where, params.evaluation ? `e:${params.evaluation}` : params.kind);
    choose(fields.outcome, params.outcome);
    choose(fields.flag, params.flag);
    choose(fields.sort, params.sort);
    return fields;
  }

  // Selects a value, even one from an address that the list lacks.
  function choose(select, value = "") {
    if (![...select.options].some((one) => one.value === value)) select.append(option(value));
    select.value = value;
  }

  // Choices from the run's data, which may grow.
  function renew({ where, flag }, run) {
    const flags = (run.flags ?? []).map((name) => option(name));
    const evaluations = run.evaluations.map(({ file, label }) => option(`e:${file}`, label || file));
    const places = [option("", "everything"), option("train", "training"), option("evaluation", "evaluations")];
    refill(flag, [option("", "any"), option("*", "any flag"), ...flags]);
    refill(where, [...places, ...evaluations]);
  }

  function refill(select, options) {
    if (document.activeElement === select || options.length === select.options.length) return; // it may be open
    const { value } = select;
    select.replaceChildren(...options);
    choose(select, value);
  }

  function read({ where, ...plain }) {
    const values = Object.fromEntries(Object.entries(plain).map(([name, node]) => [name, node.value.trim()]));
    const [kind, evaluation] = where.value.startsWith("e:") ? ["", where.value.slice(2)] : [where.value, ""];
    return { ...values, kind, evaluation };
  }

  const laid = (fields, params, clear) => [
    fields.text,
    more([
      field("in", fields.where),
      field("outcome", fields.outcome),
      field("flags", fields.flag),
      field("task", fields.task),
      range("reward", fields.min, fields.max),
      range("steps", fields.from, fields.to),
      field("first", fields.sort),
      el("button", { type: "button", on: { click: clear } }, "Clear"),
    ], among(params)),
  ];

  // Folded on narrow screens unless something is set; always open on wide ones.
  function more(fields, active) {
    const wide = window.matchMedia("(min-width: 900px)");
    const node = el("details", { class: "more-filters" }, el("summary", {}, "Filters"), el("div", { class: "fields" }, fields));
    node.open = wide.matches || Object.keys(active ?? {}).some((name) => name !== "text");
    return node;
  }

  const range = (label, low, high) =>
    el("span", { class: "field range", role: "group", "aria-label": label }, el("span", {}, label), low, "–", high);

  Strop.filters = { among, form };
})();
