// The journal as it grows.
import { html, useEffect, useRef, useState } from "../html.js";
import { get } from "../api.js";
import { Alert } from "../parts.js";

const KEPT = 200;

export function Events() {
  const [events, add] = useState([]);
  const [running, run] = useState(true);
  const [trouble, tell] = useState(null);
  const after = useRef(null);
  useEffect(() => {
    if (!running || trouble) return undefined;
    let timer = null;
    let current = true;
    const look = async () => {
      try {
        if (after.current === null) after.current = Math.max(0, (await get("/readyz")).position - 30);
        const page = await get(`/v1/events?limit=200&after=${after.current}`);
        if (!current) return;
        if (page.events.length) {
          after.current = page.events.at(-1).position;
          add((before) => [...page.events.reverse(), ...before].slice(0, KEPT));
        }
        timer = setTimeout(look, 1000);
      } catch (problem) { if (current) tell(problem); }
    };
    look();
    return () => { current = false; clearTimeout(timer); };
  }, [running, trouble]);
  return html`<div class="row"><button class="small" aria-pressed=${!running} onClick=${() => run(!running)}>${running ? "Pause" : "Go on"}</button><p class="hint">The latest events first, looked for every second.</p></div>
    <${Alert} trouble=${trouble} again=${() => tell(null)} />
    <div class="wide" tabindex="0" role="group" aria-label="Events"><table class="events">
      <thead><tr><th scope="col">Position</th><th scope="col">Time</th><th scope="col">Kind</th><th scope="col">Person</th><th scope="col">What</th></tr></thead>
      <tbody>${events.map((one) => html`<tr key=${one.position}><th scope="row">${one.position}</th><td>${new Date(1000 * one.at).toLocaleTimeString("en")}</td><td>${one.kind}</td><td class="cut" title=${one.user}>${one.user || "–"}</td><td class="cut" title=${gist(one)}>${gist(one)}</td></tr>`)}</tbody>
    </table></div>`;
}

function gist({ kind, body }) {
  if (kind === "query" || kind === "correction") return body.text || (body.ranking || []).join(", ") || "–";
  if (kind === "decision") return (body.items || []).join(", ");
  if (kind === "feedback") return `${body.item || ""} ${body.utility ?? ""}`;
  if (kind === "item") return body.item?.name || "";
  return body.id || body.name || "–";
}
