// One turn: what was said with the words that counted marked, the answer, and what is recommended.
import { html } from "../html.js";
import { percent, plural } from "../words.js";
import { Slate } from "./slate.js";

// The words behind a reading, in their order and without overlap. Places count characters, where a text here counts an emoji as two.
function pieces(text, heard) {
  const signs = [...text];
  const cut = (from, to) => signs.slice(from, to).join("");
  const spans = [
    ...(heard?.reading?.evidence || []).map((one) => ({ ...one, kind: one.role === "wanted" ? "wanted" : one.role, what: one.objective })),
    ...(heard?.limits || []).map((one) => ({ ...one, kind: "limit", what: one.name })),
  ].filter((one) => one.end > one.start && one.end <= signs.length).sort((a, b) => a.start - b.start || b.end - a.end);
  const parts = [];
  let at = 0;
  for (const span of spans) {
    if (span.start < at) continue;
    parts.push(cut(at, span.start), { ...span, words: cut(span.start, span.end) });
    at = span.end;
  }
  return [...parts, cut(at)];
}

const UNSURE = 0.6;

function Mark({ span }) {
  const doubt = span.confidence !== undefined && span.confidence < UNSURE;
  const said = span.kind === "limit" ? `limit on ${span.what}` : span.kind === "dismissed" ? `${span.what} set aside` : span.what;
  return html`<mark class=${`${span.kind} ${doubt ? "unsure" : ""}`} title=${span.why || said}>${span.words}<span class="read"> ${said}${doubt ? `, unsure (${percent(span.confidence)})` : ""}</span></mark>`;
}

function Said({ turn }) {
  const parts = pieces(turn.text, turn.heard);
  const lost = turn.heard?.not_understood || [];
  return html`<div class="said">
    <p><span class="unseen">You: </span>${parts.map((part, place) => (typeof part === "string" ? part : html`<${Mark} key=${place} span=${part} />`))}</p>
    ${lost.length > 0 && html`<p class="hint">Not understood: ${lost.map((one) => `“${one}”`).join(", ")}. Say it in other words, or set a limit.</p>`}
  </div>`;
}

export function Turn({ turn, latest, pair, objectives, busy }) {
  return html`<li class=${`turn ${latest ? "latest" : ""}`}>
    ${turn.text !== null && html`<${Said} turn=${turn} />`}
    ${turn.answer && html`<p class="answer"><span class="unseen">druthers: </span>${turn.answer}</p>`}
    ${turn.slate && (latest
      ? html`<${Slate} slate=${turn.slate} turn=${turn.id} pair=${pair} objectives=${objectives} busy=${busy} />`
      : html`<p class="earlier">${plural(turn.slate.items.length, "suggestion")}: ${turn.slate.items.map((one) => one.item.name).join(", ")}${turn.skipped ? " (skipped)" : ""}</p>`)}
  </li>`;
}
