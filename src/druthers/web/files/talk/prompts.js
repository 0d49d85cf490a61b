// What to say first, by way of example: made of what matters in the catalog that is served.
import { listed } from "../words.js";

// Of the simulated hotels, and of any catalog that has all that these speak of.
const HOTELS = ["Cheap and clean, quiet if possible", "Somewhere central with friendly staff, at most 120 euros", "I'm a light sleeper; the location does not matter"];
const SPOKEN_OF = ["value", "cleanliness", "sleep quality", "location", "service"];

const wish = (one) => `${one.less_is_better ? "low" : "good"} ${one.name}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function prompts(objectives) {
  const names = objectives.map((one) => one.name);
  if (SPOKEN_OF.every((name) => names.includes(name))) return HOTELS;
  const [first, second, third] = objectives;
  const cost = objectives.find((one) => one.less_is_better);
  const other = objectives.find((one) => one !== cost);
  const said = [listed([first, second].filter(Boolean).map(wish))];
  if (cost) said.push(`${other ? `${wish(other)}, ` : ""}${cost.name} at most ${Number(cost.fair.toPrecision(2))}`);
  if (third) said.push(`${wish(third)}; the ${first.name} does not matter`);
  return said.filter(Boolean).map(capital);
}
