// Lines over an axis, the same on the page and in reports: uPlot draws, and a crosshair names all values, by pointer or keys.
import uPlot from "./vendor/uplot.js";

// Marks as Matplotlib names them, around their middle.
export const MARKS = {
  o: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
  s: "M-3.6,-3.6H3.6V3.6H-3.6Z",
  "^": "M0,-4.6L4.4,3.4H-4.4Z",
  v: "M0,4.6L4.4,-3.4H-4.4Z",
  D: "M0,-5L5,0L0,5L-5,0Z",
  P: "M-1.7,-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
  X: "M-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0L-5,-3Z",
};
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
const MOST_TOLD = 16;
const WHOLE = [1, 2, 5].flatMap((step) => Array.from({ length: 9 }, (_, power) => step * 10 ** power)).sort((a, b) => a - b);

// A number for an axis: as short as it gets.
export function compact(value) {
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= unit) return Number((value / unit).toPrecision(4)) + name;
  }
  return String(Number(value.toPrecision(4)));
}

const made = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

export class Plot {
  // spec.series: { name, ink, dash, marker, x, y, se, joined, marked, end } each, the first on top; ink returns a color;
  // spec.x, spec.y: { title, log, whole, low, high, ticks: [[value, text]], text }; spec.label: what a screen reader is told;
  // spec.tell: the text above the values at x; spec.format: of a value and its error; spec.most: whether more is better;
  // spec.swatch: an element that stands for a line.
  constructor(host) {
    this.host = host;
    this.face = made("div", { class: "drawing", role: "img", tabindex: "0" });
    this.tip = made("div", { class: "tip", role: "status", hidden: "" });
    host.append(this.face, this.tip);
    this.redraw = () => this.draw();
    this.watch = new ResizeObserver(this.redraw);
    this.watch.observe(host);
    this.theme = matchMedia("screen and (prefers-color-scheme: dark)");  // changes for printing, too
    this.theme.addEventListener("change", this.redraw);
    addEventListener("themechange", this.redraw);
    this.face.addEventListener("keydown", (event) => this.step(event));
    this.face.addEventListener("blur", () => this.hide());
    this.face.addEventListener("pointermove", (event) => event.pointerType === "touch" && this.point(event));
  }

  destroy() {
    this.watch.disconnect();
    this.theme.removeEventListener("change", this.redraw);
    removeEventListener("themechange", this.redraw);
    this.plot?.destroy();
    this.host.replaceChildren();
  }

  show(spec) {
    const shape = JSON.stringify([spec.series.map(({ name, dash, joined, marked, end }) => [name, dash, joined, marked, end]),
      [spec.x, spec.y].map(({ title, log, ticks }) => [title, log, ticks])]);
    const same = this.plot && this.shape === shape;
    [this.spec, this.shape] = [spec, shape];
    this.face.setAttribute("aria-label", spec.label);
    if (same) this.plot.setData(this.aligned());
    else this.draw();
  }

  color(name) {
    return getComputedStyle(this.host).getPropertyValue(name).trim();
  }

  draw() {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (!this.spec || !width || !height) return;
    this.plot?.destroy();
    this.lines = [...this.spec.series].reverse();
    const scale = (name) => ({ time: false, distr: this.spec[name].log ? 3 : 1, range: () => [this.spec[name].low, this.spec[name].high] });
    this.plot = new uPlot({
      width, height,
      padding: [12, this.spec.series.some((line) => line.end) ? 52 : 16, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, move: (plot, left, top) => this.snapped(plot, left, top) },
      scales: { x: scale("x"), y: scale("y") },
      axes: [this.axis("x"), this.axis("y")],
      series: [{}, ...this.lines.map((line) => ({
        stroke: line.ink(), width: line.joined === false ? 0 : 2, dash: line.dash?.map((part) => 2 * part), points: { show: false }, spanGaps: true,
      }))],
      hooks: { drawAxes: [() => this.shade()], draw: [() => this.mark()], setCursor: [() => this.follow()] },
    }, this.aligned(), this.face);
    this.hide();
  }

  axis(name) {
    const { title, log, ticks, whole, text = compact } = this.spec[name];
    const own = ticks && {
      splits: () => ticks.map(([value]) => value),
      values: (plot) => apartFrom(ticks.map(([value, told]) => [plot.valToPos(value, "x"), told])),
    };
    return {
      label: title, font: FONT, labelFont: FONT, stroke: this.color("--muted"), labelSize: 20, labelGap: 2, gap: 4,
      grid: { show: name === "y", stroke: this.color("--line"), width: 1 }, ticks: { stroke: this.color("--line"), width: 1, size: 4 },
      size: name === "x" ? 26 : (_, texts) => 12 + 7 * Math.max(1, ...(texts || []).map((told) => told.length)),
      space: log ? 24 : name === "x" ? 60 : 44,
      values: (_, splits) => splits.map((value) => (value === null ? "" : text(value))),
      ...(log ? { splits: (_, axis, low, high) => logTicks(low, high), filter: (_, splits) => splits } : whole && { incrs: WHOLE }), ...own,
    };
  }

  // uPlot wants all lines over the same places: undefined where a line has none, null where it has no value.
  aligned() {
    const { x, y } = this.spec;
    const lines = this.spec.series.toReversed();
    const places = [...new Set(lines.flatMap((line) => line.x))].filter((value) => value >= x.low && value <= x.high).sort((a, b) => a - b);
    this.lines = lines;
    this.stops = places.length ? places : [x.low, x.high];
    return [this.stops, ...lines.map((line) => {
      const known = new Map(line.x.map((value, k) => [value, line.y[k]]));
      return this.stops.map((value) => { const found = known.get(value); return found === undefined || (found !== null && !(y.log && found <= 0)) ? found : null; });
    })];
  }

  // Bands and whiskers, under the lines.
  shade() {
    this.inside(({ ctx }, at, known) => {
      for (const line of this.lines.filter((one) => one.se)) {
        ctx.fillStyle = ctx.strokeStyle = line.ink();
        ctx.lineWidth = 1.2 * devicePixelRatio;
        ctx.globalAlpha = line.marked ? 1 : 0.16;
        ctx.beginPath();
        const ends = known(line).map((k) => [at(line.x[k], line.y[k] + (line.se[k] ?? 0)), at(line.x[k], line.y[k] - (line.se[k] ?? 0))]);
        if (line.marked) for (const [high, low] of ends) { ctx.moveTo(...high); ctx.lineTo(...low); }
        else for (const point of [...ends.map(([high]) => high), ...ends.map(([, low]) => low).reverse()]) ctx.lineTo(...point);
        if (line.marked) ctx.stroke(); else ctx.fill();
      }
    });
  }

  // Marks on points, over the lines; beside the ends, what they are worth.
  mark() {
    this.inside(({ ctx }, at, known) => {
      ctx.strokeStyle = this.color("--surface");
      ctx.lineWidth = devicePixelRatio;
      for (const line of this.lines.filter((one) => one.marked)) {
        ctx.fillStyle = line.ink();
        for (const k of known(line)) {
          const path = new Path2D();
          const [left, top] = at(line.x[k], line.y[k]);
          path.addPath(new Path2D(MARKS[line.marker]), new DOMMatrix([devicePixelRatio, 0, 0, devicePixelRatio, left, top]));
          ctx.fill(path);
          ctx.stroke(path);
        }
      }
    });
    const { ctx, bbox } = this.plot;
    const named = this.lines.filter((line) => line.end && line.y.at(-1) > 0);
    const wanted = named.map((line) => this.plot.valToPos(line.y.at(-1), "y", true));
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineWidth = ratio;
    ctx.font = FONT.replace("12px", `${11 * ratio}px`);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.strokeStyle = this.color("--muted");
    ctx.fillStyle = this.color("--text");
    apart(wanted, 13 * ratio, bbox.top + 4 * ratio, bbox.top + bbox.height - 4 * ratio).forEach((place, k) => {
      const right = bbox.left + bbox.width;
      ctx.beginPath();
      ctx.moveTo(right + 2 * ratio, wanted[k]);
      ctx.lineTo(right + 14 * ratio, place);
      ctx.stroke();
      ctx.fillText(named[k].end, right + 17 * ratio, place);
    });
    ctx.restore();
  }

  // Draw within the axes; values beyond them stand at their edge.
  inside(work) {
    const { plot } = this;
    const { ctx, bbox } = plot;
    const { x, y } = this.spec;
    const at = (place, value) => [plot.valToPos(place, "x", true), plot.valToPos(Math.min(Math.max(value, y.low), y.high), "y", true)];
    const known = (line) => line.x.map((_, k) => k).filter((k) => line.x[k] >= x.low && line.x[k] <= x.high && line.y[k] !== null && line.y[k] !== undefined && !(y.log && line.y[k] <= 0));
    ctx.save();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.rect(bbox.left - 6, bbox.top - 6, bbox.width + 12, bbox.height + 12);
    ctx.clip();
    work(plot, at, known);
    ctx.restore();
  }

  // The crosshair stands at values only.
  snapped(plot, left, top) {
    return left < 0 ? [left, top] : [plot.valToPos(this.stops[plot.posToIdx(left)], "x"), top];
  }

  point(event) {
    const box = this.plot.over.getBoundingClientRect();
    this.plot.setCursor({ left: event.clientX - box.left, top: 0 });
  }

  step(event) {
    const last = this.stops.length - 1;
    const stride = Math.max(1, Math.round(last / 40));
    const now = this.plot.cursor.left >= 0 ? this.plot.cursor.idx ?? 0 : -stride;
    const next = { ArrowRight: now + stride, ArrowLeft: now - stride, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.hide();
    if (next === undefined) return;
    event.preventDefault();
    this.plot.setCursor({ left: this.plot.valToPos(this.stops[Math.min(Math.max(next, 0), last)], "x"), top: 0 });
  }

  hide() {
    this.plot?.setCursor({ left: -10, top: -10 });
    this.tip.hidden = true;
  }

  // Beside the crosshair, the values of all lines there in order.
  follow() {
    const { left, idx } = this.plot?.cursor ?? {};
    const { spec } = this;
    if (!(left >= 0) || idx === null || !spec.series.length) { this.tip.hidden = true; return; }
    const place = this.stops[idx];
    const rows = [];
    for (const line of spec.series) {
      const k = line.marked && line.x.length > 1 ? line.x.indexOf(place) : nearest(line.x, place);
      if (k >= 0 && line.y[k] !== null && line.y[k] !== undefined) rows.push([line.y[k], line.se?.[k], line]);
    }
    rows.sort((a, b) => (spec.most ? b[0] - a[0] : a[0] - b[0]));
    const table = made("table", {}, ...rows.slice(0, MOST_TOLD).map(([value, error, line]) => made("tr", {},
      made("td", {}, spec.swatch(line)), made("td", {}, line.name), made("td", {}, spec.format(value, error)))));
    this.tip.replaceChildren(made("p", {}, spec.tell(place)), table);
    this.tip.hidden = false;
    const from = this.plot.over.offsetLeft + left;
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, from + 16 + wide < this.host.clientWidth ? from + 16 : from - 16 - wide)}px`;
  }
}

// Powers of ten, and what lies between them where there are few.
function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const factor of Math.log10(high / low) < 3 ? [1, 2, 5] : [1]) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  const every = Math.ceil(ticks.length / 7);
  return ticks.filter((_, k) => k % every === 0);
}

// Texts that would stand on the one before are left out.
function apartFrom(ticks) {
  let free = -Infinity;
  return ticks.map(([at, text]) => {
    const half = 3.6 * text.length + 4;
    if (at - half < free) return "";
    free = at + half;
    return text;
  });
}

// Move wished-for heights apart until neighbors keep a gap, within bounds.
function apart(wanted, gap, low, high) {
  const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]);
  const places = [...wanted];
  let floor = low;
  for (const k of order) { places[k] = Math.max(places[k], floor); floor = places[k] + gap; }
  let ceiling = high;
  for (const k of order.reverse()) { places[k] = Math.min(places[k], ceiling); ceiling = places[k] - gap; }
  return places;
}

// The index of the value nearest to x in a rising list.
function nearest(values, x) {
  let low = 0;
  let high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle; else high = middle;
  }
  return Math.abs(values[low] - x) <= Math.abs(values[high] - x) ? low : high;
}
