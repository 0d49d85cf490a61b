
const content = JSON.parse(document.getElementById("content").textContent);
const styleOf = (group) => content.styles[group];
const dark = matchMedia("screen and (prefers-color-scheme: dark)");
const drawn = (line) => ({ ...line, ...line.style, ink: () => dark.matches ? line.style.dark : line.style.color });
const whole = (number) => number.toLocaleString("en-US");
const plural = (number, word) => `${whole(number)} ${word}${number === 1 ? "" : "s"}`;

/** Buttons of which one is pressed. */
function choice(label, options, chosen, act) {
  const buttons = options.map(([value, text]) => html("button", {
    type: "button", "aria-pressed": String(value === chosen),
    onclick: () => {
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(options[k][0] === value)));
      act(value);
    },
  }, text));
  return html("span", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

/** A list to pick one of many from. */
function pick(label, options, chosen, act) {
  const list = html("select", {}, ...options.map(([value, text]) => html("option", { value, selected: value === chosen ? "" : null }, text)));
  list.addEventListener("change", () => act(list.value));
  return html("label", { class: "pick" }, label, list);
}

/** The smallest and greatest of many numbers, those that are there. */
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null && value !== undefined) { low = Math.min(low, value); high = Math.max(high, value); }
  return low <= high ? [low, high] : [0, 1];
}

/** One experiment: what is shown of it, and its section of the page. */
class Section {
  constructor(experiment, id) {
    this.experiment = experiment;
    this.id = id;
    this.rows = new Map(experiment.rows.map((row) => [row.label, row]));
    this.hidden = new Set();
    this.panel = Math.max(0, experiment.panels.findIndex((panel) => panel.labels.includes(experiment.best)));
    this.log = false;
    this.norm = "error";
    this.measure = "final";
    this.along = experiment.varied[0]?.key;
    this.fixed = {};
    this.redraws = [];
  }

  get shown() {
    return this.experiment.panels[this.panel].labels.map((label) => this.rows.get(label)).filter((row) => !this.hidden.has(row.group));
  }

  redraw() {
    for (const redraw of this.redraws) redraw();
  }

  build() {
    const { experiment } = this;
    const charts = { regret: this.regretCard(true), varied: this.variedCard(), error: this.errorCard(), shares: this.sharesCard() };
    const first = charts[experiment.figure] ? experiment.figure : "regret";
    charts[first].classList.add("wide");
    const order = [first, ...["regret", "varied", "error", "shares"].filter((name) => name !== first)];
    const cards = order.map((name) => charts[name]).filter(Boolean);
    cards.splice(1, 0, this.tableCard());
    const section = html("section", { class: "experiment", id: this.id, "aria-labelledby": `${this.id}-title` },
      html("h2", { class: "title", id: `${this.id}-title` }, experiment.title),
      ...(experiment.about ? [html("p", { class: "about" }, experiment.about)] : []),
      html("p", { class: "headline" }, this.headline()), this.facts(), this.legend(),
      html("div", { class: "cards" }, ...cards, this.settingsCard()));
    // A card left alone on its line may as well fill it.
    let lone = null;
    for (const card of section.querySelectorAll(".card")) {
      if (card.classList.contains("wide")) { lone?.classList.add("wide"); lone = null; } else lone = lone ? null : card;
    }
    return section;
  }

  headline() {
    const { experiment } = this, best = this.rows.get(experiment.best);
    const loss = withError(...best.final).join("");
    if (experiment.varied.length) return `The least regret anywhere is ${loss}: ${best.label}.`;
    const start = `${best.label} loses least: ${loss} after ${whole(experiment.horizon)} rounds`;
    const next = this.rows.get(experiment.panels[0].labels[1]);
    if (!next) return `${start}.`;
    if (next.tied) return `${start}, but ${plural(experiment.runs, "run")} cannot tell it from ${next.label} (p = ${readable(next.difference[3])}).`;
    return next.ratio === null ? `${start}.` : `${start}; the next, ${next.label}, loses ${readable(next.ratio)} times as much.`;
  }

  facts() {
    const { experiment } = this;
    const facts = [["Rounds", whole(experiment.horizon)], ["Runs", whole(experiment.runs)], ["Seed", String(experiment.seed)],
      ["Policies", whole(experiment.groups.length)]];
    for (const thing of experiment.varied) facts.push([`Values of ${thing.key}`, whole(thing.values.length)]);
    if (experiment.data) facts.push(["Data", experiment.data]);
    return html("p", { class: "facts" }, ...facts.map(([name, value]) => html("span", {}, `${name} `, html("b", {}, value))));
  }

  legend() {
    const { groups } = this.experiment;
    const buttons = new Map();
    const update = () => {
      for (const [group, button] of buttons) button.setAttribute("aria-pressed", String(!this.hidden.has(group)));
      all.disabled = !this.hidden.size;
      this.redraw();
    };
    const isolate = (group) => {
      const alone = this.hidden.size === groups.length - 1 && !this.hidden.has(group);
      this.hidden = new Set(alone ? [] : groups.filter((other) => other !== group));
      update();
    };
    for (const group of groups) {
      const button = html("button", { type: "button", title: "Click to show or hide; double-click (or Shift and Enter) to see it alone" }, swatch(styleOf(group)), group);
      button.addEventListener("click", (event) => {
        if (event.shiftKey) return isolate(group);
        if (!this.hidden.delete(group)) this.hidden.add(group);
        update();
      });
      button.addEventListener("dblclick", () => isolate(group));
      buttons.set(group, button);
    }
    const all = html("button", { type: "button", class: "all", onclick: () => { this.hidden.clear(); update(); } }, "Show all");
    const bar = html("div", { class: "bar", role: "group", "aria-label": "Policies shown in the charts" }, ...buttons.values(), all);
    if (this.experiment.panels.length > 1) {
      bar.append(pick("Curves for", this.experiment.panels.map((panel, k) => [String(k), panel.title]), String(this.panel),
        (value) => { this.panel = Number(value); this.redraw(); }));
    }
    update();
    return bar;
  }

  /** A card with a title, controls, a chart and a sentence on how to read it. */
  card(title, tools, spec, note, wide = false) {
    const host = html("div", { class: "chart" });
    const heading = html("h3"), foot = html("p", { class: "note" });
    const chart = new Plot(host);
    this.redraws.push(() => {
      heading.textContent = title();
      foot.textContent = note();
      const made = spec();
      const names = made.series.map((line) => line.name).join(", ") || "nothing";
      chart.show({ format: (value, se) => withError(value, se).join(""), ...made, swatch: (line) => swatch(line.style),
        label: `${title()}. Shown: ${names}. ${note()}`, series: made.series.map(drawn) });
    });
    return html("div", { class: wide ? "card plot wide" : "card plot" },
      html("div", { class: "head" }, heading, html("div", { class: "tools" }, ...tools)), host, foot);
  }

  get setting() {
    const title = this.experiment.panels[this.panel].title;
    return title ? `, ${title}` : "";
  }

  /** The spec of a chart of curves over the rounds. */
  curves(what, title, log, ends) {
    const lines = this.shown.filter((row) => row[what]).map((row) => ({
      name: row.group, style: styleOf(row.group), x: row.rounds, y: row[what], se: row[`${what}_se`],
      end: ends && row.growth[0] !== null ? row.growth[0].toFixed(2) : null,
    }));
    const [, last] = extent(lines.flatMap((line) => line.x));
    const tops = lines.flatMap((line) => line.y.map((value, k) => value === null ? null : value + (line.se?.[k] ?? 0)));
    const [, high] = extent(tops);
    const [low] = extent(lines.flatMap((line) => line.y.filter((value) => value > 0)));
    return {
      series: lines,
      x: { title: "Round", whole: true, log, low: log ? 1 : 0, high: Math.max(last, 2) },
      y: { title, log, low: log ? low / 1.4 : 0, high: log ? high * 1.4 : high * 1.04 || 1 },
      tell: (x) => `Round ${whole(x)}`,
    };
  }

  regretCard(wide) {
    const switchLog = choice("Axes", [[false, "Linear"], [true, "Log–log"]], false, (log) => { this.log = log; this.redraw(); });
    const band = this.experiment.runs > 1 ? ` The band is one standard error of ${plural(this.experiment.runs, "run")}.` : "";
    return this.card(
      () => this.log ? `How fast regret grows${this.setting}` : `Regret adds up over the rounds${this.setting}`, [switchLog],
      () => this.curves("regret", "Cumulative regret", this.log, this.log),
      () => this.log
        ? "Lower is better: on logarithmic axes t^a is a straight line of slope a. The numbers at the ends are the slopes fitted to the last nine tenths; 1 learns nothing, 0.5 is √t."
        : `Lower is better: what was lost so far against always choosing the best offered arm; a line that flattens has learned.${band}`, wide);
  }

  errorCard() {
    if (!this.experiment.rows.some((row) => row.error)) return null;
    const norms = choice("Norm", [["error", "Euclidean"], ["gram", "Norm of V"]], "error", (norm) => { this.norm = norm; this.redraw(); });
    return this.card(() => `Error of learned preferences${this.setting}`, [norms],
      () => this.curves(this.norm, "Preference error", false, false),
      () => this.norm === "error"
        ? "Lower is better: the Euclidean distance between estimated and true preference, averaged over users; policies that learn none are left out."
        : "Lower is better: the same distance measured by each policy's own matrix V, which counts most the directions it has seen most; compare a policy with itself over time rather than with others.");
  }

  sharesCard() {
    return this.card(() => `Which arms were chosen${this.setting}`, [],
      () => {
        const lines = this.shown.map((row) => {
          let sum = 0;
          return { name: row.group, style: styleOf(row.group), x: row.shares.map((_, k) => k + 1), y: row.shares.map((share) => Math.min(1, sum += share)) };
        });
        const [, arms] = extent(lines.flatMap((line) => line.x));
        const percent = (value) => `${Number((100 * value).toPrecision(3))} %`;
        return {
          series: lines, most: true, format: percent,
          x: { title: "Number of best arms", whole: true, low: 1, high: Math.max(arms, 2), ticks: null },
          y: { title: "Share of choices", low: 0, high: 1, text: percent },
          tell: (x) => x === 1 ? "The best arm" : `The best ${x} arms`,
        };
      },
      () => "Higher on the left is better: the share of all choices that went to the best arm (by expected utility over all users), the best two, the best three, and so on; a straight diagonal is choosing blindly.");
  }

  variedCard() {
    const { varied } = this.experiment;
    if (!varied.length) return null;
    const tools = html("span", { class: "tools" });
    const measures = [["final", "Regret"], ["end_error", "Preference error"], ["end_gram", "Error in norm of V"]]
      .filter(([name]) => name === "final" || this.experiment.rows.some((row) => row[name]));
    const controls = () => {
      const parts = [];
      if (varied.length > 1) parts.push(choice("Along the axis", varied.map(({ key }) => [key, key]), this.along, (key) => { this.along = key; controls(); this.redraw(); }));
      for (const thing of varied.filter(({ key }) => key !== this.along)) {
        parts.push(pick(thing.key, [["", "its best value"], ...thing.values.map((value) => [value, value])], this.fixed[thing.key] ?? "",
          (value) => { this.fixed[thing.key] = value; this.redraw(); }));
      }
      if (measures.length > 1) parts.push(choice("Measure", measures, this.measure, (name) => { this.measure = name; this.redraw(); }));
      tools.replaceChildren(...parts);
    };
    controls();
    const name = () => this.measure === "final" ? "Final regret" : "Preference error at the end";
    return this.card(() => `${name()} against ${this.along}`, [tools], () => this.against(name()),
      () => `Lower is better: each mark is the mean of all runs at one value${this.experiment.runs > 1 ? ", its whiskers one standard error" : ""}; a flat line does not care about ${this.along}.`, true);
  }

  /** The spec of the chart against what is varied: for each policy and value the best row that agrees with what is fixed. */
  against(title) {
    const axis = this.experiment.varied.find(({ key }) => key === this.along);
    const agrees = (row) => Object.entries(this.fixed).every(([key, value]) => !value || key === this.along || (row.varied[key] ?? value) === value);
    const joined = axis.values.length <= 24;
    const lines = [];
    for (const group of this.experiment.groups.filter((name) => !this.hidden.has(name))) {
      const best = new Map();
      for (const row of this.experiment.rows.filter((each) => each.group === group && agrees(each) && each[this.measure])) {
        for (const value of this.along in row.varied ? [row.varied[this.along]] : axis.values) {
          if (!best.has(value) || row.final[0] < best.get(value).final[0]) best.set(value, row);
        }
      }
      const at = axis.values.map((value, k) => [axis.places[k], best.get(value)]).filter(([, row]) => row);
      lines.push({ name: group, style: styleOf(group), joined, marked: true, x: at.map(([place]) => place),
        y: at.map(([, row]) => row[this.measure][0]), se: at.map(([, row]) => row[this.measure][1]) });
    }
    const [low, high] = extent(axis.places), log = axis.kind === "log";
    const margin = log ? (high / low) ** 0.04 : (high - low) * 0.04 || 0.5;
    const [, top] = extent(lines.flatMap((line) => line.y.map((value, k) => value + (line.se[k] ?? 0))));
    const [floor] = extent(lines.flatMap((line) => line.y));
    const steep = floor > 0 && top > 200 * floor; // most marks would lie on the floor
    return {
      series: lines,
      x: { title: this.along, log, low: log ? low / margin : low - margin, high: log ? high * margin : high + margin,
        ticks: axis.values.length <= 24 ? axis.places.map((place, k) => [place, axis.values[k]]) : null },
      y: steep ? { title, log: true, low: floor / 1.5, high: top * 1.5 } : { title, low: 0, high: top * 1.06 || 1 },
      tell: (x) => `${this.along} = ${axis.values[axis.places.indexOf(x)] ?? readable(x)}`,
    };
  }

  tableCard() {
    const { experiment } = this, several = experiment.runs > 1;
    const pair = (values) => {
      if (!values) return ["–"];
      const [mean, error] = withError(...values);
      return [mean, html("small", {}, error)];
    };
    const p = (value) => value < 0.001 ? "< 0.001" : value.toFixed(3);
    const columns = [
      ["Policy", (row) => row.group, (row) => [html("span", { title: row.label }, swatch(styleOf(row.group)), html("bdi", {}, row.group),
        ...(row.rival === row.label ? [html("i", { class: "badge" }, "best")] : row.tied ? [html("i", { class: "badge" }, "≈ best")] : []))]],
      ...experiment.varied.map(({ key, values }) => [key, (row) => values.indexOf(row.varied[key]), (row) => [row.varied[key] ?? "–"]]),
      ["Final regret", (row) => row.final[0], (row) => pair(row.final)],
      ["×\u00a0best", (row) => row.ratio, (row) => [row.ratio === null ? "–" : row.ratio.toFixed(row.ratio < 10 ? 2 : 1)]],
      ...(several ? [
        ["More than the best\n(95 % interval)", (row) => row.difference?.[0] ?? 0, (row) => row.difference
          ? [readable(row.difference[0]), html("small", {}, ` (${readable(row.difference[1])} to ${readable(row.difference[2])})`)] : ["–"]],
        ["p", (row) => row.difference?.[3] ?? 2, (row) => [row.difference ? p(row.difference[3]) : "–"]]] : []),
      ["Growth\nexponent", (row) => row.growth[0], (row) => [row.growth[0] === null ? "–" : row.growth[0].toFixed(2)]],
      ...(experiment.rows.some((row) => row.error) ? [["Preference\nerror", (row) => row.end_error?.[0] ?? Infinity, (row) => pair(row.end_error)]] : []),
      ["µs\u00a0per\nround", (row) => row.micros, (row) => [row.micros < 100 ? row.micros.toFixed(1) : readable(row.micros)]],
      ["Regret\nover time", null, (row) => [this.spark(row)]],
    ];
    const body = html("tbody"), first = 60;
    let [sorted, up, all] = [1 + experiment.varied.length, true, false];
    const heads = columns.map(([name, value], k) => value
      ? html("th", { scope: "col" }, html("button", { type: "button", onclick: () => { up = sorted === k ? !up : true; sorted = k; fill(); } }, name))
      : html("th", { scope: "col" }, html("button", { type: "button", disabled: "" }, name)));
    const more = html("button", { type: "button", class: "plain", onclick: () => { all = true; fill(); } }, `Show all ${experiment.rows.length} rows`);
    const fill = () => {
      const by = columns[sorted][1];
      const ordered = [...experiment.rows].sort((a, b) => {
        const [x, y] = [by(a), by(b)];
        const way = typeof x === "string" ? x.localeCompare(y) : (x ?? Infinity) - (y ?? Infinity);
        return (up ? way : -way) || a.final[0] - b.final[0];
      });
      heads.forEach((head, k) => k === sorted ? head.setAttribute("aria-sort", up ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
      body.replaceChildren(...ordered.slice(0, all ? undefined : first).map((row) => html("tr", {}, ...columns.map(([, , cell]) => html("td", {}, ...cell(row))))));
      more.hidden = all || experiment.rows.length <= first;
    };
    fill();
    const same = experiment.varied.length ? " among those that played the same runs" : "";
    const note = `Final regret and preference error are means${several ? ` ± one standard error of ${plural(experiment.runs, "run")}` : " of a single run, so nothing is known of their error"}; the error is that of the last tenth of the rounds.`
      + (several ? ` All policies play the same runs, so differences to the best${same} are paired (Student's t, not corrected for many comparisons); “≈ best” marks those not distinguishable from it, p ≥ 0.05.` : "");
    return html("div", { class: "card wide" }, html("div", { class: "head" }, html("h3", {}, "All results, best first")),
      html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of results" },
        html("table", { class: "results" }, html("thead", {}, html("tr", {}, ...heads)), body)), more,
      html("p", { class: "note" }, note));
  }

  spark(row) {
    const [, last] = extent(row.rounds), [, top] = extent(row.regret);
    const points = row.rounds.map((round, k) => `${(72 * round / last).toFixed(1)},${(19 - 18 * row.regret[k] / (top || 1)).toFixed(1)}`);
    return inked(svg("svg", { class: "spark", viewBox: "0 0 72 20", role: "img", "aria-label": "Shape of the regret curve" },
      svg("path", { class: "line", d: "M" + points.join("L") })), styleOf(row.group));
  }

  settingsCard() {
    const { experiment } = this;
    const command = html("pre", {}, html("code", {}, experiment.command));
    const copy = html("button", { type: "button", class: "plain" }, "Copy");
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(experiment.command);
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      } catch {
        getSelection().selectAllChildren(command);
      }
    });
    const versions = Object.entries(experiment.versions).map(([name, version]) => `${name} ${version}`).join(", ");
    const policies = experiment.policies.map(({ group, policy, params }) => html("tr", {},
      html("th", { scope: "row" }, group, ...(policy === group ? [] : [html("small", {}, ` (${policy})`)])),
      html("td", {}, ...params.map(([key, value, given]) => html("span", { class: given ? "given" : null }, `${key} = ${value}`)))));
    return html("div", { class: "card wide" }, html("h3", {}, "Make it again"),
      html("div", { class: "command" }, command, copy),
      html("p", { class: "note" }, (experiment.complete ? "" : `Save the settings of the experiment below as ${experiment.name}.toml first. `)
        + `Seed ${experiment.seed}; report written with ${versions}.`),
      html("details", {}, html("summary", {}, "Settings of the experiment"), html("pre", {}, html("code", {}, experiment.settings))),
      html("details", {}, html("summary", {}, "Settings of each policy"),
        html("div", { class: "scroll" }, html("table", { class: "params" }, html("tbody", {}, ...policies))),
        html("p", { class: "note" }, "What the experiment sets is dark; everything else is the policy's default.")));
  }
}

const main = document.getElementById("main");
const nav = document.getElementById("nav");
content.experiments.forEach((experiment, k) => {
  const section = new Section(experiment, `experiment-${k + 1}`);
  main.append(section.build());
  section.redraw();
  if (content.experiments.length > 1) nav.append(html("a", { href: `#experiment-${k + 1}` }, experiment.nav));
});
