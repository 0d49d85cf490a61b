// A value that components follow.
import { useEffect, useState } from "./html.js";

export function makeStore(initial) {
  let state = initial;
  const followers = new Set();
  return {
    get: () => state,
    set(changes) {
      state = { ...state, ...(typeof changes === "function" ? changes(state) : changes) };
      for (const follow of [...followers]) follow(state);
    },
    use() {
      const [shown, show] = useState(state);
      useEffect(() => {
        followers.add(show);
        show(state);
        return () => followers.delete(show);
      }, []);
      return shown;
    },
  };
}

// What a screen reader is told; the region is drawn by main.js.
export const spoken = makeStore({ text: "" });
export const say = (text) => spoken.set({ text: spoken.get().text === text ? `${text} ` : text });
