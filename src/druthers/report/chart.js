"use strict";

const SVG = "http://www.w3.org/2000/svg";

/** Make an element of HTML; strings become text, never markup. */
function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an element of SVG. */
function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Give an element the color of a policy, on light and on dark paper. */
function inked(element, style) {
  element.classList.add("ink");
  element.style.setProperty("--light", style.color);
  element.style.setProperty("--dark", style.dark);
  return element;
}

/** A number for reading: three digits, thousands set apart. */
function readable(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  if (size > 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** A mean and its standard error, to the digits that the error allows. */
function withError(value, error) {
  if (value === null || !(error > 0)) return [readable(value), ""];
  const digits = Math.min(Math.max(1 - Math.floor(Math.log10(error)), 0), 6);
  const text = (number) => number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return [text(value), ` ± ${text(error)}`];
}

/** A number for an axis: as short as it gets. */
function compact(value) {
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= unit) return Number((value / unit).toPrecision(4)) + name;
  }
  return String(Number(value.toPrecision(4)));
}

function linearTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9); k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const factor of decades < 2 ? [1, 2, 5] : [1]) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  const every = Math.ceil(ticks.length / 7);
  return ticks.filter((_, k) => k % every === 0);
}

/** Where a value stands between two pixels. */
function scale(axis, from, to) {
  const turn = axis.log ? Math.log : Number;
  const [low, high] = [turn(axis.low), turn(axis.high)];
  return (value) => from + ((turn(value) - low) / (high - low || 1)) * (to - from);
}

const MARKS = {
  o: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
  s: "M-3.6,-3.6H3.6V3.6H-3.6Z",
  "^": "M0,-4.6L4.4,3.4H-4.4Z",
  v: "M0,4.6L4.4,-3.4H-4.4Z",
  D: "M0,-5L5,0L0,5L-5,0Z",
  P: "M-1.7,-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
  X: "M-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0L-5,-3Z",
};

function dashes(style, width = 2) {
  return style.dash.length ? style.dash.map((part) => part * width).join(" ") : null;
}

/** A piece of a policy's line, for legends and tables. */
function swatch(style) {
  return inked(svg("svg", { class: "swatch", viewBox: "0 0 26 12", "aria-hidden": "true" },
    svg("line", { class: "line", x1: 0, x2: 26, y1: 6, y2: 6, "stroke-dasharray": dashes(style) }),
    svg("path", { class: "dot", d: MARKS[style.marker], transform: "translate(13 6) scale(.8)" })), style);
}

/** Move wished-for heights apart until neighbors keep a gap, within bounds. */
function apart(wanted, gap, low, high) {
  const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]);
  const places = [...wanted];
  let floor = low;
  for (const k of order) { places[k] = Math.max(places[k], floor); floor = places[k] + gap; }
  let ceiling = high;
  for (const k of order.reverse()) { places[k] = Math.min(places[k], ceiling); ceiling = places[k] - gap; }
  return places;
}

/** Lines or points over an axis, with a crosshair that names all values. */
class Chart {
  /**
   * spec.series: {name, style, x, y, se, joined, marked, end} each;
   * spec.x, spec.y: {title, log, low, high, ticks: [[value, text]]}; spec.tell: the text above the values at x;
   * spec.most: whether more is better.
   */
  constructor(host) {
    this.host = host;
    this.tip = html("div", { class: "tip", hidden: "" });
    host.append(this.tip);
    new ResizeObserver(() => this.draw()).observe(host);
  }

  show(spec) {
    this.spec = spec;
    this.draw();
  }

  draw() {
    const width = this.host.clientWidth, height = this.host.clientHeight;
    if (!this.spec || !width) return;
    const { series, x, y } = this.spec;
    const ends = series.some((line) => line.end);
    const yTicks = y.ticks ?? (y.log ? logTicks(y.low, y.high) : linearTicks(y.low, y.high, 5));
    const yTexts = yTicks.map(y.text ?? compact);
    const left = 30 + 7 * Math.max(...yTexts.map((text) => text.length), 1);
    const box = { left, right: width - (ends ? 52 : 16), top: 12, bottom: height - 46 };
    const toX = scale(x, box.left, box.right), toY = scale(y, box.bottom, box.top);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": this.spec.label });
    yTicks.forEach((value, k) => picture.append(
      svg("line", { class: "grid", x1: box.left, x2: box.right, y1: toY(value), y2: toY(value) }),
      svg("text", { x: box.left - 8, y: toY(value) + 4, "text-anchor": "end" }, yTexts[k])));
    let free = -Infinity;
    for (const [value, text] of x.ticks ?? (x.log ? logTicks(x.low, x.high) : linearTicks(x.low, x.high, width < 500 ? 4 : 8)).map((v) => [v, compact(v)])) {
      const half = 3.6 * text.length + 4;
      if (toX(value) - half < free) continue;
      free = toX(value) + half;
      picture.append(svg("line", { class: "axis", x1: toX(value), x2: toX(value), y1: box.bottom, y2: box.bottom + 4 }),
        svg("text", { x: toX(value), y: box.bottom + 18, "text-anchor": "middle" }, text));
    }
    picture.append(
      svg("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      svg("text", { x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, x.title),
      svg("text", { transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.title));
    for (const line of [...series].reverse()) picture.append(this.drawn(line, toX, toY, y));
    if (ends) this.nameEnds(picture, series, box, toY);
    this.cross = svg("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" });
    picture.append(this.cross);
    this.picture?.remove();
    this.picture = picture;
    this.host.prepend(picture);
    this.stops = [...new Set(series.flatMap((line) => line.x))].filter((value) => value >= x.low && value <= x.high).sort((a, b) => a - b);
    this.toX = toX;
    this.listen(picture);
    this.hide();
  }

  /** One line: its band or whiskers, its curve, its marks. */
  drawn(line, toX, toY, axis) {
    const group = inked(svg("g"), line.style);
    const inside = (value) => Math.min(Math.max(value, axis.low), axis.high);
    const known = line.x.map((_, k) => k).filter((k) => line.y[k] !== null && line.y[k] !== undefined && (!axis.log || line.y[k] > 0));
    const at = (k, value) => `${toX(line.x[k]).toFixed(1)},${toY(inside(value)).toFixed(1)}`;
    const path = (points) => points.length ? "M" + points.join("L") : "";
    if (line.se && line.marked) {
      for (const k of known) if (line.se[k]) {
        group.append(svg("line", { class: "whisker", x1: toX(line.x[k]), x2: toX(line.x[k]),
          y1: toY(inside(line.y[k] - line.se[k])), y2: toY(inside(line.y[k] + line.se[k])) }));
      }
    } else if (line.se && known.length) {
      const upper = known.map((k) => at(k, line.y[k] + line.se[k]));
      const lower = known.map((k) => at(k, line.y[k] - line.se[k])).reverse();
      group.append(svg("path", { class: "band", d: path([...upper, ...lower]) + "Z" }));
    }
    if (line.joined !== false) {
      group.append(svg("path", { class: "line", d: path(known.map((k) => at(k, line.y[k]))), "stroke-dasharray": dashes(line.style) }));
    }
    if (line.marked) {
      for (const k of known) group.append(svg("path", { class: "dot", d: MARKS[line.style.marker], transform: `translate(${at(k, line.y[k])})` }));
    }
    return group;
  }

  nameEnds(picture, series, box, toY) {
    const named = series.filter((line) => line.end && line.y.at(-1) > 0);
    const wanted = named.map((line) => toY(line.y.at(-1)));
    apart(wanted, 13, box.top + 4, box.bottom - 4).forEach((place, k) => picture.append(
      svg("line", { class: "leader", x1: box.right + 2, x2: box.right + 14, y1: wanted[k], y2: place }),
      svg("text", { class: "slope", x: box.right + 17, y: place + 4 }, named[k].end)));
  }

  listen(picture) {
    const point = (event) => {
      const x = event.clientX - this.host.getBoundingClientRect().left;
      let best = 0;
      this.stops.forEach((stop, k) => { if (Math.abs(this.toX(stop) - x) < Math.abs(this.toX(this.stops[best]) - x)) best = k; });
      this.tell(best);
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    // A finger leaves as soon as it is lifted, before anything was read.
    picture.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.hide(); });
    picture.addEventListener("blur", () => this.hide());
    picture.addEventListener("keydown", (event) => {
      const last = this.stops.length - 1, stride = Math.max(1, Math.round(last / 40));
      const now = this.now ?? 0;
      const next = { ArrowRight: now + stride, ArrowLeft: now - stride, Home: 0, End: last }[event.key];
      if (event.key === "Escape") this.hide();
      if (next === undefined) return;
      event.preventDefault();
      this.tell(Math.min(Math.max(next, 0), last));
    });
  }

  /** Show the crosshair at a stop, with the values of all lines there in order. */
  tell(stop) {
    if (!this.stops.length) return;
    this.now = stop;
    const x = this.stops[stop], rows = [];
    for (const line of this.spec.series) {
      const k = line.marked && line.x.length > 1 ? line.x.indexOf(x) : nearest(line.x, x);
      if (k >= 0 && line.y[k] !== null && line.y[k] !== undefined) rows.push([line.y[k], line.se?.[k], line]);
    }
    rows.sort((a, b) => this.spec.most ? b[0] - a[0] : a[0] - b[0]);
    const format = this.spec.format ?? ((value, se) => withError(value, se).join(""));
    const table = html("table", {}, ...rows.slice(0, 16).map(([value, se, line]) => html("tr", {},
      html("td", {}, swatch(line.style)), html("td", {}, line.name),
      html("td", {}, format(value, se)))));
    this.tip.replaceChildren(html("p", {}, this.spec.tell(x)), table);
    this.tip.hidden = false;
    const place = this.toX(x), room = this.host.clientWidth, wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, place + 16 + wide < room ? place + 16 : place - 16 - wide)}px`;
    for (const end of ["x1", "x2"]) this.cross.setAttribute(end, place);
    this.cross.setAttribute("visibility", "visible");
  }

  hide() {
    this.now = null;
    this.tip.hidden = true;
    this.cross?.setAttribute("visibility", "hidden");
  }
}

/** The index of the value nearest to x in a rising list. */
function nearest(values, x) {
  let low = 0, high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle; else high = middle;
  }
  return Math.abs(values[low] - x) <= Math.abs(values[high] - x) ? low : high;
}
