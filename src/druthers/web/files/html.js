// Preact with templates: what every component is written with. Texts are escaped by it, always.
import { h, render, Fragment } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(h);
export { render, Fragment };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
