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

function dashes(style, width = 2) {
  return style.dash.length ? style.dash.map((part) => part * width).join(" ") : null;
}

/** A piece of a policy's line, for legends and tables. */
function swatch(style) {
  return inked(svg("svg", { class: "swatch", viewBox: "0 0 26 12", "aria-hidden": "true" },
    svg("line", { class: "line", x1: 0, x2: 26, y1: 6, y2: 6, "stroke-dasharray": dashes(style) }),
    svg("path", { class: "dot", d: MARKS[style.marker], transform: "translate(13 6) scale(.8)" })), style);
}
