// The page: which view the address names, what leads to the others, and what a screen reader is told.
import { html, render, useEffect, useState } from "./html.js";
import { address, go } from "./address.js";
import { spoken } from "./store.js";
import { Talk } from "./talk/view.js";
import { Waiting } from "./parts.js";

const VIEWS = [
  { path: "/", name: "Talk", title: "Talk", view: () => Talk },
  { path: "/demo", name: "See it learn", title: "See it learn", load: () => import("./demo/view.js") },
  { path: "/operate", name: "Operate", title: "Operate", load: () => import("./operate/view.js") },
  { path: "/lab", name: "Lab", title: "Lab", load: () => import("./lab/view.js") },
];

// Views that draw are loaded when they are first shown.
function Later({ load }) {
  const [view, show] = useState(null);
  const [failed, fail] = useState(false);
  useEffect(() => {
    let current = true;
    load().then((module) => current && show(() => module.default), () => current && fail(true));
    return () => { current = false; };
  }, [load]);
  const View = view;
  if (failed) return html`<div class="alert" role="alert"><p>This part of the page could not be loaded: the service may have been renewed meanwhile.</p><button onClick=${() => location.reload()}>Load the page again</button></div>`;
  return View ? html`<${View} />` : html`<${Waiting} what="Loading" />`;
}

function Link({ path, current, children }) {
  const follow = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(path);
    document.getElementById("main").focus({ preventScroll: true });
    scrollTo(0, 0);
  };
  return html`<a href=${path} aria-current=${current ? "page" : null} onClick=${follow}>${children}</a>`;
}

function Theme() {
  const [theme, choose] = useState(document.documentElement.dataset.theme);
  const change = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch { /* not kept */ }
    choose(next);
    dispatchEvent(new Event("themechange"));
  };
  return html`<button class="quiet theme" onClick=${change} aria-label=${`Switch to the ${theme === "dark" ? "light" : "dark"} theme`}><span aria-hidden="true">${theme === "dark" ? "☀" : "☾"}</span></button>`;
}

const Spoken = () => html`<div class="unseen" aria-live="polite" role="status">${spoken.use().text}</div>`;

function Page() {
  const { path } = address.use();
  const found = VIEWS.find((one) => one.path === path) || VIEWS[0];
  useEffect(() => { document.title = `${found.title} · druthers`; }, [found]);
  const View = found.view?.();
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <span class="brand"><img src=${new URL("icon.svg", import.meta.url).href} alt="" width="24" height="24" /> druthers</span>
      <nav aria-label="Views">
        ${VIEWS.map((one) => html`<${Link} key=${one.path} path=${one.path} current=${one === found}>${one.name}<//>`)}
        <a href="/docs">API</a>
      </nav>
      <${Theme} />
    </header>
    <main id="main" tabindex="-1">${View ? html`<${View} />` : html`<${Later} key=${found.path} load=${found.load} />`}</main>
    <${Spoken} />`;
}

const root = document.getElementById("page");
root.textContent = "";
render(html`<${Page} />`, root);
