// The configuration: settings that differ between runs, the resolved recipe of one run, and its code versions.
"use strict";
(() => {
  const el = Strop.el;
  let everything = false;

  Strop.view("config", {
    title: "Configuration",
    tab: 3,
    render: async (params, host) => show(params, host),
    changed: async (params, host) => show(params, host),
  });

  async function show({ run: id }, host) {
    const { runs } = await Strop.source.page();
    const here = runs.find((run) => run.id === id) ?? runs[0];
    if (!here) return host.replaceChildren(el("p", { class: "muted" }, "There is no run in this page."));
    const now = JSON.stringify([id, runs.map(({ name, recipe, settings, versions }) => [name, recipe, settings, versions])]);
    if (host.seen === now) return;
    host.seen = now;
    host.replaceChildren(
      ...(runs.length > 1 ? [differences(runs, id)] : []),
      part(`Recipe${runs.length > 1 ? ` of ${Strop.runLabel(here)}` : ""}`, recipe(here.recipe)),
      part("Versions", table(runs, runs.map((run) => flat(run.versions)), { every: true, id })),
    );
  }

  const part = (title, ...nodes) => el("section", { class: "o-part" }, el("h2", {}, title), nodes);

  function differences(runs, id) {
    const box = el("div", {});
    const settings = runs.map((run) => run.settings ?? {});
    const draw = () => box.replaceChildren(table(runs, settings, { every: everything, id }));
    const all = el("input", { type: "checkbox", checked: everything, on: { change: () => ((everything = all.checked), draw()) } });
    draw();
    return part("Settings that differ", el("label", { class: "o-controls no-print" }, all, " all settings"), box);
  }

  const text = (value) => (typeof value === "string" && value !== "" ? value : JSON.stringify(value));

  // One row per setting, one column per run; rows whose values differ are marked; other rows only appear with `every`.
  function table(runs, sides, { every, id }) {
    const keys = [...new Set(sides.flatMap((side) => Object.keys(side)))];
    const rows = keys
      .map((key) => ({ key, values: sides.map((side) => Strop.get(side, key)) }))
      .map((row) => ({ ...row, differs: new Set(row.values.map((value) => JSON.stringify(value) ?? "missing")).size > 1 }))
      .filter((row) => every || row.differs);
    if (!rows.length) return el("p", { class: "muted" }, keys.length ? "No setting differs." : "No settings to show.");
    const cell = (value) =>
      value === undefined ? el("td", { class: "o-missing muted" }, "not set") : el("td", { class: "mono" }, text(value));
    const name = (run, index) => el("th", { scope: "col", class: run.id === id && runs.length > 1 ? "is-here" : null }, Strop.runName(run, index));
    return el(
      "div",
      { class: "table-box panel" },
      el(
        "table",
        { class: "data o-settings" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "setting"), runs.map(name))),
        el(
          "tbody",
          {},
          rows.map(({ key, values, differs }) =>
            el(
              "tr",
              { class: differs ? "o-differs" : null },
              el("th", { scope: "row", class: "mono" }, key, differs && every ? el("span", { class: "warn", title: "differs" }, " ≠") : null),
              values.map(cell),
            ),
          ),
        ),
      ),
    );
  }

  // Nested values under dotted names.
  function flat(value, prefix = "") {
    const inside = (inner) => inner && typeof inner === "object" && !Array.isArray(inner);
    return Object.fromEntries(
      Object.entries(value ?? {}).flatMap(([key, inner]) =>
        inside(inner) ? Object.entries(flat(inner, `${prefix}${key}.`)) : [[prefix + key, inner]],
      ),
    );
  }

  // YAML, lightly coloured: keys, numbers and constants, texts, comments.
  function recipe(yaml) {
    const lines = String(yaml ?? "").split("\n").map((line) => [...coloured(line), "\n"]);
    const copy = el("button", { type: "button", class: "quiet no-print", on: { click: () => copied(copy, yaml) } }, "Copy");
    return el("div", { class: "panel o-recipe" }, copy, el("pre", { tabindex: 0, "aria-label": "recipe" }, el("code", {}, lines)));
  }

  function coloured(line) {
    const [, indent, dash, key, colon, rest] = /^(\s*)((?:- )*)(?:([\w.@/-]+)(:(?=\s|$)))?(.*)$/.exec(line) ?? [, "", "", "", "", line];
    return [indent, dash, key && el("span", { class: "o-key" }, key), colon, value(rest)];
  }

  function value(rest) {
    const bare = rest.trim();
    if (bare.startsWith("#")) return el("span", { class: "o-comment" }, rest);
    if (/^(true|false|null|~|\[\]|\{\}|[-+]?(\d[\d_]*)?\.?\d+(e[-+]?\d+)?)$/i.test(bare)) return el("span", { class: "o-constant" }, rest);
    return bare ? el("span", { class: "o-text" }, rest) : rest;
  }

  async function copied(button, yaml) {
    try {
      await navigator.clipboard.writeText(String(yaml));
      button.replaceChildren("Copied");
    } catch {
      button.replaceChildren("Copying is not allowed here: select the text instead");
    }
  }
})();
