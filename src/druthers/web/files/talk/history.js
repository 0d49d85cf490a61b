// What was said and felt, the latest first: all of it, or what is behind one weight.
import { html, useEffect, useState } from "../html.js";
import { ago, grade, limit, listed, number } from "../words.js";
import { past } from "./state.js";

const about = (entry, objective) => entry.kind === "felt" || entry.kind === "picked" || entry.ranking.includes(objective) || entry.dismissed.includes(objective) || objective in (entry.limits || {});

export function History({ card, objective, opened }) {
  const [open, show] = useState(Boolean(opened));
  const [entries, fill] = useState(null);
  const [trouble, tell] = useState("");
  useEffect(() => {
    if (!open) return undefined;
    let current = true;
    past().then((found) => current && (fill(found), tell("")), (problem) => current && tell(problem.message));
    return () => { current = false; };
  }, [open, card]);
  const shown = (entries || []).filter((entry) => !objective || about(entry, objective)).slice(0, objective ? 8 : 100);
  const list = html`${trouble && html`<p class="hint" role="alert">${trouble}</p>`}
    ${entries && !shown.length && html`<p class="hint">Neither words nor ratings speak of it: it is what is believed of anyone.</p>`}
    <ul class="history" aria-label=${objective ? `Behind ${objective}` : "History"}>${shown.map((entry) => html`<${Entry} key=${entry.position} entry=${entry} objective=${objective} />`)}</ul>`;
  if (opened) return list;
  return html`<div><button class="link" aria-expanded=${open} onClick=${() => show(!open)}>History</button>${open && list}</div>`;
}

function Entry({ entry, objective }) {
  return html`<li class=${entry.counts ? "" : "gone"}>
    ${entry.kind === "picked" ? html`<span>Picked ${entry.item === null ? "none of those shown" : `${entry.name || entry.item} before the others`}</span>` : entry.kind === "felt" ? html`<${Felt} entry=${entry} objective=${objective} />` : html`<${Spoken} entry=${entry} />`}
    <span class="when">${ago(entry.at)}${entry.counts ? "" : ", no longer counts"}</span>
  </li>`;
}

function Spoken({ entry }) {
  const understood = [
    entry.ranking.length ? `wants ${listed(entry.ranking)}` : "",
    entry.dismissed.length ? `sets aside ${listed(entry.dismissed)}` : "",
    ...Object.entries(entry.limits || {}).map(([name, bound]) => `${name} ${limit(bound)}`),
    entry.dropped.length ? `no limit on ${listed(entry.dropped)}` : "",
  ].filter(Boolean).join("; ");
  const said = entry.text !== null ? `“${entry.text}”` : entry.kind === "corrected" ? "Corrected by hand" : "Picked by hand";
  return html`<span>${said} <span class="hint">→ ${understood || "nothing understood"}</span></span>`;
}

function Felt({ entry, objective }) {
  const rewards = Object.entries(entry.rewards || {}).filter(([name]) => !objective || name === objective);
  const parts = [entry.utility === null ? "" : grade(entry.utility), ...rewards.map(([name, value]) => `${name} ${number(value)}`)].filter(Boolean);
  return html`<span>${entry.name || entry.item} was ${parts.join(", ") || "rated in other aspects"}</span>`;
}
