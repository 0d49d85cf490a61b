// Curves: uPlot in the colors of the theme, as wide as there is room.
import { html, useEffect, useLayoutEffect, useRef } from "./html.js";
import uPlot from "./vendor/uplot.js";

export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const grid = () => ({ stroke: color("--muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 }, font: "12px system-ui", labelFont: "12px system-ui" });

// data: [x, ...ys]; series: [{ label, color, dash }] with the names of tokens for colors; label: what a screen reader is told.
export function Chart({ data, series, label, x, y, height = 280, top = null, right = null }) {
  const box = useRef(null);
  const plot = useRef(null);
  const latest = useRef(data);
  latest.current = data;
  const shape = JSON.stringify([series, x, y, height]);
  const bounds = useRef({});
  bounds.current = { top, right };
  // Before painting: an effect after it may find that the figure is gone again.
  useLayoutEffect(() => {
    const place = box.current;
    const wide = () => Math.max(200, place.clientWidth);
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot({
        width: wide(), height, legend: { show: false }, cursor: { show: false },
        scales: {
          x: { time: false, range: (_, low, high) => [low, bounds.current.right ?? high] },
          y: { range: (_, low, high) => [Math.min(0, low ?? 0), bounds.current.top ?? ((high || 1) * 1.05)] },
        },
        axes: [{ ...grid(), label: x, size: 42, labelSize: 18 }, { ...grid(), label: y, size: 58, labelSize: 18 }],
        series: [{}, ...series.map((one) => ({ label: one.label, stroke: color(one.color), width: 2, dash: one.dash, points: { show: false } }))],
      }, latest.current, place);
    };
    draw();
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: wide(), height }));
    watch.observe(place);
    addEventListener("themechange", draw);
    return () => { watch.disconnect(); removeEventListener("themechange", draw); plot.current?.destroy(); plot.current = null; };
  }, [shape]);
  useEffect(() => { plot.current?.setData(data); }, [data, top, right]);
  return html`<figure class="chart">
    <div ref=${box} role="img" aria-label=${label}></div>
    <figcaption>${series.map((one) => html`<span key=${one.label}><span class=${`swatch ${one.dash ? "dashed" : ""}`} style=${{ borderColor: `var(${one.color})` }}></span> ${one.label}</span>`)}</figcaption>
  </figure>`;
}
