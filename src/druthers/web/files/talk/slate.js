// What is recommended: each item with its aspects among all that was on offer, why, and how it was.
import { html, useState } from "../html.js";
import { vary } from "../address.js";
import { Bar } from "../parts.js";
import { fact, listed, number, ordinal } from "../words.js";
import { answer, next, pick, rate, send, skip } from "./state.js";

export function Slate({ slate, turn, pair, objectives, busy }) {
  const told = slate.items.some((one) => one.utility !== null || Object.keys(one.rewards).length);
  return html`<div class="slate">
    <ol class="items" aria-label="Recommendations">${slate.items.map((one, place) => html`<${Suggestion} key=${one.item.id} one=${one} place=${place + 1} decision=${slate.id} picked=${slate.items.length > 1 ? slate.picked : null} pair=${pair} objectives=${objectives} busy=${busy} />`)}</ol>
    ${slate.question && html`<${Question} question=${slate.question} decision=${slate.id} busy=${busy} />`}
    <div class="row">
      <button class="primary" disabled=${busy} onClick=${next}>Next round</button>
      ${!told && html`<button disabled=${busy} onClick=${() => skip(turn)}>Skip rating</button>`}
      <button disabled=${busy} onClick=${() => send("something else")}>Something else</button>
      ${slate.picked === undefined && html`<button disabled=${busy} onClick=${() => pick(slate.id, null)}>None of these</button>`}
    </div>
  </div>`;
}

// What is worth asking back: an answer is a tap.
function Question({ question, decision, busy }) {
  return html`<div class="row question" role="group" aria-label=${question.text}>
    <b aria-hidden="true">${question.text}</b>
    ${question.choices.map((choice, place) => html`<button key=${choice} class="small" disabled=${busy} onClick=${() => answer(decision, question, place)}>${question.names[place]}</button>`)}
  </div>`;
}

function Suggestion({ one, place, decision, picked, pair, objectives, busy }) {
  const { item, facts, why, explored } = one;
  const details = Object.entries(item.details).map(([name, value]) => `${name} ${fact(value)}`);
  const [reason, given] = why.why.split(" A trade-off: ");
  const unknown = facts.filter((each) => each.value === null).map((each) => each.objective);
  return html`<li class="item" aria-labelledby=${`item-${place}`}>
    <h2 id=${`item-${place}`}><span class="place" aria-hidden="true">${place}</span> ${item.name || item.id}</h2>
    ${details.length > 0 && html`<p class="details">${details.join(" · ")}</p>`}
    ${item.description && html`<p class="description">${item.description}</p>`}
    <ul class="aspects" aria-label="Aspects">${facts.map((each) => html`<${Aspect} key=${each.objective} each=${each} />`)}</ul>
    <p class="why"><b>Why:</b> ${reason}</p>
    ${given && html`<p class="note"><b>Trade-off:</b> ${given}</p>`}
    ${unknown.length > 0 && html`<p class="note unsure"><b>Unsure:</b> ${listed(unknown)} ${unknown.length > 1 ? "are" : "is"} not known of it.</p>`}
    ${explored && html`<p class="note explored"><b>Exploration:</b> chance put it here, to learn from what you say of it.</p>`}
    <${Rate} one=${one} decision=${decision} objectives=${objectives} busy=${busy} />
    <div class="row tight">
      ${picked === undefined && html`<button class="small" disabled=${busy} onClick=${() => pick(decision, item.id)} aria-label=${`Take ${item.name || item.id}`}>I take it</button>`}
      ${picked === item.id && html`<b class="taken">✓ Taken</b>`}
      <${Pick} id=${item.id} name=${item.name} pair=${pair} />
      <button class="small quiet" disabled=${busy} onClick=${() => send(`more like ${place}`)}>More like this</button>
      <button class="small quiet" disabled=${busy} onClick=${() => send(`not ${place}`)}>Not for me</button>
    </div>
  </li>`;
}

function Aspect({ each }) {
  const known = each.value !== null;
  const among = !known ? "not known" : each.of === 1 ? "none to compare" : `${ordinal(each.place)} of ${each.of}`;
  const asked = { wished: " (you asked for it)", guessed: " (a guess of what you want)" }[each.role];
  return html`<li class=${asked ? "wished" : ""}>
    <span class="name">${each.objective}${asked && html`<span class="unseen">${asked}</span>`}</span>
    <${Bar} share=${each.better_than ?? 0} kind=${known ? "" : "blank"} />
    <span class="figure">${known ? number(each.value) : "–"} <span class="among">${among}</span></span>
  </li>`;
}

const OVERALL = [[-1, "Awful", "−−"], [-0.5, "Bad", "−"], [0, "Fair", "○"], [0.5, "Good", "+"], [1, "Great", "++"]];
const ASPECT = [["bad", "Bad", "−"], ["fair", "Fair", "○"], ["good", "Good", "+"]];

// One tap for the whole, one for each aspect. What was told of an aspect stays; the whole can be revised.
function Rate({ one, decision, objectives, busy }) {
  const [open, show] = useState(false);
  const name = one.item.name || one.item.id;
  return html`<div class="rate">
    <div class="row tight" role="group" aria-label=${`How was ${name}?`}>
      <span class="ask" aria-hidden="true">How was it?</span>
      ${OVERALL.map(([utility, word, face]) => html`<button key=${word} class="face" disabled=${busy} aria-pressed=${one.utility === utility} aria-label=${word} title=${word} onClick=${() => rate(decision, one.item.id, { utility })}>${face}</button>`)}
      <button class="link" aria-expanded=${open} onClick=${() => show(!open)}>By aspect</button>
    </div>
    ${open && html`<ul class="grades">${objectives.map((objective) => html`<${Grade} key=${objective.name} objective=${objective} told=${one.rewards[objective.name]} name=${name} busy=${busy}
      tell=${(grade) => rate(decision, one.item.id, { rewards: { [objective.name]: objective[grade] } })} />`)}</ul>`}
  </div>`;
}

function Grade({ objective, told, name, busy, tell }) {
  return html`<li><span>${objective.name}</span><span class="row tight" role="group" aria-label=${`${objective.name} of ${name}`}>
    ${ASPECT.map(([grade, word, sign]) => html`<button key=${grade} class="grade" aria-pressed=${told !== undefined && Math.abs(told - objective[grade]) < 1e-9}
      disabled=${busy || told !== undefined} aria-label=${word} title=${word} onClick=${() => tell(grade)}>${sign}</button>`)}
    ${told !== undefined && html`<span class="hint">noted</span>`}
  </span></li>`;
}

// Two items of a slate can be compared; the pair stands in the address, so the back button closes the comparison.
function Pick({ id, name, pair }) {
  const picked = pair.includes(id);
  const change = () => {
    const others = pair.filter((one) => one !== id);
    vary({ compare: (picked ? others : [...others.slice(-1), id]).join(",") });
  };
  return html`<button class="small" aria-pressed=${picked} onClick=${change} aria-label=${`Compare ${name}`}>${picked ? "✓ Comparing" : "Compare"}</button>`;
}

