// Talk: a conversation on the left, what is believed on the right.
import { html, useEffect, useRef, useState } from "../html.js";
import { address, go, vary } from "../address.js";
import { Alert, Waiting } from "../parts.js";
import { prompts } from "./prompts.js";
import { away, send, start, talk } from "./state.js";
import { Turn } from "./turns.js";
import { Wishes } from "./wishes.js";
import { Card } from "./card.js";
import { Compare } from "./compare.js";

const ID = "[A-Za-z0-9][A-Za-z0-9._:@+~=\\-]{0,199}";
const KNOWN = new RegExp(`^${ID}$`);

// Who nobody is yet gets a name of chance, which this browser remembers.
function someone() {
  let known = null;
  try { known = localStorage.getItem("druthers-user"); } catch { /* not kept */ }
  if (!known) {
    known = `guest-${[...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    try { localStorage.setItem("druthers-user", known); } catch { /* not kept */ }
  }
  return known;
}

export function Talk() {
  const { query } = address.use();
  const user = KNOWN.test(query.user || "") ? query.user : someone();  // who has no id that the service takes is a guest
  const state = talk.use();
  useEffect(() => { start(user); }, [user]);
  const last = state.turns.findLast((turn) => turn.slate);
  const pair = (query.compare || "").split(",").filter(Boolean);
  const compared = last ? last.slate.items.filter((one) => pair.includes(one.item.id)) : [];
  return html`<div class="talk">
    <section class="conversation" aria-label="Conversation">
      <h1>${state.turns.length ? "Your conversation" : "Say what you want, in your own words"}</h1>
      ${!state.turns.length && html`<p class="lead">You get three suggestions and the reasons. Say how they were, and watch your own preferences appear. Nothing leaves this machine.</p>`}
      <ol class="turns" aria-label="Messages">${state.turns.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} latest=${turn === last} pair=${pair} objectives=${state.objectives || []} columns=${state.columns} busy=${Boolean(state.busy)} />`)}</ol>
      ${compared.length === 2 && html`<${Compare} pair=${compared} objectives=${state.objectives || []} close=${() => vary({ compare: "" })} />`}
      <${Alert} trouble=${state.trouble} again=${state.again} away=${away} />
      ${state.busy && html`<${Waiting} what=${state.busy} />`}
      <${Say} busy=${Boolean(state.busy)} fresh=${!state.turns.length} examples=${prompts(state.objectives || [])} />
    </section>
    <aside class="beside" aria-label="What is believed of you">
      <${Who} key=${user} user=${user} />
      <${Wishes} card=${state.card} objectives=${state.objectives || []} columns=${state.columns} busy=${Boolean(state.busy)} />
      <${Card} state=${state} />
    </aside>
  </div>`;
}

function Say({ busy, fresh, examples }) {
  const [text, type] = useState("");
  const [held, hold] = useState(false);  // Enter while something else is going on: sent as soon as that is done
  const sending = useRef(false);
  const field = useRef(null);
  const submit = async (event) => {
    event?.preventDefault();
    const said = text.trim();
    if (!said || sending.current) return;
    if (busy) { hold(true); return; }
    sending.current = true;
    if (await send(said)) type("");
    sending.current = false;
    field.current?.focus();
  };
  useEffect(() => { if (held && !busy) { hold(false); submit(); } }, [held, busy]);
  return html`
    ${fresh && html`<div class="prompts" role="group" aria-label="Examples">${examples.map((one) => html`<button key=${one} class="prompt" disabled=${busy} onClick=${() => send(one)}>${one}</button>`)}</div>`}
    <form class="say" onSubmit=${submit}>
      <label class="unseen" for="said">Your message</label>
      <textarea id="said" ref=${field} rows="2" maxlength="2000" value=${text} aria-describedby="said-hint" placeholder=${`${examples[0] || "What matters to you"} …`}
        onInput=${(event) => type(event.target.value)}
        onKeyDown=${(event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event); }}></textarea>
      <button class="primary" disabled=${busy || !text.trim()}>Send</button>
    </form>
    <p class="hint" id="said-hint">Also: “2 was great”, “not the first one”, “why”, “compare 1 and 3”, “something else”, “forget that”.</p>`;
}

function Who({ user }) {
  const [open, show] = useState(false);
  const [name, type] = useState(user);
  const change = (event) => {
    event.preventDefault();
    if (event.target.checkValidity() && name) { go("/", { user: name }); show(false); }
  };
  if (!open) return html`<p class="who">You are <b>${user}</b> <button class="link" onClick=${() => show(true)}>Be somebody else</button></p>`;
  return html`<form class="who row" onSubmit=${change}>
    <label class="grow">Be <input value=${name} pattern=${ID} required maxlength="200" onInput=${(event) => type(event.target.value)} title="Letters, figures and ._:@+~=-" /></label>
    <button class="small">Change</button><button type="button" class="small quiet" onClick=${() => show(false)}>Stay</button>
  </form>`;
}
