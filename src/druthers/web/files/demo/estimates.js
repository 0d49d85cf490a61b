// Estimate, interval and truth of each objective, after some round.
import { html } from "../html.js";
import { number } from "../words.js";

export function Estimates({ played, round }) {
  const means = played.estimates[round];
  const spreads = played.spreads[round].map((one) => one ?? 0);
  const top = 1.1 * Math.max(...played.truth, ...played.estimates.at(-1), 1);
  const at = (value) => `${100 * Math.min(1, Math.max(0, value / top))}%`;
  return html`<ul class="estimates">${played.objectives.map((name, k) => html`<li key=${name}>
      <span class="name">${name}</span>
      <span class="track" aria-hidden="true">
        <span class="fill" style=${{ width: at(means[k]) }}><span class="words" style=${{ width: "100%" }}></span></span>
        <span class="interval" style=${{ left: at(means[k] - spreads[k]), width: `calc(${at(means[k] + spreads[k])} - ${at(means[k] - spreads[k])})` }}></span>
        <span class="truth" style=${{ left: at(played.truth[k]) }}></span>
      </span>
      <span class="figure">${number(means[k], 2)} <span class="among">true ${number(played.truth[k], 2)}</span></span>
    </li>`)}</ul>
    <p class="legend" aria-hidden="true"><span><i class="key words"></i> estimate</span> <span><i class="key interval"></i> 90 % interval</span> <span><i class="key truth"></i> truth</span></p>`;
}
