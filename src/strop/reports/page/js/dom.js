// The namespace, and the only functions by which this page makes nodes and texts. Model output becomes text nodes, never
// markup, and every text goes through `printable`.
"use strict";
window.Strop = {};
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARKS =
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u180b-\u180d\u3164\uffa0]/gu;

  // The text with invisible characters made visible: control characters, direction overrides, joiners, lone surrogates.
  Strop.printable = (text) => String(text).replace(MARKS, mark);

  function mark(character) {
    const code = character.codePointAt(0);
    if (character === "\n" || character === "\t") return character;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  }

  // An HTML element. props: class, on: {event: function}, style: {property: value}, value, checked; every other name is
  // an attribute (true: empty, false or null: left out). children: texts, numbers, nodes, arrays of them, null.
  Strop.el = (tag, props, ...children) => filled(document.createElement(tag), props, children);
  Strop.svg = (tag, props, ...children) => filled(document.createElementNS(SVG, tag), props, children);

  function filled(node, props, children) {
    if (/^(script|style|iframe|object|embed|link|meta|base|form)$/i.test(node.localName)) {
      throw new Error(`no ${node.localName} elements in this page`);
    }
    for (const [name, value] of Object.entries(props ?? {})) set(node, name, value);
    add(node, children);
    return node;
  }

  function set(node, name, value) {
    if (value === null || value === undefined || value === false) return;
    if (name === "on") {
      for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) node.style.setProperty(property, String(text));
    } else if (name === "value" || name === "checked") {
      node[name] = value;
    } else if (/^on/i.test(name) || /^(src|srcdoc|action|formaction|xlink:href|style)$/i.test(name)) {
      throw new Error(`attribute ${name} is not for this page`);
    } else if (/^href$/i.test(name) && !String(value).startsWith("#")) {
      throw new Error("links of this page lead into this page");
    } else {
      node.setAttribute(name, value === true ? "" : Strop.printable(value));
    }
  }

  function add(node, children) {
    for (const child of children) {
      if (Array.isArray(child)) add(node, child);
      else if (child instanceof Node) node.append(child);
      else if (child !== null && child !== undefined && child !== false) node.append(Strop.printable(child));
    }
  }

  // The value under a key that may come from data, such as a task's id; never an inherited property.
  Strop.get = (object, key) => (object && Object.hasOwn(object, key) ? object[key] : undefined);

  const SIGNS = {
    passed: "✓",
    failed: "✗",
    "timed out": "◷",
    "out of memory": "▲",
    "no answer": "∅",
    tampered: "‼",
    unjudged: "–",
    error: "!",
  };
  Strop.outcomes = Object.keys(SIGNS);

  // An outcome, shown by a sign and a word as well as by colour; with `short` only screen readers get the word.
  Strop.outcome = (name, short = false) => {
    const known = Object.hasOwn(SIGNS, name ?? "");
    const text = known ? name : (name ?? "no verdict") || "no verdict";
    return Strop.el(
      "span",
      { class: `outcome outcome-${known ? name.replaceAll(" ", "-") : "unknown"}`, title: text },
      Strop.el("span", { class: "sign", "aria-hidden": true }, known ? SIGNS[name] : "?"),
      Strop.el("span", { class: short ? "unseen" : null }, ` ${text}`),
    );
  };

  // A share in 0..1 as a small bar next to its number; null becomes a dash.
  Strop.bar = (share, text, kind = "") => {
    const known = Number.isFinite(share);
    const width = known ? Math.max(0, Math.min(1, share)) * 100 : 0;
    return Strop.el(
      "span",
      { class: `bar ${kind}`, title: text },
      Strop.el("span", { class: "bar-fill", style: { width: `${width}%` } }),
    );
  };

  const DASH = "–";
  const finite = (value, write) => (typeof value === "number" && Number.isFinite(value) ? write(value) : DASH);

  // Numbers in human-readable form. Anything but a finite number becomes a dash.
  Strop.format = {
    number: (value, digits = 3) =>
      finite(value, (x) => (x !== 0 && Math.abs(x) < 10 ** -digits ? x.toExponential(1) : trimmed(x, digits))),
    signed: (value, digits = 2) => finite(value, (x) => withSign(x.toFixed(digits))),
    percent: (value, digits = 0) => finite(value, (x) => `${(x * 100).toFixed(digits)} %`),
    count: (value) => finite(value, (x) => x.toLocaleString("en")),
    seconds: (value) => finite(value, duration),
    bytes: (value) => finite(value, size),
  };

  function withSign(text) {
    if (Number(text) === 0) return text.replace("-", "");
    return text.startsWith("-") ? `−${text.slice(1)}` : `+${text}`;
  }

  function trimmed(x, digits) {
    if (Number.isInteger(x)) return x.toLocaleString("en");
    return Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : String(Number(x.toFixed(digits)));
  }

  function duration(x) {
    if (x < 1) return `${Math.round(x * 1000)} ms`;
    if (x < 100) return `${Number(x.toFixed(1))} s`;
    if (x < 6000) return `${Math.round(x / 60)} min`;
    return `${(x / 3600).toFixed(1)} h`;
  }

  function size(x) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    for (; x >= 1000 && unit < units.length - 1; unit += 1) x /= 1000;
    return `${Number(x.toFixed(x < 10 && unit ? 1 : 0))} ${units[unit]}`;
  }
})();
