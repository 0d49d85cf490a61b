// Lab: reports that were written here, opened in place, and experiments that come along, played beside the service.
import { html, useEffect, useState } from "../html.js";
import { address, vary } from "../address.js";
import { get, key, post, remove, segment } from "../api.js";
import { Alert, download, Waiting } from "../parts.js";
import { say } from "../store.js";
import { ago, number, percent } from "../words.js";

const ENDED = ["done", "failed", "stopped"];

export default function Lab() {
  const { query } = address.use();
  const [lab, show] = useState(null);
  const [trouble, tell] = useState(null);
  const [tries, again] = useState(0);
  const active = Boolean(lab?.running && !ENDED.includes(lab.running.stage));
  useEffect(() => {
    let current = true;
    let timer = null;
    const look = async () => {
      try {
        const found = await get("/v1/lab");
        if (!current) return;
        show(found);
        tell(null);
        if (found.running && !ENDED.includes(found.running.stage)) timer = setTimeout(look, 700);
      } catch (problem) { if (current) tell(problem); }
    };
    look();
    return () => { current = false; clearTimeout(timer); };
  }, [tries]);
  useEffect(() => { if (lab?.running && !active) say(`The experiment ${lab.running.name} is ${lab.running.stage}.`); }, [active]);
  const attempt = async (work) => { try { await work(); tell(null); again(tries + 1); } catch (problem) { tell(problem); } };
  return html`<section aria-labelledby="lab-title">
    <h1 id="lab-title">Lab</h1>
    <p class="lead">Experiments of <code>druthers run</code>: every policy on the same draws. Reports are opened here; the ones that come along can be played here too, smaller than in the paper.</p>
    <${Alert} trouble=${trouble} again=${() => again(tries + 1)} away=${() => tell(null)} />
    ${!lab ? !trouble && html`<${Waiting} what="Looking" />` : html`
      <${Start} lab=${lab} active=${active} attempt=${attempt} />
      <section class="panel" aria-labelledby="reports-title"><h2 id="reports-title">Reports</h2>
        ${!lab.reports.length && html`<p class="hint">None yet: play an experiment, or run <code>druthers run synthetic</code> in the folder of the service.</p>`}
        <ul class="list">${lab.reports.map((one) => html`<li key=${one.name}><button class="link" aria-pressed=${query.report === one.name} onClick=${() => vary({ report: one.name })}>${one.name}</button> <span class="hint">${ago(one.at)}, ${number(one.bytes / 1000, 3)} kB</span></li>`)}</ul>
      </section>
      ${query.report && html`<${Report} key=${query.report} name=${query.report} />`}`}
  </section>`;
}

function Start({ lab, active, attempt }) {
  const [name, choose] = useState(lab.experiments.find((one) => one.name === "synthetic")?.name || lab.experiments[0].name);
  const [runs, repeat] = useState(2);
  const [horizon, reach] = useState(300);
  const about = lab.experiments.find((one) => one.name === name);
  const start = (event) => { event.preventDefault(); attempt(() => post("/v1/lab/runs", { experiment: name, runs: Number(runs), horizon: Number(horizon) })); };
  return html`<section class="panel" aria-labelledby="start-title"><h2 id="start-title">Play an experiment</h2>
    <form class="row" onSubmit=${start}>
      <label class="grow">Experiment <select value=${name} disabled=${active} onChange=${(event) => choose(event.target.value)}>${lab.experiments.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}: ${one.title}</option>`)}</select></label>
      <label>Runs <input type="number" min="1" max="20" required value=${runs} onInput=${(event) => repeat(event.target.value)} /></label>
      <label>Rounds <input type="number" min="10" max="20000" required value=${horizon} onInput=${(event) => reach(event.target.value)} /></label>
      <button class="primary" disabled=${active}>Play</button>
      ${active && html`<button type="button" class="danger quiet" onClick=${() => attempt(() => remove("/v1/lab/runs"))}>Stop</button>`}
    </form>
    <p class="hint">${about.about}</p>
    ${lab.running && html`<${Progress} running=${lab.running} />`}
  </section>`;
}

function Progress({ running }) {
  const share = running.total ? running.done / running.total : 0;
  const stage = { done: "done: its report is listed below", failed: `failed: ${running.problem}`, stopped: "stopped; played again, it goes on from here" }[running.stage] || running.stage;
  return html`<div class="progress" role="status"><b>${running.name}</b>: ${stage}${running.total > 0 && !ENDED.includes(running.stage) ? `, ${running.done} of ${running.total} (${percent(share)})` : ""}
    ${!ENDED.includes(running.stage) && html`<progress max="1" value=${running.total ? share : null} aria-label=${`Progress of ${running.name}`}></progress>`}
  </div>`;
}

// A report is a page of its own, shown in a frame that can reach nothing. Frames show no keys: with one, it is saved instead.
function Report({ name }) {
  const path = `/v1/lab/reports/${segment(name)}`;
  const save = async () => download(`${name}.html`, await get(path, { text: true }), "text/html");
  return html`<section class="panel" aria-labelledby="report-title">
    <div class="row"><h2 id="report-title" class="grow">${name}</h2><button class="small" onClick=${save}>Download</button><button class="small quiet" onClick=${() => vary({ report: "" })}>Close</button></div>
    ${key.get() ? html`<p class="hint">A browser shows no key for a frame: download the report to look at it.</p>` : html`<iframe class="report" src=${path} title=${`Report of ${name}`} sandbox="allow-scripts"></iframe>`}
  </section>`;
}
