// Two items side by side; the better value of each aspect is marked.
import { html, useEffect, useRef } from "../html.js";
import { fact, number } from "../words.js";

export function Compare({ pair, objectives, close }) {
  const title = useRef(null);
  useEffect(() => { title.current?.focus(); }, [pair.map((one) => one.item.id).join()]);
  const [one, other] = pair;
  const details = [...new Set(pair.flatMap((each) => Object.keys(each.item.details)))];
  return html`<section class="compare" aria-labelledby="compare-title">
    <div class="row"><h2 id="compare-title" class="grow" tabindex="-1" ref=${title}>${one.item.name} beside ${other.item.name}</h2><button class="small quiet" onClick=${close}>Close</button></div>
    <div class="wide prose" tabindex="0" role="group" aria-label="Comparison"><table>
      <thead><tr><th scope="col">Aspect</th>${pair.map((each) => html`<th scope="col" key=${each.item.id}>${each.item.name}</th>`)}</tr></thead>
      <tbody>
        ${objectives.map((objective) => html`<${Row} key=${objective.name} objective=${objective} pair=${pair} />`)}
        ${details.map((name) => html`<tr key=${`detail ${name}`}><th scope="row">${name}</th>${pair.map((each) => html`<td key=${each.item.id}>${name in each.item.details ? fact(each.item.details[name]) : "–"}</td>`)}</tr>`)}
      </tbody>
    </table></div>
  </section>`;
}

function Row({ objective, pair }) {
  const values = pair.map((each) => each.item.values[objective.name]);
  const gap = values.includes(undefined) ? 0 : (values[0] - values[1]) * (objective.less_is_better ? -1 : 1);
  const better = [gap > 0, gap < 0];
  return html`<tr><th scope="row">${objective.name}</th>${values.map((value, place) => html`<td key=${place} class=${better[place] ? "better" : ""}>${number(value)}${better[place] && html`<span class="unseen"> better</span>`}</td>`)}</tr>`;
}
