// A conversation: what was said and answered, what is believed, and all that can be done about it.
import { get, patch, post, remove, segment, Trouble } from "../api.js";
import { makeStore, say } from "../store.js";
import { listed } from "../words.js";

const FRESH = { turns: [], card: null, objectives: null, columns: [], busy: "", trouble: null, again: null, ready: false, changes: {} };
export const talk = makeStore({ user: "", ...FRESH });

const SIZE = 3;
const path = (rest = "") => `/v1/users/${segment(talk.get().user)}${rest}`;
const kept = (user) => `druthers-turns:${user}`;
let serial = 0;

function save() {
  const { user, turns } = talk.get();
  try { sessionStorage.setItem(kept(user), JSON.stringify(turns.slice(-20))); } catch { /* not kept */ }
}

function saved(user) {
  try { return JSON.parse(sessionStorage.getItem(kept(user)) || "[]"); } catch { return []; }
}

// Do something, one thing at a time; what goes wrong is told, with a way to try again.
async function doing(busy, work) {
  if (talk.get().busy) return false;
  const { user } = talk.get();
  talk.set({ busy, trouble: null, again: null });
  try {
    await work();
    return true;
  } catch (trouble) {
    if (!(trouble instanceof Trouble)) console.error(trouble);
    if (talk.get().user === user) talk.set({ trouble, again: () => doing(busy, work) });
    return false;
  } finally {
    if (talk.get().busy) talk.set({ busy: "" });
  }
}

export async function start(user) {
  if (talk.get().user === user && talk.get().ready) return;
  talk.set({ user, ...FRESH, busy: "", turns: saved(user) });
  serial = Math.max(0, ...talk.get().turns.map((turn) => turn.id));
  await doing("Looking up what is known of you", async () => {
    const [objectives, { columns }, card] = await Promise.all([get("/v1/objectives"), get("/v1/catalog"), lookUp()]);
    if (talk.get().user === user) talk.set({ objectives, columns, card, ready: true });
  });
}

// Nothing is known of a person who said nothing: then there is no card to ask for.
async function lookUp() {
  if (talk.get().card === null && !(await past()).length) return null;
  try {
    return await get(path());
  } catch (trouble) {
    if (trouble.status === 404) return null;  // erased meanwhile
    throw trouble;
  }
}

// The card as it is now, and what changed since it was shown.
async function believed() {
  const before = talk.get().card;
  const card = await lookUp();
  const weights = Object.fromEntries((before?.weights || []).map((one) => [one.objective, one.weight]));
  const changes = Object.fromEntries((card?.weights || []).map((one) => [one.objective, one.weight - (weights[one.objective] ?? one.weight)]));
  return { card, changes };
}

const refresh = async () => talk.set(await believed());

async function slate(decision) {
  if (!decision) return null;
  const shown = await get(`/v1/decisions/${segment(decision.id)}/items`);
  const known = Object.fromEntries(shown.map((one) => [one.item.id, one]));
  return { id: decision.id, question: decision.question, items: decision.items.filter((one) => known[one.item]).map((one) => ({ ...known[one.item], why: one })) };
}

// All that a turn changes is shown at once: drawing costs more than asking.
function add(turn, more = {}) {
  talk.set(({ turns }) => ({ turns: [...turns, { id: ++serial, ...turn }], busy: "", ...more }));
  save();
  const names = turn.slate?.items.map((one) => one.item.name) || [];
  say([turn.answer, names.length ? `Recommended: ${listed(names)}.` : ""].filter(Boolean).join(" "));
}

// Whatever a person types, as in `druthers chat`.
export const send = (text) => doing("Reading", async () => {
  const reply = await post(path("/messages"), { text });
  const [shown, news] = await Promise.all([slate(reply.recommendation), believed()]);
  add({ text, answer: reply.text, kind: reply.kind, heard: reply.heard, slate: shown }, news);
});

async function decide(answer) {
  const decision = await post(path("/decisions"), { size: SIZE });
  const [shown, news] = await Promise.all([slate(decision), believed()]);
  add({ text: null, answer, slate: shown }, news);
}

export const next = () => doing("Choosing", () => decide("The next round:"));

// Say what is meant instead of what was read: objectives in their order or weights, and limits.
export const correct = (instead, told) => doing("Correcting", async () => {
  if (talk.get().card === null) await post(path("/queries"), { ranking: instead.ranking });
  else await patch(path(), instead);
  await decide(told);
});

// Tell how an item was, as a whole or in one aspect.
export const rate = (decision, item, feedback) => doing("Noting", async () => {
  const learned = await post(`/v1/decisions/${segment(decision)}/feedback`, { item, ...feedback });
  talk.set(({ turns }) => ({ turns: turns.map((turn) => (turn.slate?.id === decision ? rated(turn, item, feedback) : turn)) }));
  save();
  await refresh();
  const moved = learned.weights.slice(0, 2).map((one) => `${one.objective} from ${one.before.toFixed(2)} to ${one.after.toFixed(2)}`);
  say(moved.length ? `Noted. Moved: ${listed(moved)}.` : "Noted.");
});

function rated(turn, item, { rewards = {}, utility }) {
  const items = turn.slate.items.map((one) => (one.item.id !== item ? one
    : { ...one, rewards: { ...one.rewards, ...rewards }, utility: utility ?? one.utility }));
  return { ...turn, slate: { ...turn.slate, items } };
}

// Tell which item of a slate was taken, or null for none of them; that compares it with all that was not.
export const pick = (decision, item) => doing("Noting", async () => {
  await post(`/v1/decisions/${segment(decision)}/choice`, { picked: item });
  talk.set(({ turns }) => ({ turns: turns.map((turn) => (turn.slate?.id === decision ? { ...turn, slate: { ...turn.slate, picked: item } } : turn)) }));
  save();
  await refresh();
  say(item === null ? "Noted: none of these." : "Noted: you took it.");
});

// Answer what was asked back: a wish is said, one of two items is picked of just these.
export const answer = (decision, question, place) => (question.kind === "ranking" ? send(question.names[place])
  : doing("Noting", async () => {
    await post(`/v1/decisions/${segment(decision)}/choice`, { picked: question.choices[place], offer: question.choices });
    await decide(`Noted: rather ${question.names[place]}.`);
  }));

export const skip = (turn) => {
  talk.set(({ turns }) => ({ turns: turns.map((one) => (one.id === turn ? { ...one, skipped: true } : one)) }));
  return next();
};

export const past = () => get(path("/history"));

export const forget = () => doing("Erasing", async () => {
  await remove(path());
  try { sessionStorage.removeItem(kept(talk.get().user)); } catch { /* was not kept */ }
  talk.set({ turns: [], card: null, changes: {} });
  say("All that was known of you is erased.");
});

export const away = () => talk.set({ trouble: null, again: null });
