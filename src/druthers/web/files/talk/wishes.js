// How it was read: objectives in order and limits, as chips that can be dragged, moved by keys, removed and added.
import { html, useRef, useState } from "../html.js";
import { say } from "../store.js";
import { fact, limit, number, ordinal } from "../words.js";
import { correct } from "./state.js";

export function Wishes({ card, objectives, columns, busy }) {
  const wished = card?.wished || [];
  const limits = Object.entries(card?.limits || {});
  const hopes = Object.entries(card?.hopes || {});
  const dismissed = card?.dismissed || [];
  const left = objectives.map((one) => one.name).filter((name) => !wished.includes(name));
  const order = (ranking, told) => correct({ ranking, dismissed: dismissed.filter((name) => !ranking.includes(name)) }, told);
  const within = (where, told) => correct({ ranking: wished, dismissed, where }, told);
  const unlimit = (name) => within(Object.fromEntries(limits.filter(([other]) => other !== name)), `No limit on ${name} any more.`);
  const unhope = (name) => correct({ ranking: wished, dismissed, hopes: Object.fromEntries(hopes.filter(([other]) => other !== name)) }, `${name} is not hoped for any more.`);
  return html`<section class="panel" aria-labelledby="wishes-title">
    <h2 id="wishes-title">What I go by</h2>
    ${!wished.length && !limits.length && !hopes.length && html`<p class="hint">Nothing yet: say what matters to you, or add it here.</p>`}
    ${wished.length > 0 && html`<${Ranking} wished=${wished} order=${order} busy=${busy} />`}
    ${(limits.length > 0 || hopes.length > 0 || dismissed.length > 0) && html`<ul class="chips" aria-label="Limits">
      ${limits.map(([name, bound]) => html`<li key=${name} class="chip limit"><span>${name} ${limit(bound)}</span><button disabled=${busy} aria-label=${`Remove the limit on ${name}`} onClick=${() => unlimit(name)}>×</button></li>`)}
      ${hopes.map(([name, bound]) => html`<li key=${`if ${name}`} class="chip hope"><span>${name} ${limit(bound)}, if possible</span><button disabled=${busy} aria-label=${`${name} is not hoped for`} onClick=${() => unhope(name)}>×</button></li>`)}
      ${dismissed.map((name) => html`<li key=${`not ${name}`} class="chip dismissed"><span>${name} does not matter</span><button disabled=${busy} aria-label=${`${name} matters after all`} onClick=${() => correct({ ranking: wished, dismissed: dismissed.filter((other) => other !== name) }, `${name} counts again.`)}>×</button></li>`)}
    </ul>`}
    ${left.length > 0 && html`<label class="add">Add <select disabled=${busy} value="" onChange=${(event) => { const name = event.target.value; event.target.value = ""; if (name) order([...wished, name], `Added: ${name}.`); }}>
      <option value="">an objective …</option>${left.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select></label>`}
    ${card && columns.length > 0 && html`<${AddLimit} columns=${columns} busy=${busy} add=${(name, bound) => within({ ...card.limits, [name]: bound }, `Only ${name} ${limit(bound)}.`)} />`}
  </section>`;
}

// A limit by hand: a bound of a number, or one of the facts there are.
function AddLimit({ columns, busy, add }) {
  const [name, choose] = useState("");
  const [side, turn] = useState("max");
  const [value, type] = useState("");
  const column = columns.find((one) => one.name === name);
  const numeric = column && !column.values;
  const set = (event) => {
    event.preventDefault();
    add(name, numeric ? { [side]: Number(value) } : column.values[Number(value)]);
    choose("");
  };
  return html`<form class="add" onSubmit=${set}>
    <label>Limit <select disabled=${busy} value=${name} onChange=${(event) => { choose(event.target.value); type(""); }}>
      <option value="">something …</option>${columns.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}
    </select></label>
    ${numeric && html`<select aria-label="At most or at least" value=${side} onChange=${(event) => turn(event.target.value)}><option value="max">at most</option><option value="min">at least</option></select>
      <input type="number" step="any" required aria-label=${`Bound on ${name}`} placeholder=${`${number(column.low)} – ${number(column.high)}`} value=${value} onInput=${(event) => type(event.target.value)} />`}
    ${column && !numeric && html`<select required aria-label=${`What ${name} must be`} value=${value} onChange=${(event) => type(event.target.value)}><option value="">only …</option>${column.values.map((one, place) => html`<option key=${place} value=${place}>${fact(one)}</option>`)}</select>`}
    ${column && html`<button class="small" disabled=${busy || value === ""}>Add</button>`}
  </form>`;
}

const moved = (names, from, to) => {
  const rest = names.filter((_, place) => place !== from);
  return [...rest.slice(0, to), names[from], ...rest.slice(to)];
};

function Ranking({ wished, order, busy }) {
  const [drag, pull] = useState(null);  // { from, to } while a chip is being dragged
  const list = useRef(null);
  const shown = drag ? moved(wished, drag.from, drag.to) : wished;
  const put = (from, to) => {
    if (busy || to < 0 || to >= wished.length || to === from) return;
    const names = moved(wished, from, to);
    say(`${wished[from]} is now ${ordinal(to + 1)} of ${names.length}.`);
    order(names, `In this order: ${names.join(", ")}.`);
  };
  const under = (event) => {
    const chips = [...list.current.children].map((chip) => chip.getBoundingClientRect());
    const place = chips.findIndex((box) => event.clientY < box.bottom && event.clientX < box.right && event.clientY >= box.top);
    return place >= 0 ? place : event.clientY < chips[0].top ? 0 : chips.length - 1;
  };
  const grab = (event, from) => {
    if (busy || event.button || event.target.closest("button.remove")) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    pull({ from, to: from });
  };
  const drop = () => {
    if (drag) put(drag.from, drag.to);
    pull(null);
  };
  const keys = (event, place) => {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); put(place, place + step); }
    if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); take(place); }
  };
  const take = (place) => !busy && order(wished.filter((_, other) => other !== place), `Without ${wished[place]}.`);
  return html`<p class="unseen" id="ranking-hint">Arrow keys move an objective, Delete removes it.</p>
    <ol class="chips ranking" ref=${list} aria-label="Objectives, most important first">
      ${shown.map((name, place) => html`<li key=${name} class=${`chip wish ${drag && place === drag.to ? "dragged" : ""}`}
          onPointerDown=${(event) => grab(event, place)} onPointerMove=${(event) => drag && pull({ ...drag, to: under(event) })} onPointerUp=${drop} onPointerCancel=${() => pull(null)}>
        <button class="grip" aria-describedby="ranking-hint" aria-label=${`${name}, ${ordinal(place + 1)} of ${shown.length}`} onKeyDown=${(event) => keys(event, place)}><span aria-hidden="true">⠿</span> ${place + 1}. ${name}</button>
        <button class="remove" disabled=${busy} aria-label=${`Remove ${name}`} onClick=${() => take(place)}>×</button>
      </li>`)}
    </ol>`;
}
