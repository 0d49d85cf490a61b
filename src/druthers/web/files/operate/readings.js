// Readings that were unsure: marked right or wrong here, and exported as sentences for `druthers read --evaluate`.
import { html, useState } from "../html.js";
import { Alert, download, Waiting } from "../parts.js";
import { ago, listed, percent, plural } from "../words.js";
import { useAnswer } from "./follow.js";

const KEPT = "druthers-marks";  // by position only: texts stay in the journal, so that erasing a person erases them
const load = () => { try { return JSON.parse(localStorage.getItem(KEPT) || "{}"); } catch { return {}; } };
const keep = (marks) => { try { localStorage.setItem(KEPT, JSON.stringify(marks)); } catch { /* not kept */ } };

export function Readings() {
  const { answer, trouble, again } = useAnswer("/v1/operate/readings");
  const known = useAnswer("/v1/objectives");
  const [marks, note] = useState(load);
  if (!answer || !known.answer) return trouble || known.trouble ? html`<${Alert} trouble=${trouble || known.trouble} again=${() => { again(); known.again(); }} />` : html`<${Waiting} what="Looking" />`;
  const names = known.answer.map((one) => one.name);
  const mark = (position, verdict) => {
    const next = { ...marks };
    if (verdict) next[position] = verdict; else delete next[position];
    note(next);
    keep(next);
  };
  const marked = answer.readings.filter((one) => marks[one.position]);
  const save = () => download("sentences.json", JSON.stringify(marked.map((one) => ({
    query: one.text, domain: answer.domain, objectives: names,
    gold: marks[one.position].right ? one.ranking : marks[one.position].meant, low: marks[one.position].right ? one.dismissed : [], tags: ["from the service"],
  })), null, 2));
  return html`<div class="row"><p class="hint grow" role="status">${plural(answer.readings.length, "reading")} with doubts, ${marked.length} marked.</p><button class="small" disabled=${!marked.length} onClick=${save}>Export as sentences</button></div>
    ${!answer.readings.length && html`<p>Everything that was said lately was understood.</p>`}
    <ul class="list">${answer.readings.map((one) => html`<${Reading} key=${one.position} one=${one} names=${names} verdict=${marks[one.position]} mark=${(verdict) => mark(one.position, verdict)} />`)}</ul>
    <h3>Queries that do not fit</h3>
    ${answer.suspicious.length ? html`<ul class="list">${answer.suspicious.map((one) => html`<li key=${one.position}>“${one.text || listed(one.ranking)}” <span class="hint">${one.user}, ${percent(one.doubt)} not their own, ${ago(one.at)}</span></li>`)}</ul>` : html`<p class="hint">None: nobody said lately what does not fit what else they said.</p>`}`;
}

function Reading({ one, names, verdict, mark }) {
  const wrong = verdict && !verdict.right;
  const move = (name) => mark({ right: false, meant: verdict.meant.includes(name) ? verdict.meant.filter((other) => other !== name) : [...verdict.meant, name] });
  return html`<li class="reading">
    <p>“${one.text}” <span class="hint">${ago(one.at)}${one.confidence === null ? "" : `, ${percent(one.confidence)} sure`}</span></p>
    <p class="hint">Read as: ${one.ranking.length ? listed(one.ranking) : "nothing"}${one.dismissed.length ? `; set aside: ${listed(one.dismissed)}` : ""}</p>
    <div class="row tight" role="group" aria-label=${`Is “${one.text}” read right?`}>
      <button class="small" aria-pressed=${Boolean(verdict?.right)} onClick=${() => mark(verdict?.right ? null : { right: true })}>Right</button>
      <button class="small" aria-pressed=${Boolean(wrong)} onClick=${() => mark(wrong ? null : { right: false, meant: [] })}>Wrong</button>
    </div>
    ${wrong && html`<div class="row tight" role="group" aria-label="What was meant, most important first"><span class="hint">Meant, in order:</span>
      ${names.map((name) => html`<button key=${name} class="small" aria-pressed=${verdict.meant.includes(name)} onClick=${() => move(name)}>${verdict.meant.includes(name) ? `${verdict.meant.indexOf(name) + 1}. ` : ""}${name}</button>`)}</div>`}
  </li>`;
}
