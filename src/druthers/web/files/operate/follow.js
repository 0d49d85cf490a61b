// Look at something of the service, once or again and again.
import { useEffect, useState } from "../html.js";
import { get } from "../api.js";

export function useAnswer(path, { every = 0, text = false } = {}) {
  const [answer, show] = useState(null);
  const [trouble, tell] = useState(null);
  const [tries, count] = useState(0);
  useEffect(() => {
    let current = true;
    let timer = null;
    const look = async () => {
      try {
        const found = await get(path, { text });
        if (!current) return;
        show(found);
        tell(null);
        if (every) timer = setTimeout(look, every);
      } catch (problem) {
        if (current) tell(problem);
      }
    };
    look();
    return () => { current = false; clearTimeout(timer); };
  }, [path, tries, every]);
  return { answer, trouble, again: () => count(tries + 1) };
}
