// Operate: what the system believes and does, for who runs it; each part is a tab whose name stands in the address.
import { html } from "../html.js";
import { address, vary } from "../address.js";
import { Traffic } from "./traffic.js";
import { Items } from "./items.js";
import { People } from "./people.js";
import { Readings } from "./readings.js";
import { Keys, Settings } from "./keys.js";
import { Events } from "./events.js";

const TABS = [["traffic", "Traffic", Traffic], ["items", "Items", Items], ["people", "People", People], ["readings", "Readings", Readings], ["events", "Events", Events], ["settings", "Settings", Settings], ["keys", "Keys", Keys]];

export default function Operate() {
  const { query } = address.use();
  const place = Math.max(0, TABS.findIndex(([id]) => id === query.tab));
  const [id, name, Part] = TABS[place];
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = TABS[(place + step + TABS.length) % TABS.length][0];
    vary({ tab: next });
    document.getElementById(`tab-${next}`).focus();
  };
  return html`<section aria-labelledby="operate-title">
    <h1 id="operate-title">Operate</h1>
    <div class="tabs" role="tablist" aria-label="What to look at" onKeyDown=${move}>
      ${TABS.map(([other, title]) => html`<button key=${other} role="tab" id=${`tab-${other}`} aria-selected=${other === id} aria-controls="tab-panel" tabindex=${other === id ? 0 : -1} onClick=${() => vary({ tab: other })}>${title}</button>`)}
    </div>
    <div class="panel" id="tab-panel" role="tabpanel" aria-labelledby=${`tab-${id}`} tabindex="0"><h2 class="unseen">${name}</h2><${Part} key=${id} /></div>
  </section>`;
}
