// Where we are: the path is the view, the query its state; the back button works because every change goes through here.
import { makeStore } from "./store.js";

const read = () => ({ path: location.pathname.replace(/(.)\/$/, "$1"), query: Object.fromEntries(new URLSearchParams(location.search)) });

export const address = makeStore(read());
addEventListener("popstate", () => address.set(read()));

export function href(path, query = {}) {
  const said = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(said).toString();
  return text ? `${path}?${text}` : path;
}

export function go(path, query = {}, { replace = false } = {}) {
  const to = href(path, query);
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  address.set(read());
}

// Change parts of the query and leave the rest.
export const vary = (changes, options) => go(address.get().path, { ...address.get().query, ...changes }, options);
