// Multi-line texts: code with line numbers and colours, compiler output, and foldable sections.
"use strict";
(() => {
  const MOST_LINES = 1_500; // drawn at once; more on demand
  const CLASSES = new Set(["k", "s", "c", "n", "f", "t", "o"]);

  // Lines of [[class or "", text], ...] from a text and its runs, whose lengths count code points. Runs that do not
  // fit the text lose their colour, never the text.
  Strop.coloured = (text, runs) => {
    const lines = [[]];
    const push = (kind, piece) => {
      piece.split("\n").forEach((part, index) => {
        if (index > 0) lines.push([]);
        if (part !== "") lines.at(-1).push([CLASSES.has(kind) ? kind : "", part]);
      });
    };
    const points = runs?.length ? Array.from(text) : [];
    let at = 0;
    for (const [kind, length] of runs?.length ? runs : []) {
      if (!(length > 0) || at >= points.length) continue;
      push(kind, points.slice(at, at + length).join(""));
      at += length;
    }
    push("", runs?.length ? points.slice(at).join("") : text);
    if (lines.length > 1 && lines.at(-1).length === 0) lines.pop();
    return lines;
  };

  Strop.pieces = (parts) =>
    parts.map(([kind, text]) => (kind ? Strop.el("span", { class: `syn-${kind}` }, text) : text));

  // Code with line numbers, which are not copied, and a button that copies the code unchanged.
  Strop.code = (text, runs, label) => {
    if (text.trim() === "") return Strop.el("p", { class: "muted" }, "No code was found in the sampled text.");
    const lines = Strop.coloured(text, runs);
    const body = Strop.el("pre", { class: "code", tabindex: 0, role: "region", "aria-label": label });
    drawn(body, lines.length, (index) =>
      Strop.el(
        "span",
        { class: "code-line" },
        Strop.el("span", { class: "code-text" }, Strop.pieces(lines[index]), "\n"),
      ),
    );
    return Strop.el("div", { class: "code-box" }, copier(text), body);
  };

  // Appends `node(index)` for each index below `count`: the first ones at once, the rest on demand.
  function drawn(host, count, node, most = MOST_LINES, from = 0) {
    const to = Math.min(count, from + most);
    const batch = document.createDocumentFragment();
    for (let index = from; index < to; index += 1) batch.append(...[node(index)].flat());
    host.append(batch);
    if (to === count) return;
    const more = () => {
      button.remove();
      drawn(host, count, node, most, to);
    };
    const text = `Show more (${Strop.format.count(count - to)} left)`;
    const button = Strop.el("button", { type: "button", class: "more no-print", on: { click: more } }, text);
    host.append(button);
  }
  Strop.drawn = drawn;

  function copier(text) {
    const label = Strop.printable(text) !== text ? "Copy (has hidden characters)" : "Copy";
    const button = Strop.el("button", { type: "button", class: "copy no-print", on: { click: () => copy() } }, label);
    const copy = async () => {
      button.textContent = (await copied(text)) ? "Copied" : "Copying is not allowed here: select and copy";
      setTimeout(() => (button.textContent = label), 2000);
    };
    return button;
  }

  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = Strop.el("textarea", { class: "unseen", readonly: true, value: text });
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  }

  // Plain output of a program. Lines with a compiler's errors or warnings are highlighted.
  Strop.output = (text, label) => {
    const lines = text.replace(/\n+$/, "").split("\n");
    const body = Strop.el("pre", { class: "output", tabindex: 0, role: "region", "aria-label": label });
    drawn(body, lines.length, (index) => {
      const kind = /^\s*(error|warning)\b/.exec(lines[index])?.[1];
      return Strop.el("span", { class: kind ? `output-line output-${kind}` : "output-line" }, lines[index], "\n");
    });
    return body;
  };

  // A foldable section; its head names its content.
  Strop.fold = (head, open, ...children) =>
    Strop.el("details", { open, class: "fold" }, Strop.el("summary", null, head), children);

  Strop.folded = (head, text, { most = 14, label = "output" } = {}) => {
    const count = text.replace(/\n+$/, "").split("\n").length;
    const size = `${Strop.format.count(count)} ${count === 1 ? "line" : "lines"}`;
    return Strop.fold(
      [head, " ", Strop.el("span", { class: "muted" }, size)],
      count <= most,
      Strop.output(text, label),
    );
  };

  // Names and values in two columns; names with a null value are left out.
  Strop.facts = (pairs) =>
    Strop.el(
      "dl",
      { class: "facts" },
      pairs
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => Strop.el("div", null, Strop.el("dt", null, name), Strop.el("dd", null, value))),
    );

  // A panel with a heading.
  Strop.section = (title, ...children) =>
    Strop.el("section", { class: "panel part", "aria-label": title }, Strop.el("h2", null, title), children);

  // A table of {head, num} columns and rows of cells, in its own scrolling box.
  Strop.table = (caption, columns, rows) =>
    Strop.el(
      "div",
      { class: "table-box" },
      Strop.el(
        "table",
        { class: "data" },
        Strop.el("caption", { class: "unseen" }, caption),
        Strop.el(
          "thead",
          null,
          Strop.el(
            "tr",
            null,
            columns.map(([head, num]) => cell("th", head, num, "col")),
          ),
        ),
        Strop.el(
          "tbody",
          null,
          rows.map((cells) => tableRow(cells, columns)),
        ),
      ),
    );

  const cell = (tag, value, num, scope) => Strop.el(tag, { class: num ? "num" : null, scope }, value);
  const tableRow = (cells, columns) =>
    Strop.el(
      "tr",
      null,
      cells.map((value, index) => cell("td", value, columns[index][1])),
    );
})();
