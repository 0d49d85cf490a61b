// Small parts that all views share.
import { html, useEffect, useRef, useState } from "./html.js";
import { key } from "./api.js";

// A problem as a sentence, with a way out: try again, show a key, or put it away.
export function Alert({ trouble, again, away }) {
  if (!trouble) return null;
  if (trouble.status === 401 || trouble.status === 403) return html`<${AskKey} trouble=${trouble} again=${again} />`;
  return html`<div class="alert" role="alert">
    <p>${trouble.message}</p>
    <div class="row">
      ${again && html`<button class="small" onClick=${again}>Try again</button>`}
      ${away && html`<button class="small quiet" onClick=${away}>Put away</button>`}
    </div>
  </div>`;
}

export function AskKey({ trouble, again }) {
  const [value, type] = useState("");
  const show = (event) => {
    event.preventDefault();
    key.set(value.trim());
    type("");
    again?.();
  };
  return html`<form class="alert" role="alert" onSubmit=${show}>
    <p>${trouble.message}</p>
    <div class="row">
      <label class="grow">Key <input type="password" autocomplete="off" value=${value} onInput=${(event) => type(event.target.value)} placeholder="druthers_…" /></label>
      <button disabled=${!value.trim()}>Use this key</button>
      ${key.get() && html`<button type="button" class="quiet" onClick=${() => { key.set(""); again?.(); }}>Leave the key out</button>`}
    </div>
    <p class="hint">A key is kept in this tab only. Whoever runs the service makes one with <code>druthers keys create</code>.</p>
  </form>`;
}

export const Waiting = ({ what }) => html`<p class="waiting" role="status">${what} …</p>`;

// A question before something that cannot be undone.
export function Confirm({ title, children, yes, onYes, onNo }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  return html`<dialog ref=${box} aria-labelledby="confirm-title" onCancel=${(event) => { event.preventDefault(); onNo(); }}>
    <h2 id="confirm-title">${title}</h2>
    ${children}
    <div class="row end">
      <button class="quiet" onClick=${onNo}>Keep it</button>
      <button class="danger" onClick=${onYes}>${yes}</button>
    </div>
  </dialog>`;
}

// A file made here, of what is shown here.
export function download(name, content, kind = "application/json") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A bar from 0 to 1; what it says stands beside it in words.
export const Bar = ({ share, kind = "" }) => html`<span class=${`bar ${kind}`} aria-hidden="true"><span style=${{ width: `${100 * Math.min(1, Math.max(0, share))}%` }}></span></span>`;
