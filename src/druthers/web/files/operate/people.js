// People: found by their id, with what is believed of each; erasing; and where all preferences lie.
import { html, useState } from "../html.js";
import { address, vary } from "../address.js";
import { remove, segment } from "../api.js";
import { Alert, Bar, Confirm, Waiting } from "../parts.js";
import { say } from "../store.js";
import { percent, plural, signed } from "../words.js";
import { useAnswer } from "./follow.js";

export function People() {
  const { query } = address.use();
  const [sought, seek] = useState(query.find || "");
  const found = useAnswer(`/v1/operate/users?limit=100&contains=${segment(sought)}`);
  const [leaving, part] = useState(null);
  const [trouble, tell] = useState(null);
  const erase = async (user) => {
    part(null);
    try {
      await remove(`/v1/users/${segment(user)}`);
      say(`${user} is erased.`);
      vary({ who: "" }, { replace: true });
      tell(null);
      found.again();
    } catch (problem) { tell(problem); }
  };
  return html`
    <label class="find">Find <input type="search" value=${sought} placeholder="a part of an id" onInput=${(event) => seek(event.target.value)} /></label>
    <${Alert} trouble=${trouble || found.trouble} again=${found.again} away=${() => tell(null)} />
    <div class="two">
      <div>
        ${!found.answer && !found.trouble && html`<${Waiting} what="Looking" />`}
        ${found.answer && html`<p class="hint" role="status">${plural(found.answer.length, "person").replace("persons", "people")} in memory, the latest heard of first. Who is not in memory has a card all the same: ask for the whole id.</p>
        <ul class="list people">
          ${sought && !found.answer.some((one) => one.user === sought) && html`<li><button class="link" onClick=${() => vary({ who: sought })}>Look for exactly “${sought}”</button></li>`}
          ${found.answer.map((one) => html`<li key=${one.user}><button class="link" aria-pressed=${query.who === one.user} onClick=${() => vary({ who: one.user })}>${one.user}</button> <span class="hint">${plural(one.queries, "message")}, ${plural(one.feedbacks, "rating")}</span></li>`)}
        </ul>`}
      </div>
      <div>${query.who ? html`<${Person} key=${query.who} user=${query.who} erase=${() => part(query.who)} />` : html`<${Map} />`}</div>
    </div>
    ${leaving && html`<${Confirm} title=${`Erase ${leaving}?`} yes="Erase" onNo=${() => part(null)} onYes=${() => erase(leaving)}><p>All events of this person are scrubbed from the journal, for good; what was learned about items stays.</p><//>`}`;
}

function Person({ user, erase }) {
  const { answer, trouble, again } = useAnswer(`/v1/users/${segment(user)}`);
  if (trouble) return html`<${Alert} trouble=${trouble} again=${again} away=${() => vary({ who: "" })} />`;
  if (!answer) return html`<${Waiting} what="Looking" />`;
  return html`<section aria-labelledby="person"><h3 id="person">${user}</h3>
    <p class="hint">${plural(answer.queries, "message")}, ${plural(answer.feedbacks, "rating")}.</p>
    <ul class="aspects">${answer.weights.map((one) => html`<li key=${one.objective} class="wished"><span class="name">${one.objective}</span><${Bar} share=${one.weight} /><span class="figure">${signed(one.weight)} <span class="among">${one.low === null ? "" : `${signed(one.low)} to ${signed(one.high)}`}</span></span></li>`)}</ul>
    ${answer.suspicious.map((one) => html`<p key=${one.position} class="note unsure">Doubtful, ${percent(one.doubt)}: ${one.text || one.ranking.join(", ")}</p>`)}
    <div class="row tight"><a class="button small" href=${`/?user=${segment(user)}`}>Open in Talk</a><button class="small danger quiet" onClick=${erase}>Erase</button><button class="small quiet" onClick=${() => vary({ who: "" })}>Back to the map</button></div>
  </section>`;
}

const MARKS = ["--words", "--behavior", "--bad"];

// The outline of some points: those that no line between others passes on the outside.
function outline(points) {
  if (points.length < 3) return points;
  const sorted = [...points].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const turn = (from, by, to) => (by[0] - from[0]) * (to[1] - from[1]) - (by[1] - from[1]) * (to[0] - from[0]);
  const side = (all) => {
    const kept = [];
    for (const one of all) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), one) <= 0) kept.pop();
      kept.push(one);
    }
    return kept.slice(0, -1);
  };
  return [...side(sorted), ...side(sorted.reverse())];
}

// Everybody as a dot, on the two axes along which preferences differ most; those who are alike in one patch.
function Map() {
  const { answer, trouble, again } = useAnswer("/v1/operate/map");
  if (trouble) return html`<${Alert} trouble=${trouble} again=${again} />`;
  if (!answer) return html`<${Waiting} what="Drawing the map" />`;
  if (!answer.points.length) return html`<p class="hint">A map of preferences needs two people who said or felt something.</p>`;
  const wide = Math.max(...answer.points.flatMap((one) => [Math.abs(one.x), Math.abs(one.y)]), 1e-9);
  const place = (one) => [100 + (84 * one.x) / wide, 100 - (84 * one.y) / wide];
  const [across, up] = answer.axes;
  const patch = (cluster) => `M${outline(answer.points.filter((one) => one.cluster === cluster).map(place)).map((one) => one.join(",")).join("L")}Z`;
  const about = `${answer.points.length} people in ${answer.clusters.length} clusters; to the right more ${across.more}, to the left more ${across.less}${up ? `, above more ${up.more}, below more ${up.less}` : ""}.`;
  return html`<section aria-labelledby="map-title"><h3 id="map-title">Map of preferences</h3>
    <svg class="map" viewBox="0 0 200 200" role="img" aria-label=${about}>
      <line x1="0" x2="200" y1="100" y2="100" /><line x1="100" x2="100" y1="0" y2="200" />
      ${answer.clusters.map((_, cluster) => html`<path key=${cluster} d=${patch(cluster)} style=${{ fill: `var(${MARKS[cluster]})`, stroke: `var(${MARKS[cluster]})` }} />`)}
      ${answer.points.map((one) => html`<circle key=${one.user} class="dot" cx=${place(one)[0]} cy=${place(one)[1]} r="3" style=${{ fill: `var(${MARKS[one.cluster]})` }} onClick=${() => vary({ who: one.user })}><title>${one.user}</title></circle>`)}
      <text x="197" y="97" text-anchor="end">${across.more} →</text><text x="3" y="97">← ${across.less}</text>
      ${up && html`<text x="103" y="9">↑ ${up.more}</text><text x="103" y="196">↓ ${up.less}</text>`}
    </svg>
    <p class="hint">Each dot is a person; the further to a side, the more that side's objective counts for them. Touch one to see who it is.</p>
    <ul class="list">${answer.clusters.map((one, cluster) => html`<li key=${cluster}><i class="key round" style=${{ background: `var(${MARKS[cluster]})` }}></i> ${plural(one.users, "person").replace("persons", "people")}: ${Object.entries(one.weights).sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name, weight]) => `${name} ${weight.toFixed(2)}`).join(", ")}</li>`)}</ul>
  </section>`;
}
