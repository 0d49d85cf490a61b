// Items as they are known: sortable, searchable.
import { html, useState } from "../html.js";
import { address, vary } from "../address.js";
import { Alert, Waiting } from "../parts.js";
import { number, percent } from "../words.js";
import { useAnswer } from "./follow.js";

const SHOWN = 200;

export function Items() {
  const { query } = address.use();
  const { answer, trouble, again } = useAnswer("/v1/operate/items");
  const [sought, seek] = useState(query.find || "");
  const [by, down] = [query.by || "share", query.up !== "1"];
  if (!answer) return trouble ? html`<${Alert} trouble=${trouble} again=${again} />` : html`<${Waiting} what="Counting" />`;
  const objectives = [...new Set(answer.flatMap((one) => Object.keys(one.values)))];
  const columns = [["name", "Item", (one) => one.name.toLowerCase()], ["share", "Share of decisions", (one) => one.share], ["reports", "Reports", (one) => one.reports],
    ...objectives.map((name) => [`= ${name}`, name, (one) => one.values[name]?.mean ?? -Infinity])];
  const value = (columns.find(([id]) => id === by) || columns[1])[2];
  const words = sought.toLowerCase();
  const rows = answer.filter((one) => one.name.toLowerCase().includes(words) || one.id.toLowerCase().includes(words))
    .sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1));
  const sort = (id) => vary({ by: id, up: id === by && down ? "1" : "" }, { replace: true });
  return html`<div class="row"><label class="grow">Find <input type="search" value=${sought} onInput=${(event) => { seek(event.target.value); vary({ find: event.target.value }, { replace: true }); }} /></label><button class="small" onClick=${again}>Look again</button></div>
    <p class="hint" role="status">${rows.length} of ${answer.length} items listed${rows.length > SHOWN ? `, the first ${SHOWN} shown` : ""}. Means with 90 % intervals, in their own units; shares of the latest 5,000 decisions.</p>
    <div class="wide" tabindex="0" role="group" aria-label="Items"><table>
      <thead><tr>${columns.map(([id, title]) => html`<th key=${id} scope="col" aria-sort=${id === by ? (down ? "descending" : "ascending") : "none"}><button class="link" onClick=${() => sort(id)}>${title}${id === by ? (down ? " ↓" : " ↑") : ""}</button></th>`)}</tr></thead>
      <tbody>${rows.slice(0, SHOWN).map((one) => html`<tr key=${one.id}><th scope="row" class="named">${one.name}<br /><small class="among">${one.id}</small></th><td>${percent(one.share)} <small class="among">${one.shown}</small></td><td>${number(one.reports)}</td>
        ${objectives.map((name) => html`<td key=${name}><${Mean} figures=${one.values[name]} /></td>`)}</tr>`)}</tbody>
    </table></div>`;
}

const Mean = ({ figures }) => (figures ? html`${number(figures.mean, 3)}${figures.low !== null && html`<br /><small class="among">${number(figures.low, 3)} – ${number(figures.high, 3)}</small>`}` : "–");
