// The preference card: a weight for each objective with its interval, where it comes from, and a way to correct it.
import { html, useEffect, useState } from "../html.js";
import { Confirm, download } from "../parts.js";
import { percent, plural, signed } from "../words.js";
import { correct, forget, past } from "./state.js";
import { History } from "./history.js";

export function Card({ state }) {
  const { card, busy, user, changes } = state;
  const [asked, ask] = useState(false);
  if (!card) return html`<section class="panel" aria-labelledby="card-title"><h2 id="card-title">Your preferences</h2><p class="hint">Nothing is known of you yet. Your first message puts a bar here for each objective.</p></section>`;
  const save = async () => download(`${user}.json`, JSON.stringify({ card, history: await past() }, null, 2));
  return html`<section class="panel" aria-labelledby="card-title">
    <h2 id="card-title">Your preferences</h2>
    <p class="hint">From ${plural(card.queries, "message")} and ${plural(card.feedbacks, "rating")}. Drag a weight to correct it.</p>
    <ul class="weights">${card.weights.map((one) => html`<${Weight} key=${one.objective} one=${one} card=${card} change=${changes[one.objective] || 0} busy=${Boolean(busy)} />`)}</ul>
    <p class="legend" aria-hidden="true"><span><i class="key words"></i> words</span> <span><i class="key behavior"></i> ratings</span> <span><i class="key neither"></i> what is believed of anyone</span> <span><i class="key interval"></i> 90 % interval</span></p>
    ${card.suspicious.length > 0 && html`<p class="note unsure">Doubtful: ${card.suspicious.map((one) => `“${one.text || one.ranking.join(", ")}”`).join(", ")} ${card.suspicious.length > 1 ? "do" : "does"} not fit what else you said.</p>`}
    <div class="row tight">
      <button class="small" onClick=${save}>Download</button>
      <button class="small danger quiet" disabled=${Boolean(busy)} onClick=${() => ask(true)}>Forget me</button>
    </div>
    <${History} card=${card} user=${user} />
    ${asked && html`<${Confirm} title="Forget all about you?" yes="Forget me" onNo=${() => ask(false)} onYes=${() => { ask(false); forget(); }}>
      <p>What you said and felt is erased from the journal, for good. What was learned about items stays, and is nobody's.</p>
    <//>`}
  </section>`;
}

const share = (value) => `${100 * Math.min(1, Math.max(0, value))}%`;

function Weight({ one, card, change, busy }) {
  const [held, hold] = useState(null);  // the weight under the finger, until it is let go
  const [open, show] = useState(false);
  useEffect(() => hold(null), [one.weight]);
  const shown = held ?? Math.max(0, one.weight);
  const parts = [["words", one.words ?? 0], ["behavior", one.behavior ?? 0], ["neither", 1 - (one.words ?? 0) - (one.behavior ?? 0)]];
  const told = one.words === null ? "" : `${percent(one.words)} from words, ${percent(one.behavior)} from ratings`;
  const set = (value) => correct({ weights: rescaled(card.weights, one.objective, value) }, `You set ${one.objective} to ${value.toFixed(2)}.`);
  return html`<li class="weight">
    <div class="row tight"><span class="name">${one.objective}</span>
      <button class="link small grow" aria-expanded=${open} onClick=${() => show(!open)}>Why?<span class="unseen"> What is behind ${one.objective}</span></button>
      ${Math.abs(change) >= 0.005 && html`<span class=${`change ${change > 0 ? "up" : "down"}`}>${change > 0 ? "▲" : "▼"} ${Math.abs(change).toFixed(2)}</span>`}
      <b>${signed(held ?? one.weight)}</b></div>
    <div class="track">
      <span class="fill" style=${{ width: share(shown) }} aria-hidden="true">${parts.map(([kind, part]) => part > 0.001 && html`<span key=${kind} class=${kind} style=${{ width: share(part) }}></span>`)}</span>
      ${one.low !== null && html`<span class="interval" aria-hidden="true" style=${{ left: share(one.low), width: `calc(${share(one.high)} - ${share(one.low)})` }}></span>`}
      <input type="range" min="0" max="1" step="0.01" value=${shown} disabled=${busy} aria-label=${`Weight of ${one.objective}`}
        aria-valuetext=${`${signed(shown)}${one.low === null ? "" : `, between ${signed(one.low)} and ${signed(one.high)}`}${told && `, ${told}`}`}
        onInput=${(event) => hold(Number(event.target.value))} onChange=${(event) => set(Number(event.target.value))} />
    </div>
    ${open && html`<p class="hint">${told ? `${told}, ${percent(Math.max(0, parts[2][1]))} from what is believed of anyone.` : "This policy cannot tell where it comes from."} Between ${one.low === null ? "?" : signed(one.low)} and ${one.high === null ? "?" : signed(one.high)}, 9 times out of 10.</p>
      <${History} card=${card} objective=${one.objective} opened />`}
  </li>`;
}

// One weight as it was set; the others keep their proportions and take the rest.
function rescaled(weights, objective, value) {
  const rest = weights.filter((one) => one.objective !== objective).reduce((sum, one) => sum + Math.max(0, one.weight), 0);
  const left = 1 - Math.min(value, 0.999);
  const part = (weight) => (rest > 0 ? (Math.max(0, weight) * left) / rest : left / (weights.length - 1));
  return Object.fromEntries(weights.map((one) => [one.objective, one.objective === objective ? value : part(one.weight)]));
}
