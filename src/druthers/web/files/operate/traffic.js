// Traffic and latency, from the figures that Prometheus gets.
import { html, useEffect, useMemo, useState } from "../html.js";
import { Chart } from "../chart.js";
import { Alert, Waiting } from "../parts.js";
import { number } from "../words.js";
import { useAnswer } from "./follow.js";

// Lines of the text format: name{label="value",...} number.
export function samples(text) {
  return text.split("\n").filter((line) => line && line[0] !== "#").map((line) => {
    const [, name, labels = "", value] = line.match(/^(\w+)(?:\{(.*)\})? (\S+)/) || [];
    return { name, labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((one) => [one[1], one[2]])), value: Number(value) };
  });
}

export const total = (found, name, labels = {}) => found.filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value)).reduce((sum, one) => sum + one.value, 0);

// The time within which a share of the requests was answered, from buckets that count up; null where there were none.
function within(buckets, share) {
  const sorted = [...buckets].sort((a, b) => a[0] - b[0]);
  const all = sorted.at(-1)?.[1] || 0;
  return all ? sorted.find(([, count]) => count >= share * all)[0] : null;
}

const api = (one) => one.labels.route?.startsWith("/v1") || one.labels.route?.startsWith("/personalizer");

function routes(found) {
  const rows = {};
  for (const one of found.filter((each) => each.name?.startsWith("druthers_request_seconds") && api(each))) {
    const row = (rows[`${one.labels.method} ${one.labels.route}`] ??= { count: 0, failed: 0, buckets: {} });
    if (one.name.endsWith("_count")) {
      row.count += one.value;
      if (one.labels.status !== "2xx") row.failed += one.value;
    }
    if (one.name.endsWith("_bucket")) {
      const edge = one.labels.le === "+Inf" ? Infinity : Number(one.labels.le);
      row.buckets[edge] = (row.buckets[edge] || 0) + one.value;
    }
  }
  return Object.entries(rows).map(([name, row]) => {
    const buckets = Object.entries(row.buckets).map(([edge, count]) => [Number(edge), count]);
    return { name, ...row, half: within(buckets, 0.5), most: within(buckets, 0.99) };
  }).sort((a, b) => b.count - a.count);
}

const span = (seconds) => (seconds === null ? "–" : seconds === Infinity ? "over 10 s" : `≤ ${number(1000 * seconds)} ms`);
const KEPT = 120;

export function Traffic() {
  const { answer, trouble, again } = useAnswer("/metrics", { every: 2000, text: true });
  const [past, note] = useState([]);
  const found = useMemo(() => (answer ? samples(answer) : null), [answer]);
  useEffect(() => {
    if (found) note((before) => [...before, { at: Date.now() / 1000, count: found.filter((one) => one.name === "druthers_request_seconds_count" && api(one)).reduce((sum, one) => sum + one.value, 0) }].slice(-KEPT));
  }, [found]);
  const rates = past.slice(1).map((one, place) => [one.at, (one.count - past[place].count) / Math.max(0.001, one.at - past[place].at)]);
  const data = [rates.map(([at]) => at - (past.at(-1)?.at || 0)), rates.map(([, rate]) => rate)];
  if (!found) return trouble ? html`<${Alert} trouble=${trouble} again=${again} />` : html`<${Waiting} what="Looking" />`;
  const figures = [
    ["Decisions", total(found, "druthers_decisions_total")],
    ["Queries understood", total(found, "druthers_queries_total", { understood: "yes" })],
    ["Queries not understood", total(found, "druthers_queries_total", { understood: "no" })],
    ["Feedback", total(found, "druthers_feedback_total")],
    ["Journal position", total(found, "druthers_journal_position")],
    ["Journal lag, events", total(found, "druthers_journal_lag_events")],
    ["People in memory", total(found, "druthers_resident_users")],
  ];
  return html`<${Alert} trouble=${trouble} again=${again} />
    <dl class="tiles">${figures.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${number(value)}</dd></div>`)}</dl>
    ${rates.length > 1 && html`<${Chart} data=${data} series=${[{ label: "requests per second", color: "--words" }]} label=${`Requests per second, now ${number(rates.at(-1)[1], 2)}.`} x="seconds ago" y="per second" height=${180} />`}
    <div class="wide" tabindex="0" role="group" aria-label="Routes"><table>
      <thead><tr><th scope="col">Route</th><th scope="col">Requests</th><th scope="col">Refused or failed</th><th scope="col">Half within</th><th scope="col">99 % within</th></tr></thead>
      <tbody>${routes(found).map((row) => html`<tr key=${row.name}><th scope="row"><code>${row.name}</code></th><td>${number(row.count)}</td><td>${number(row.failed)}</td><td class="figure">${span(row.half)}</td><td class="figure">${span(row.most)}</td></tr>`)}</tbody>
    </table></div>`;
}
