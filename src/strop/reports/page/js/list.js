// Lists of rollouts: table rows for keyboard navigation, and cards of groups side by side.
"use strict";
(() => {
  const el = Strop.el;
  const rows = new WeakMap();
  const PAGE = 200;

  const linkTo = (row) => Strop.link({ view: "rollout", id: row.id });

  const full = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

  // Number of first lines that are the same in every answer, such as the signature of a function to complete.
  function sharedLines(group) {
    const lines = group.map((row) => full(row.text));
    let count = 0;
    while (count < lines[0].length && lines.every((one) => one[count] === lines[0][count])) count += 1;
    return group.length > 1 ? count : 0;
  }

  // The answer at a glance: its lines joined into one, without blank lines and, if others follow, without `shared` ones.
  function glance(text, shared) {
    const lines = full(text);
    const skipped = Math.min(shared, Math.max(0, lines.length - 1));
    const end = () => el("span", { class: "line-end", "aria-hidden": true }, " ⏎ ");
    return [skipped ? end() : null, ...lines.slice(skipped).flatMap((line, at) => (at ? [end(), line] : [line]))];
  }

  const COMMENT = /^(\/\/|\/\*|\*|--|#($|[ !]))/;

  // Where the glance at a single answer begins: at the line that was searched for, else after its initial comments.
  function begin(text, sought) {
    const lines = full(text);
    const found = sought ? lines.findIndex((line) => line.toLowerCase().includes(sought.toLowerCase())) : -1;
    return found >= 0 ? found : Math.max(0, lines.findIndex((line) => !COMMENT.test(line)));
  }

  // `like`: the index of an earlier rollout whose answer begins the same way.
  function answer(row, shared = 0, like = null) {
    const empty = !row.text.trim();
    const kind = empty ? "muted" : like === null ? "mono" : "mono again";
    const marks = (row.flags ?? []).map((flag) => el("span", { class: "chip warn" }, `⚑ ${flag}`));
    if (row.greedy) marks.unshift(el("span", { class: "chip" }, "greedy"));
    const same = like === null ? null : `begins like rollout ${like}`;
    return el(
      "td",
      { class: "answer" },
      el("a", { href: linkTo(row), class: kind, title: same }, empty ? "(empty)" : glance(row.text, shared)),
      marks.length ? el("span", { class: "flags" }, marks) : null,
    );
  }

  function tokens(row) {
    return el("td", { class: "num size muted", title: row.truncated ? "cut at the token limit" : null },
      Strop.format.count(row.tokens), row.truncated ? "✂" : "");
  }

  function advantage(row) {
    const kind = row.advantage > 0 ? "good" : row.advantage < 0 ? "bad" : "muted";
    return el("td", { class: `num ${kind}` }, Strop.format.signed(row.advantage));
  }

  function line(row, cells) {
    const open = (event) => {
      if (!event.target.closest("a") && !String(window.getSelection())) node.querySelector("a").click();
    };
    const node = el("tr", { class: "row-link", "data-row": true, on: { click: open } }, ...cells);
    rows.set(node, row);
    return node;
  }

  const head = (...titles) =>
    el("thead", {}, el("tr", {}, titles.map(([title, kind]) => el("th", { scope: "col", class: kind }, title))));

  // One group: its task, its result, its rollouts. `summary` is [n, scored, passed, mean reward, signal].
  function card(group, { title, label, summary, task }) {
    const shared = sharedLines(group);
    const first = new Map();
    const like = (row) => (first.has(row.text) ? first.get(row.text) : first.set(row.text, row.index) && null);
    const body = group.map((row) =>
      line(row, [
        el("td", { class: "verdict" }, Strop.outcome(row.outcome, true)),
        el("td", { class: "num" }, Strop.format.number(row.reward)),
        row.kind === "train" ? advantage(row) : null,
        tokens(row),
        answer(row, shared, like(row)),
      ]),
    );
    const columns = [["", "verdict"], ["reward", "num"], group[0].kind === "train" && ["adv.", "num"], ["tokens", "num"], ["answer", ""]];
    return el(
      "section",
      { class: "panel card", "data-group": true },
      el("header", {},
        el("h3", {}, el("span", { class: "muted" }, title, title ? " · " : ""), el("a", { href: Strop.link({ view: "task", task }) }, label || task)),
        el("p", { class: "muted facts" }, facts(group, summary))),
      el("div", { class: "table-box" },
        el("table", { class: "data rows" }, head(...columns.filter(Boolean)), el("tbody", {}, body))),
    );
  }

  // A group in one line. In an evaluation, greedy rollouts do not count among the sampled ones.
  function facts(all, summary) {
    const sampled = all.filter((row) => !row.greedy);
    const group = sampled.length ? sampled : all;
    const rewards = group.map((row) => row.reward).filter((reward) => reward !== null);
    const trained = all[0].kind === "train";
    const [n, scored, passed, reward, signal] = summary ?? [
      group.length,
      trained ? rewards.length : group.filter((row) => row.outcome !== "error").length,
      group.filter((row) => row.outcome === "passed").length,
      rewards.length ? rewards.reduce((sum, one) => sum + one, 0) / rewards.length : null,
      new Set(rewards).size > 1 || group.some((row) => row.advantage),
    ];
    const parts = [`${passed} of ${scored} passed`];
    if (trained || reward !== null) parts.push(`mean reward ${Strop.format.number(reward, 2)}`);
    const [greedy] = all.filter((row) => row.greedy);
    if (greedy) parts.push(`greedy ${greedy.outcome}`);
    if (n > scored) parts.push(`${n - scored} not scored`);
    if (!signal && n > 1 && trained) parts.push("no signal: all rewards are equal");
    if (group.length < n) parts.push(`${group.length} of ${n} here`);
    return parts.join(" · ");
  }

  const place = (row) =>
    row.kind === "train" ? `step ${row.step} · ${row.group}.${row.index}` : `${row.evaluation} · ${row.greedy ? "greedy" : row.index}`;

  // A flat list of search results.
  function results(found, labels, sought) {
    const columns = [["where", "place"], ["", "verdict"], ["reward", "num"], ["adv.", "num"], ["tokens", "num size"], ["task", "asked"], ["answer", ""]];
    const body = el("tbody", {});
    const add = (more) =>
      body.append(...more.map((row) =>
        line(row, [
          el("td", { class: "place" }, place(row)),
          el("td", { class: "verdict" }, Strop.outcome(row.outcome, true)),
          el("td", { class: "num" }, Strop.format.number(row.reward)),
          advantage(row),
          tokens(row),
          el("td", { class: "asked muted" }, Strop.get(labels, row.task)?.label ?? row.task),
          answer(row, begin(row.text, sought)),
        ])));
    add(found);
    return { add, node: el("div", { class: "table-box panel found" }, el("table", { class: "data rows" }, head(...columns), body)) };
  }

  // Navigation. The current row has class is-here; `moved(row, leaving)` is called for a new one, `more()` may add rows at
  // the end, `beyond(by)` continues after the last group.
  function walker(host, { moved, more, beyond }) {
    const all = () => [...host.querySelectorAll("[data-row]")];
    const here = () => host.querySelector(".is-here");

    function to(node, { quiet = false, block = "nearest" } = {}) {
      here()?.classList.remove("is-here");
      if (!node) return;
      node.classList.add("is-here");
      node.querySelector("a").focus({ preventScroll: true });
      node.scrollIntoView({ block });
      if (!quiet) moved(rows.get(node));
    }

    function by(step) {
      const nodes = all();
      const at = nodes.indexOf(here());
      if (at < 0) return to(nodes[0]);
      if (nodes[at + step]) return to(nodes[at + step]);
      if (step > 0 && more()) return to(all()[at + 1]);
    }

    function group(step) {
      const cards = [...host.querySelectorAll("[data-group]")];
      const at = cards.indexOf(here()?.closest("[data-group]"));
      if (cards[at + step]) return to(cards[at + step].querySelector("[data-row]"), { block: "center" });
      if (step > 0 && more()) return group(step);
      return beyond(step);
    }

    function open() {
      if (!here()) return;
      moved(rows.get(here()), true);
      location.hash = linkTo(rows.get(here()));
    }

    // A click opens the rollout: its row becomes the place to return to.
    function clicked(event) {
      const node = event.target.closest("[data-row]");
      if (!node) return;
      to(node, { quiet: true });
      if (event.target.closest("a") && !event.ctrlKey && !event.metaKey && !event.shiftKey) moved(rows.get(node), true);
    }

    host.addEventListener("click", clicked, { capture: true });
    const find = (wanted) => all().find((node) => wanted(rows.get(node)));
    return { to, by, group, open, find };
  }

  Strop.list = { card, results, walker, PAGE };
})();
