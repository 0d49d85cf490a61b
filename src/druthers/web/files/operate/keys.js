// Keys, made and revoked; settings in force.
import { html, useState } from "../html.js";
import { post, remove } from "../api.js";
import { Alert, Confirm, Waiting } from "../parts.js";
import { say } from "../store.js";
import { ago } from "../words.js";
import { useAnswer } from "./follow.js";

export function Keys() {
  const { answer, trouble, again } = useAnswer("/v1/operate/keys");
  const [role, choose] = useState("decide");
  const [name, call] = useState("");
  const [made, show] = useState(null);
  const [leaving, part] = useState(null);
  const [problem, tell] = useState(null);
  const attempt = async (work) => { try { await work(); tell(null); } catch (found) { tell(found); } again(); };
  const make = (event) => { event.preventDefault(); attempt(async () => { show(await post("/v1/operate/keys", { role, name })); call(""); say("A key is made."); }); };
  const revoke = (id) => { part(null); attempt(async () => { await remove(`/v1/operate/keys/${id}`); say("The key is revoked."); }); };
  return html`
    <form class="row" onSubmit=${make}>
      <label>Role <select value=${role} onChange=${(event) => choose(event.target.value)}>${["read", "decide", "admin"].map((one) => html`<option key=${one}>${one}</option>`)}</select></label>
      <label class="grow">What it is for <input value=${name} maxlength="200" onInput=${(event) => call(event.target.value)} /></label>
      <button class="primary">Make a key</button>
    </form>
    ${made && html`<div class="made" role="status"><p><b>Shown once:</b> <code>${made.key}</code></p><button class="small" onClick=${() => show(null)}>I have it</button></div>`}
    <${Alert} trouble=${problem || trouble} again=${again} away=${() => tell(null)} />
    ${!answer ? !trouble && html`<${Waiting} what="Looking" />` : html`<div class="wide" tabindex="0" role="group" aria-label="Keys"><table>
      <thead><tr><th scope="col">Id</th><th scope="col">Role</th><th scope="col">For</th><th scope="col">Made</th><th scope="col">Revoked</th></tr></thead>
      <tbody>${answer.map((one) => html`<tr key=${one.id}><th scope="row"><code>${one.id}</code></th><td>${one.role}</td><td>${one.name}</td><td>${ago(one.created)}</td>
        <td>${one.revoked ? ago(one.revoked) : html`<button class="small danger quiet" aria-label=${`Revoke ${one.id}`} onClick=${() => part(one)}>Revoke</button>`}</td></tr>`)}
        ${!answer.length && html`<tr><td colspan="5">There is no key yet.</td></tr>`}</tbody>
    </table></div>`}
    ${leaving && html`<${Confirm} title=${`Revoke the key ${leaving.id}?`} yes="Revoke" onNo=${() => part(null)} onYes=${() => revoke(leaving.id)}><p>${leaving.name ? `It is for ${leaving.name}. ` : ""}Whoever uses it is refused within a second, for good.</p><//>`}`;
}

export function Settings() {
  const { answer, trouble, again } = useAnswer("/v1/operate/settings");
  if (!answer) return trouble ? html`<${Alert} trouble=${trouble} again=${again} />` : html`<${Waiting} what="Looking" />`;
  return html`<p class="hint">As this process was started; bold ones differ from their defaults.</p>
    <div class="wide prose" tabindex="0" role="group" aria-label="Settings"><table>
      <thead><tr><th scope="col">Setting</th><th scope="col">Value</th></tr></thead>
      <tbody>${answer.map((one) => html`<tr key=${one.name}><th scope="row"><code>${one.name}</code><br /><small class="among">${one.about}</small></th><td>${one.changed ? html`<b>${one.value}</b>` : one.value}</td></tr>`)}</tbody>
    </table></div>`;
}
