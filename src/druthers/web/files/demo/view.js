// See it learn: a simulated guest, played on the server by the library itself, shown here round by round.
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { address, vary } from "../address.js";
import { get } from "../api.js";
import { Chart } from "../chart.js";
import { Alert, Waiting } from "../parts.js";
import { say } from "../store.js";
import { listed, number } from "../words.js";
import { Estimates } from "./estimates.js";

const SERIES = [
  { label: "listens and learns", color: "--words" },
  { label: "does not listen", color: "--behavior", dash: [4, 2] },
  { label: "only listens", color: "--bad", dash: [1, 2] },
];
const USUAL = { guest: 1, length: 3, corruption: 0, noise: 0.5 };
const SPEEDS = [[2, "slow"], [8, "normal"], [30, "fast"]];

const settingsOf = (query) => Object.fromEntries(Object.entries(USUAL).map(([name, usual]) => [name, query[name] === undefined || Number.isNaN(Number(query[name])) ? usual : Number(query[name])]));

export default function Demo() {
  const { query } = address.use();
  const settings = settingsOf(query);
  const asked = `/v1/demo?seed=${settings.guest}&length=${settings.length}&corruption=${settings.corruption}&noise=${settings.noise}`;
  const [played, show] = useState(null);
  const [trouble, tell] = useState(null);
  const [tries, again] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    get(asked, { signal: stop.signal }).then((answer) => { show({ asked, ...answer }); tell(null); }, (problem) => problem.name !== "AbortError" && tell(problem));
    return () => stop.abort();
  }, [asked, tries]);
  return html`<section class="demo" aria-labelledby="demo-title">
    <h1 id="demo-title">See it learn</h1>
    <p class="lead">A simulated guest with a hidden preference comes again and again, says what matters, and feels how the choice was. The library on the server plays it three times: once listening and learning, once without listening, once with nothing but words.</p>
    <div class="sliders panel">
      <${Slider} name="length" label="Objectives named in a message" min=${1} max=${played?.objectives.length || 6} step=${1} value=${settings.length} />
      <${Slider} name="corruption" label="Messages that are somebody else's" min=${0} max=${0.5} step=${0.05} value=${settings.corruption} shown=${(value) => `${Math.round(100 * value)} %`} />
      <${Slider} name="noise" label="Noise of stays and moods" min=${0} max=${2} step=${0.1} value=${settings.noise} />
      <button onClick=${() => vary({ guest: settings.guest + 1 })}>Another guest</button>
    </div>
    <${Alert} trouble=${trouble} again=${() => again(tries + 1)} />
    ${played ? html`<${Play} key=${played.asked} played=${played} stale=${played.asked !== asked} />`
      : !trouble && html`<${Waiting} what="Playing on the server" />`}
  </section>`;
}

function Slider({ name, label, min, max, step, value, shown = number }) {
  const [held, hold] = useState(null);
  useEffect(() => hold(null), [value]);
  return html`<label class="slider"><span>${label} <b>${shown(held ?? value)}</b></span>
    <input type="range" min=${min} max=${max} step=${step} value=${held ?? value} aria-valuetext=${shown(held ?? value)}
      onInput=${(event) => hold(Number(event.target.value))} onChange=${(event) => vary({ [name]: event.target.value }, { replace: true })} />
  </label>`;
}

function Play({ played, stale }) {
  const last = played.said.length;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [round, turn] = useState(still ? last : 0);
  const [playing, play] = useState(!still);
  const [speed, hurry] = useState(8);
  const at = useRef(round);
  at.current = round;
  useEffect(() => {
    if (!playing || stale) return undefined;
    const timer = setInterval(() => {
      if (at.current >= last) { play(false); say("The guest has left."); } else turn(at.current + 1);
    }, 1000 / speed);
    return () => clearInterval(timer);
  }, [playing, speed, stale]);
  const step = () => { play(false); turn(Math.min(last, round + 1)); };
  const toggle = () => { if (round >= last) turn(0); play(!playing); };
  const regrets = SERIES.map((one) => (round ? played.regret[one.label][round - 1] : 0));
  return html`<div aria-busy=${stale}>
    <div class="row controls" role="group" aria-label="Playing">
      <button class="primary" onClick=${toggle}>${playing ? "Pause" : round >= last ? "Play again" : "Play"}</button>
      <button onClick=${step} disabled=${round >= last}>Step</button>
      <button onClick=${() => { play(false); turn(last); }} disabled=${round >= last}>To the end</button>
      <label>Speed <select value=${speed} onChange=${(event) => hurry(Number(event.target.value))}>${SPEEDS.map(([value, word]) => html`<option key=${value} value=${value}>${word}</option>`)}</select></label>
      <label class="grow slider"><span>Round <b>${round}</b> of ${last}</span><input type="range" min="0" max=${last} step="1" value=${round} aria-label="Round" onInput=${(event) => { play(false); turn(Number(event.target.value)); }} /></label>
    </div>
    <${Said} played=${played} round=${round} />
    <div class="two">
      <div class="stack">
        <section class="panel" aria-labelledby="belief-title"><h2 id="belief-title">What is believed, and what is true</h2><${Estimates} played=${played} round=${round} /></section>
        <section class="panel" aria-labelledby="lost-title"><h2 id="lost-title">Who lost how much</h2>
          <p class="hint">Lost is what the best choice of each round would have brought more.</p>
          <table class="figures"><thead><tr><th scope="col">Who</th><th scope="col">Lost after round ${round}</th></tr></thead>
          <tbody>${SERIES.map((one, place) => html`<tr key=${one.label}><th scope="row">${one.label}</th><td>${number(regrets[place], 3)}</td></tr>`)}</tbody></table>
        </section>
      </div>
      <section class="panel" aria-labelledby="regret-title"><h2 id="regret-title">What was lost so far</h2><${Regret} played=${played} round=${round} /></section>
    </div>
  </div>`;
}

function Said({ played, round }) {
  if (!round) return html`<p class="guest">The guest has not come yet.</p>`;
  const names = played.said[round - 1].map((k) => played.objectives[k]);
  return html`<p class="guest">In round ${round} the guest said: <q>${names.length > 1 ? `${listed(names.slice(0, -1))} before ${names.at(-1)}` : names.join("")}</q> ${played.corrupted[round - 1] && html`<span class="note unsure">not its own words</span>`}</p>`;
}

function Regret({ played, round }) {
  const [all, showAll] = useState(false);
  const data = useMemo(() => [
    Array.from({ length: round + 1 }, (_, place) => place),
    ...SERIES.map((one) => [0, ...played.regret[one.label].slice(0, round)]),
  ], [played, round]);
  const most = Math.max(...SERIES.slice(0, all ? 3 : 2).map((one) => played.regret[one.label].at(-1)), 1);
  const label = `Regret after ${round} rounds: ${SERIES.map((one, place) => `${one.label} ${number(data[place + 1].at(-1), 3)}`).join(", ")}.`;
  return html`<${Chart} data=${data} series=${SERIES} label=${label} x="round" whole y="utility lost" top=${most * 1.1} right=${played.said.length} />
    <label class="check"><input type="checkbox" checked=${all} onChange=${(event) => showAll(event.target.checked)} /> Fit the one that only listens</label>`;
}
