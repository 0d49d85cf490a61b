// Readings that were unsure: marked right or wrong here, and exported as sentences for `druthers read --evaluate`.
import { html, useState } from "../html.js";
import { get, put, remove } from "../api.js";
import { Alert, download, Waiting } from "../parts.js";
import { ago, listed, percent, plural } from "../words.js";
import { useAnswer } from "./follow.js";

export function Readings() {
  const { answer, trouble, again } = useAnswer("/v1/operate/readings");
  const known = useAnswer("/v1/objectives");
  const [changed, note] = useState({});  // since the answer came, by position
  const [problem, tell] = useState(null);
  if (!answer || !known.answer) return trouble || known.trouble ? html`<${Alert} trouble=${trouble || known.trouble} again=${() => { again(); known.again(); }} />` : html`<${Waiting} what="Looking" />`;
  const names = known.answer.map((one) => one.name);
  const markOf = (one) => (one.position in changed ? changed[one.position] : one.mark);
  const mark = async (position, verdict) => {
    try {
      const path = `/v1/operate/readings/${position}`;
      await (verdict ? put(path, verdict) : remove(path));
      note((before) => ({ ...before, [position]: verdict }));
      tell(null);
    } catch (found) { tell(found); }
  };
  const marked = answer.readings.filter(markOf);
  const save = async () => {
    try { download("sentences.json", JSON.stringify(await get("/v1/operate/sentences"), null, 2)); } catch (found) { tell(found); }
  };
  return html`<div class="row"><p class="hint grow" role="status">${plural(answer.readings.length, "reading")} with doubts, ${marked.length} marked.</p><button class="small" disabled=${!marked.length} onClick=${save}>Export as sentences</button></div>
    <${Alert} trouble=${problem} away=${() => tell(null)} />
    ${!answer.readings.length && html`<p>No reading of what was said lately is in doubt.</p>`}
    <ul class="list">${answer.readings.map((one) => html`<${Reading} key=${one.position} one=${one} names=${names} verdict=${markOf(one)} mark=${(verdict) => mark(one.position, verdict)} />`)}</ul>
    <h3>Queries that do not fit</h3>
    ${answer.suspicious.length ? html`<ul class="list">${answer.suspicious.map((one) => html`<li key=${one.position}>“${one.text || listed(one.ranking)}” <span class="hint">${one.user}, ${percent(one.doubt)} not their own, ${ago(one.at)}</span></li>`)}</ul>` : html`<p class="hint">None: nobody said lately what does not fit what else they said.</p>`}`;
}

function Reading({ one, names, verdict, mark }) {
  const wrong = verdict && !verdict.right;
  const meant = verdict?.ranking || [];
  const move = (name) => mark({ right: false, ranking: meant.includes(name) ? meant.filter((other) => other !== name) : [...meant, name] });
  return html`<li class="reading">
    <p>“${one.text}” <span class="hint">${ago(one.at)}${one.confidence === null ? "" : `, ${percent(one.confidence)} sure`}</span></p>
    <p class="hint">Read as: ${one.ranking.length ? listed(one.ranking) : "nothing"}${one.dismissed.length ? `; set aside: ${listed(one.dismissed)}` : ""}</p>
    <div class="row tight" role="group" aria-label=${`Is “${one.text}” read right?`}>
      <button class="small" aria-pressed=${Boolean(verdict?.right)} onClick=${() => mark(verdict?.right ? null : { right: true })}>Right</button>
      <button class="small" aria-pressed=${Boolean(wrong)} onClick=${() => mark(wrong ? null : { right: false, ranking: [] })}>Wrong</button>
    </div>
    ${wrong && html`<div class="row tight" role="group" aria-label="What was meant, most important first"><span class="hint">Meant, in order:</span>
      ${names.map((name) => html`<button key=${name} class="small" aria-pressed=${meant.includes(name)} onClick=${() => move(name)}>${meant.includes(name) ? `${meant.indexOf(name) + 1}. ` : ""}${name}</button>`)}</div>`}
  </li>`;
}
