// Strop.tokens(turns, trained): the sampled text, token by token, coloured by a measure that the user chooses. The
// numbers of one token are shown above; pointer and arrow keys select it. `trained`: whether tokens carry loss.
"use strict";
(() => {
  const MOST = 5_000; // tokens drawn at once
  const LEVELS = 8;

  // A measure gives a level 0..LEVELS or null. `bounds`: each one reached adds a level. Units: nats.
  const MEASURES = {
    surprise: {
      label: "log-probability",
      legend: "0 to −6 nats and less",
      of: ([, logprob]) => (finite(logprob) ? -logprob : null),
      bounds: [0.05, 0.2, 0.5, 1, 2, 3, 4.5, 6],
    },
    probability: {
      label: "probability",
      legend: "1 to 0",
      of: ([, logprob]) => (finite(logprob) ? 1 - Math.exp(logprob) : null),
      bounds: [0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.99],
    },
    entropy: {
      label: "entropy",
      legend: "0 to 4 nats and more",
      of: ([, , entropy]) => (finite(entropy) ? entropy : null),
      bounds: [0.05, 0.2, 0.5, 1, 1.5, 2, 3, 4],
    },
    none: { label: "none", legend: "", of: () => null, bounds: [] },
  };

  const finite = (value) => typeof value === "number" && Number.isFinite(value);
  const level = (measure, token) => {
    const value = measure.of(token);
    return value === null ? null : measure.bounds.filter((bound) => value >= bound).length;
  };

  // A piece with its blanks visible but subdued. A line break is both shown and made.
  const MARKS = { " ": "·", "\t": "→\t", "\n": "↵\n" };
  const shown = (piece) =>
    piece === ""
      ? "∅"
      : piece
          .split(/([ \t\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+)/)
          .map((part, index) =>
            index % 2
              ? Strop.el("span", { class: "blank" }, Array.from(part, (blank) => MARKS[blank] ?? "⍽").join(""))
              : part,
          );

  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

  const summary = (all, left) => {
    const logprobs = all.map(([, logprob]) => logprob).filter(finite);
    const entropies = all.map(([, , entropy]) => entropy).filter(finite);
    const off = all.filter(([, , , mask]) => mask === 0).length;
    const sampled = all.length - off;
    const { count, number } = Strop.format;
    return [
      `${count(sampled)} sampled ${sampled === 1 ? "token" : "tokens"}`,
      logprobs.length ? `mean log-probability ${number(mean(logprobs))}` : null,
      entropies.length ? `mean entropy ${number(mean(entropies))} nats` : "no entropies recorded",
      off ? `${count(off)} masked: hatched, no loss` : null,
      left > 0 ? `${count(left)} more are not in this page` : null,
    ]
      .filter(Boolean)
      .join(" · ");
  };

  // The chosen token's numbers.
  const readout = (token, at, count, trained) => {
    const [piece, logprob, entropy, mask, id] = token;
    const { number, percent } = Strop.format;
    return Strop.facts([
      ["token", `${Strop.format.count(at + 1)} of ${Strop.format.count(count)}`],
      ["piece", Strop.el("code", null, JSON.stringify(piece))],
      ["id", finite(id) ? String(id) : null],
      ["log-probability", number(logprob, 4)],
      ["probability", finite(logprob) ? percent(Math.exp(logprob), 2) : "–"],
      ["entropy", finite(entropy) ? `${number(entropy)} nats` : "not recorded"],
      ["loss", mask === 0 ? "no (masked)" : trained ? "yes" : null],
    ]);
  };

  const brief = ([piece, logprob, entropy, mask]) => {
    const { number, percent } = Strop.format;
    const parts = [JSON.stringify(piece), `log-probability ${number(logprob, 4)}`];
    if (finite(logprob)) parts.push(percent(Math.exp(logprob), 2));
    if (finite(entropy)) parts.push(`entropy ${number(entropy)}`);
    if (mask === 0) parts.push("masked");
    return parts.join(", ");
  };

  const legend = (measure) =>
    Strop.el(
      "span",
      { class: "legend" },
      measure.legend
        ? [...Array(LEVELS + 1).keys()].map((n) => Strop.el("span", { class: `heat heat-${n}` }, " "))
        : null,
      Strop.el("span", { class: "muted" }, measure.legend),
    );

  // Marks the start of a turn, which begins with the environment's masked tokens.
  const boundary = (number) => Strop.el("span", { class: "turn-mark" }, `turn ${number + 1}`);

  Strop.tokens = (turns, trained) => {
    const all = turns.flatMap((turn) => turn.tokens ?? []);
    const left = turns.reduce((sum, turn) => sum + (turn.tokens_left_out ?? 0), 0);
    if (all.length === 0) return Strop.el("p", { class: "muted" }, "This page has no tokens for this rollout.");
    const starts = new Map();
    let start = 0;
    for (const [number, turn] of turns.entries()) {
      if (turns.length > 1) starts.set(start, boundary(number));
      start += turn.tokens?.length ?? 0;
    }
    return field(all, starts, left, trained);
  };

  function field(all, starts, left, trained) {
    let measure = MEASURES.surprise;
    let chosen = 0;
    const nodes = [];
    const style = (token) => {
      const [[piece, , , mask], heat] = [token, level(measure, token)];
      return `token${heat === null ? "" : ` heat heat-${heat}`}${mask === 0 ? " masked" : ""}${piece === "" ? " muted" : ""}`;
    };
    const box = Strop.el("div", {
      class: "tokens",
      tabindex: 0,
      role: "application",
      "aria-label": "sampled tokens; arrow keys choose one",
    });
    const out = Strop.el("div", { class: "readout", "aria-live": "polite" });
    const choose = (at, scroll) => {
      nodes[chosen]?.classList.remove("chosen");
      chosen = Math.max(0, Math.min(nodes.length - 1, at));
      nodes[chosen].classList.add("chosen");
      if (scroll) nodes[chosen].scrollIntoView({ block: "nearest" });
      out.replaceChildren(readout(all[chosen], chosen, all.length, trained));
    };
    Strop.drawn(
      box,
      all.length,
      (at) => {
        nodes[at] = Strop.el("span", { class: style(all[at]) }, shown(all[at][0]));
        nodes[at].dataset.at = at;
        return starts.get(at) ? [starts.get(at), nodes[at]] : nodes[at];
      },
      MOST,
    );
    pointed(box, all, choose);
    box.addEventListener("keydown", (event) => moved(event, nodes, chosen, choose));
    const pick = (name) => {
      measure = MEASURES[name];
      nodes.forEach((node, at) => (node.className = style(all[at]) + (at === chosen ? " chosen" : "")));
      scale.replaceChildren(legend(measure));
    };
    const scale = Strop.el("span", null, legend(measure));
    choose(0, false);
    return [
      Strop.el("p", { class: "muted" }, summary(all, left)),
      Strop.el(
        "div",
        { class: "token-bar no-print" },
        chooser(
          all.some(([, , entropy]) => finite(entropy)),
          pick,
        ),
        scale,
      ),
      out,
      box,
    ];
  }

  const chooser = (withEntropy, pick) => {
    const names = Object.keys(MEASURES).filter((name) => name !== "entropy" || withEntropy);
    const options = names.map((name) => Strop.el("option", { value: name }, MEASURES[name].label));
    return Strop.el(
      "label",
      null,
      "Colour by ",
      Strop.el("select", { class: "measure", on: { change: (event) => pick(event.target.value) } }, options),
    );
  };

  const index = (event) => {
    const at = event.target.closest?.(".token")?.dataset.at;
    return at === undefined ? null : Number(at);
  };

  function pointed(box, all, choose) {
    box.addEventListener("pointerover", (event) => {
      const at = index(event);
      if (at !== null) event.target.title = Strop.printable(brief(all[at]));
    });
    box.addEventListener("click", (event) => {
      const at = index(event);
      if (at !== null) choose(at, false);
    });
  }

  // Left and right move by one token, up and down by a drawn line; also Home and End.
  function moved(event, nodes, chosen, choose) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -nodes.length, End: nodes.length }[event.key];
    const line = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined && line === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(step === undefined ? across(nodes, chosen, line) : chosen + step, true);
  }

  // The nearest token on the next or previous line.
  function across(nodes, chosen, direction) {
    const [here, ...rest] = [nodes[chosen].getClientRects()[0]];
    if (!here) return chosen + direction;
    let best = null;
    for (let at = chosen + direction; nodes[at]; at += direction) {
      const there = nodes[at].getClientRects()[0];
      if (!there || Math.abs(there.top - here.top) < 2) continue;
      if (best !== null && Math.abs(there.top - best.top) >= 2) break;
      const off = Math.abs(there.left - here.left);
      if (best === null || off < best.off) best = { at, off, top: there.top };
    }
    return best?.at ?? chosen;
  }
})();
