// How the page asks the service: JSON in and out, and problems as sentences with a way out.

export class Trouble extends Error {
  constructor(status, detail, retry = false) {
    super(detail);
    this.status = status;
    this.retry = retry;
  }
}

const KEY = "druthers-key";

export const key = {
  get: () => { try { return sessionStorage.getItem(KEY) || ""; } catch { return ""; } },
  set: (value) => { try { value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY); } catch { /* kept nowhere */ } },
};

const told = [];  // [path, milliseconds from asking to reading], the latest last; tests and the operator look at it
export const timings = () => told.slice();

export async function ask(method, path, body, { signal, text = false } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  const started = performance.now();
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Trouble(0, "The service does not answer. It may be starting, or this machine is offline; try again.", true);
  }
  if (!answer.ok) throw await troubleOf(answer);
  const content = text ? await answer.text() : answer.status === 204 ? null : await answer.json();
  told.push([path, performance.now() - started]);
  if (told.length > 200) told.shift();
  return content;
}

async function troubleOf(answer) {
  let detail = "";
  try {
    const problem = await answer.json();
    const first = problem.errors?.[0];
    detail = first ? `${first.where}: ${first.why}` : problem.detail;
  } catch { /* no problem in JSON */ }
  const sentence = detail ? detail[0].toUpperCase() + detail.slice(1) : `The service answered with status ${answer.status}`;
  const wait = answer.status === 429 || answer.status === 503;
  return new Trouble(answer.status, /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, wait);
}

export const get = (path, options) => ask("GET", path, undefined, options);
export const post = (path, body, options) => ask("POST", path, body, options);
export const put = (path, body) => ask("PUT", path, body);
export const patch = (path, body) => ask("PATCH", path, body);
export const remove = (path) => ask("DELETE", path);
export const segment = encodeURIComponent;
