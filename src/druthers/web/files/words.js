// Figures and facts as people write them.

export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 10000) return Math.round(value).toLocaleString("en");
  if (Math.abs(value) >= 1000) return String(Math.round(value)); // a year has no comma
  return String(Number(value.toPrecision(digits)));
}

export const signed = (value) => (value <= -0.005 ? "−" : "") + Math.abs(value).toFixed(2);
export const percent = (share) => `${Math.round(100 * share)} %`;

export function ordinal(place) {
  const ending = [11, 12, 13].includes(place % 100) ? "th" : { 1: "st", 2: "nd", 3: "rd" }[place % 10] || "th";
  return `${place}${ending}`;
}

export function fact(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return listed(value.map(fact)) || "none";
  return typeof value === "number" ? number(value) : String(value);
}

export function limit(value) {
  if (value && typeof value === "object" && !Array.isArray(value)) {
    if (["any", "all", "not"].some((part) => part in value)) {
      const wanted = [value.all && listed([value.all].flat().map(fact)), value.any && limit(value.any)].filter(Boolean).join(" and ");
      const denied = value.not === undefined ? "" : `${wanted ? "not" : "other than"} ${limit(value.not)}`;
      return [wanted, denied].filter(Boolean).join(", ");
    }
    return [["from", value.min], ["up to", value.max]].filter(([, bound]) => bound !== undefined)
      .map(([word, bound]) => `${word} ${fact(bound)}`).join(" ");
  }
  return Array.isArray(value) ? value.map(fact).join(" or ") : fact(value);
}

export function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}

export function ago(seconds) {
  const past = Date.now() / 1000 - seconds;
  if (past < 60) return "just now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86400) return `${Math.floor(past / 3600)} h ago`;
  return new Date(seconds * 1000).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
}

export const plural = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

const GRADES = [[0.8, "great"], [0.3, "good"], [-0.3, "fair"], [-0.8, "bad"], [-2, "awful"]];
export const grade = (utility) => GRADES.find(([least]) => utility >= least)[1];
