// Shows the view that the address's hash names, and handles its keys.
"use strict";
(() => {
  const views = new Map();
  const scrolled = new Map();
  let keys = new Map();
  let current = null;
  let shown = "";
  let back = false;

  // view: {title, tab: its number among the tabs or absent, render(params, host), changed(params, host) or absent}
  Strop.view = (name, view) => views.set(name, { name, ...view });
  Strop.tabs = () =>
    [...views.values()].filter((view) => view.tab).sort((left, right) => left.tab - right.tab);

  // The address's parameters; all are texts, and view and run always exist.
  Strop.params = () => {
    const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    return { ...found, view: views.has(found.view) ? found.view : (Strop.tabs()[0]?.name ?? ""), run: found.run ?? "0" };
  };

  // The address of a view, for href. The run stays as it is unless given; empty parameters are left out.
  Strop.link = (params) => {
    const whole = { view: Strop.params().view, run: Strop.params().run, ...params };
    const given = Object.entries(whole).filter(([, value]) => !["", null, undefined].includes(value));
    return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
  };

  // Shows a view. `replace` leaves no entry in the history; `quiet` does not redraw.
  Strop.go = (params, { replace = false, quiet = false } = {}) => {
    const hash = Strop.link(params);
    if (replace || quiet) {
      history.replaceState({ seen: true }, "", hash);
      if (quiet) shown = hash;
      else Strop.draw();
    } else if (hash === location.hash) Strop.draw();
    else location.hash = hash;
  };

  // Keys of the view that is being rendered: {"j ArrowDown": ["next row", function], ...}
  Strop.keys = (map) => {
    for (const [names, [label, run]] of Object.entries(map)) {
      for (const name of names.split(" ")) keys.set(name, { names, label, run });
    }
  };
  Strop.keysOfView = () => keys;

  // Renders the view of the address into a fresh element of <main>.
  Strop.draw = async () => {
    const main = document.querySelector("main");
    if (shown) scrolled.set(shown, window.scrollY);
    const params = Strop.params();
    const view = views.get(params.view);
    const again = shown === location.hash;
    shown = location.hash;
    keys = new Map();
    const host = Strop.el("div", { class: `view view-${params.view}` });
    current = { view, params, host };
    const position = back || again ? (scrolled.get(shown) ?? 0) : 0;
    back = false;
    history.replaceState({ seen: true }, "");
    main.replaceChildren(host);
    document.dispatchEvent(new CustomEvent("strop:view", { detail: params }));
    try {
      if (!view) throw new Error("this page has no views");
      await view.render(params, host);
    } catch (error) {
      if (host.isConnected) host.replaceChildren(Strop.el("p", { class: "failure", role: "alert" }, failure(error)));
      console.error(error);
    }
    if (host.isConnected) window.scrollTo(0, position);
  };

  const failure = (error) => `This view could not be shown: ${error?.message ?? error}`;

  // Tells the view that new data has arrived.
  Strop.refresh = async () => {
    if (!current?.view?.changed || !current.host.isConnected) return;
    try {
      await current.view.changed(current.params, current.host);
    } catch (error) {
      console.error(error);
    }
  };

  // Marks history entries that were shown before, so that going back restores the position but following a link does not.
  history.scrollRestoration = "manual";
  window.addEventListener("popstate", (event) => (back = event.state?.seen === true));
  window.addEventListener("hashchange", () => {
    if (location.hash !== shown) Strop.draw();
  });
})();
