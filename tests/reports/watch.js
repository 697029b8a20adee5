// Put into a page by test_xss.py: goes to views, and says what of a hostile text has become more than text.
(() => {
  const HARMLESS = { SCRIPT: 0, STYLE: 0, META: 0, LINK: 0, NOSCRIPT: 0 };
  const FORBIDDEN = /^(iframe|frame|object|embed|base|form|img|image|audio|video|source|picture|template|slot|portal|math|mtext|foreignObject|animate|set|use|marquee|isindex|applet|xml|mglyph|maction)$/i;
  const ADDRESS = /^(src|srcdoc|srcset|action|formaction|href|xlink:href|ping|data|poster|background|popovertarget|http-equiv)$/i;
  const count = (tag) => document.querySelectorAll(`${tag}:not([src="/vega.js"])`).length; // that one is the live page's
  for (const tag of Object.keys(HARMLESS)) HARMLESS[tag] = count(tag);

  const own = (node) => node.closest("head") || (node.tagName === "SCRIPT" && node.parentElement === document.body);

  function wrong(node) {
    if (node.className === "vega-bindings" && !node.firstChild) return null; // an empty form of the chart library
    if (FORBIDDEN.test(node.localName)) return `element ${node.localName}`;
    if (own(node)) return null;
    for (const { name, value } of node.attributes) {
      if (/^on/i.test(name)) return `handler ${name}`;
      if (ADDRESS.test(name) && !value.startsWith("#")) return `address ${name}=${value.slice(0, 80)}`;
      if (name === "style" && /url|expression|import|evil/i.test(value)) return `style ${value.slice(0, 80)}`;
      if (/^(id|name)$/i.test(name) && value in window && value !== "main" && !/^\d+$/.test(value)) return `name ${value}`;
    }
    return null;
  }

  window.faults = (place) => {
    const found = [...document.querySelectorAll("*")].map(wrong).filter(Boolean);
    for (const [tag, before] of Object.entries(HARMLESS)) if (count(tag) > before) found.push(`one more ${tag}`);
    if (window.pwned !== undefined) found.push("a text was run");
    for (const name in {}) found.push(`every object has ${name}`);
    if (Object.prototype.pwned !== undefined || Object.getPrototypeOf(Strop) !== Object.prototype) found.push("prototypes");
    if (typeof Strop.el !== "function" || document.querySelector("dialog[open]")) found.push("Strop or a dialog");
    const failure = document.querySelector(".failure");
    if (failure) found.push(failure.textContent.slice(0, 300));
    return [...new Set(found)].map((fault) => `${place}: ${fault}`);
  };

  // Shows a view as its address would: browsers slow down pages that change theirs hundreds of times.
  const params = Strop.params;
  const replace = history.replaceState.bind(history);
  window.visit = async (wanted) => {
    const address = Strop.link(wanted);
    Strop.params = () => ({ run: "0", ...Object.fromEntries(new URLSearchParams(address.slice(1))) });
    history.replaceState = () => {};
    try {
      await Strop.draw();
      const view = document.querySelector(".view");
      await view.drawing;
      for (const fold of view.querySelectorAll("details")) fold.open = true;
      await new Promise((resolve) => setTimeout(resolve));
    } finally {
      Strop.params = params;
      history.replaceState = replace;
    }
    return window.faults(JSON.stringify(wanted).slice(0, 200));
  };

  // [{view, has: [[selector, text], ...]}] -> faults, and texts that are not there as they are.
  window.tour = async (places) => {
    const found = [];
    for (const { has = [], ...wanted } of places) {
      found.push(...(await window.visit(wanted)));
      for (const [selector, text] of has) {
        const there = [...document.querySelectorAll(selector)];
        if (!there.some((node) => node.textContent.includes(text) && node.checkVisibility())) {
          const seen = there.map((node) => node.textContent).join(" | ");
          found.push(`${JSON.stringify(wanted).slice(0, 200)}: ${selector} lacks ${JSON.stringify(text.slice(0, 90))}: ${seen.slice(0, 300)}`);
        }
      }
    }
    return found;
  };
})();
