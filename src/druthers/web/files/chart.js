// Curves in the colors of the theme, as wide as there is room.
import { html, useLayoutEffect, useRef } from "./html.js";
import { Plot } from "./plot.js";
import { number } from "./words.js";

export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const look = ({ dash }) => `swatch ${!dash ? "" : dash[0] > 1 ? "dashed" : "dotted"}`;

function swatch(one) {
  const line = document.createElement("span");
  line.className = look(one);
  line.style.borderColor = one.ink();
  return line;
}

const extent = (values, least) => values.reduce(([low, high], value) => [Math.min(low, value ?? low), Math.max(high, value ?? high)], least);

// data: [x, ...ys]; series: [{ label, color, dash }] with the names of tokens for colors; label: what a screen reader is told.
function specOf({ data, series, label, x, y, top, right, whole }) {
  const [places, ...lines] = data;
  const [low, high] = extent(lines.flat(), [0, 0]);
  return {
    label, swatch, format: (value) => number(value, 3), tell: (place) => `${x} ${number(place, 3)}`,
    series: series.map((one, k) => ({ name: one.label, ink: () => color(one.color), dash: one.dash, x: places, y: lines[k] })),
    x: { title: x, whole, low: places[0] ?? 0, high: right ?? Math.max(places.at(-1) ?? 0, (places[0] ?? 0) + 1) },
    y: { title: y, low, high: top ?? ((high || 1) * 1.05) },
  };
}

export function Chart({ height = 280, ...given }) {
  const box = useRef(null);
  const plot = useRef(null);
  // Before painting: an effect after it may find that the figure is gone again.
  useLayoutEffect(() => {
    plot.current = new Plot(box.current);
    return () => { plot.current.destroy(); plot.current = null; };
  }, []);
  useLayoutEffect(() => { plot.current?.show(specOf(given)); }, [given.data, given.label, given.top, given.right]);
  return html`<figure class="chart">
    <div class="plot" ref=${box} style=${{ height: `${height}px` }}></div>
    <figcaption>${given.series.map((one) => html`<span key=${one.label}><span class=${look(one)} style=${{ borderColor: `var(${one.color})` }}></span> ${one.label}</span>`)}</figcaption>
  </figure>`;
}
