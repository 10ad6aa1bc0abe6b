// The script of every page that fastrank writes. Data reach the page as text only: nothing here
// parses markup, and the content security policy of the page allows no other script.
"use strict";

// Tables are sorted by a click on a header, first with the largest numbers at the top.
function sortable(table) {
  const headers = [...table.tHead.rows[0].cells].filter((own) => own.textContent.trim());
  headers.forEach((header) => {
    const column = header.cellIndex;
    const button = element("button", { type: "button", className: "plain" }, ...header.childNodes);
    header.replaceChildren(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const numbers = [...table.tBodies[0].rows].some((row) => !isNaN(sortValue(row, column)));
      const orders = numbers ? ["descending", "ascending"] : ["ascending", "descending"];
      const order = orders[header.getAttribute("aria-sort") === orders[0] ? 1 : 0];
      headers.forEach((one) => one.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", order);
      sortRows(table, column, order === "ascending" ? 1 : -1);
    });
  });
}

// The number in a cell; NaN for other texts and empty cells.
function sortValue(row, column) {
  const text = row.cells[column].firstChild?.textContent ?? "";
  return text.trim() === "" ? NaN : Number(text.replaceAll(",", ""));
}

// Cells without a number come last in either order; equal rows keep their order.
function sortRows(table, column, sign) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [
    row, sortValue(row, column), row.cells[column].textContent,
  ]);
  rows.sort(([, one, text], [, other, otherText]) => {
    if (isNaN(one) !== isNaN(other)) return isNaN(one) ? 1 : -1;
    return sign * (isNaN(one) ? text.localeCompare(otherText, "en", { numeric: true }) : one - other);
  });
  body.append(...rows.map(([row]) => row));
}

const MIN_ROWS = 3;
for (const table of document.querySelectorAll("table.fastrank")) {
  if (table.tBodies[0].rows.length >= MIN_ROWS) sortable(table);
}

// Text, shown as it is: escapes for control characters, for marks that change the direction of
// their neighbours, and for bytes that are not UTF-8. `lines` keeps line ends.
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

function visible(text, lines = false) {
  return text.replace(/\p{Zs}/gu, " ").replace(HIDDEN, (found) => {
    if (lines && (found === "\n" || found === "\t")) return found;
    return `\\u{${found.codePointAt(0).toString(16)}}`;
  });
}

// An element with properties or, if these have a hyphen, attributes; and children, which are elements
// or text.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

function drawing(tag, values) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(values)) made.setAttribute(name, value);
  return made;
}

// A name or an id, in whatever script, without effect on the direction of its neighbours.
function isolated(text) {
  return element("bdi", {}, visible(text));
}

function decimals(value, signed = false) {
  if (value === null || value === undefined) return "–";
  const text = Math.abs(value).toFixed(4);
  const sign = value < 0 && Number(text) !== 0 ? "-" : signed && Number(text) !== 0 ? "+" : "";
  return sign + text;
}

const unpacked = new Map();

// The content of a chunk.
function unpack(name) {
  if (!unpacked.has(name)) unpacked.set(name, inflate(embedded(name)));
  return unpacked.get(name);
}

async function inflate(content) {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Data of the page; null if it has none of that name.
function embedded(name) {
  return JSON.parse(document.getElementById(name)?.textContent ?? "null");
}

// The part that an item is in. starts: the number of the first item of each.
function placeOf(starts, item) {
  return starts.findLastIndex((start) => start <= item);
}

// Lists of at most so many queries are whole; longer ones have the rows in view and those around.
const SHORT_LIST = 200;
const AROUND = 10;

// The inspector: queries on the left, the results of the runs side by side on the right.
class Inspector {
  constructor(data) {
    this.data = data;
    this.several = data.runs.length > 1;
    // The number of each word that names a query, a run or a measure in the address.
    this.queryOf = new Map(data.queries.map((query, place) => [visible(query), place]));
    this.grades = new Grades(data);
    // What the address leaves out.
    this.defaults = {
      measure: data.measures[0], order: "difference", text: "", sign: "", group: "", unjudged: 0,
    };
    this.state = this.fromAddress();
    this.build();
    this.refresh();
    this.select(this.state.query ?? this.order[0] ?? null, "replace");
    addEventListener("popstate", () => this.fromHistory());
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.join()).observe(this.results);
  }

  // State and address

  fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const runs = this.data.runs.map((run) => visible(run));
    const run = (name, other) => (runs.includes(given.get(name)) ? runs.indexOf(given.get(name)) : other);
    const a = run("a", 0);
    const shown = given.getAll("run").map((name) => runs.indexOf(name)).filter((place) => place >= 0);
    const state = {
      query: this.queryOf.get(given.get("query")),
      a, b: run("b", this.several ? (a === 1 ? 0 : 1) : 0),
      also: new Set(shown),
    };
    for (const name of Object.keys(this.defaults)) state[name] = given.get(name) ?? this.defaults[name];
    if (!this.data.measures.includes(state.measure)) state.measure = this.defaults.measure;
    state.unjudged = Number(state.unjudged) || 0;
    return state;
  }

  address() {
    const { state, data } = this;
    const found = new URLSearchParams();
    if (state.query !== null && state.query !== undefined) {
      found.set("query", visible(data.queries[state.query]));
    }
    if (state.a !== 0) found.set("a", visible(data.runs[state.a]));
    if (this.several && state.b !== 1) found.set("b", visible(data.runs[state.b]));
    for (const run of state.also) found.append("run", visible(data.runs[run]));
    for (const [name, value] of Object.entries(this.defaults)) {
      if (state[name] !== value) found.set(name, state[name]);
    }
    return `#${found}`;
  }

  fromHistory() {
    if (this.address() === location.hash) return;
    this.state = this.fromAddress();
    this.fillControls();
    this.refresh();
    this.select(this.state.query ?? this.order[0] ?? null, "");
  }

  changed(name, value) {
    this.state[name] = value;
    this.refresh();
    this.select(this.state.query, "replace");
  }

  // Building

  build() {
    const { data } = this;
    const main = document.querySelector("main");
    this.controls = {};
    const choice = (name, label, names, read = (value) => value) => {
      const options = names.map(([value, shown]) => element("option", { value }, shown));
      const made = element("select", { id: `choose-${name}` }, ...options);
      made.addEventListener("change", () => this.changed(name, read(made.value)));
      this.controls[name] = made;
      return element("label", {}, `${label} `, made);
    };
    const runs = data.runs.map((run, place) => [place, visible(run)]);
    const measures = choice("measure", "Measure", data.measures.map((own) => [own, own]));
    const bar = element("div", { className: "controls" }, measures);
    if (data.runs.length > 2) {
      bar.append(choice("a", "First", runs, Number), choice("b", "Second", runs, Number));
      this.also = element("fieldset", {}, element("legend", {}, "Also show"));
      data.runs.forEach((run, place) => {
        const box = element("input", { type: "checkbox" });
        box.addEventListener("change", () => {
          if (box.checked) this.state.also.add(place);
          else this.state.also.delete(place);
          this.select(this.state.query, "replace");
        });
        this.also.append(element("label", { className: "check" }, box, isolated(run)));
      });
      bar.append(this.also);
    }
    main.querySelector("h1").after(bar);
    this.sentence = element("p", { className: "pair-sentence" });
    main.querySelector(".verdicts").append(this.sentence);

    const orders = [["difference", "largest difference"]];
    if (this.several) orders.push(["first", "first run better"], ["second", "second run better"]);
    orders.push(["high", "highest value"], ["low", "lowest value"], ["query", "query"]);
    if (!this.several) orders.shift();
    const text = element("input", { type: "search", id: "choose-text", placeholder: "id or words" });
    text.addEventListener("input", () => this.changed("text", text.value));
    this.controls.text = text;
    const find = element("label", { className: "grow" }, "Find ", text);
    const filters = element("div", { className: "filters" }, find, choice("order", "Order", orders));
    if (this.several) {
      filters.append(choice("sign", "Show", [
        ["", "all"], ["+", "first better"], ["-", "second better"], ["=", "equal"],
      ]));
    }
    const groups = [...new Set(data.groups.filter((group) => group !== null))].sort();
    if (groups.length) {
      filters.append(choice("group", "Group", [["", "all"], ...groups.map((own) => [own, visible(own)])]));
    }
    const tops = [1, 3, 5, 10, 20, 50, 100].filter((top) => top < data.k);
    filters.append(choice("unjudged", "Unjudged", [
      [0, "any"], ...[...tops, data.k].map((top) => [top, `some in the top ${top}`]),
    ], Number));
    this.summary = element("p", { className: "soft summary", "aria-live": "polite" });
    this.list = element("ol", { className: "queries", "aria-label": "Queries" });
    this.head = element("div", { className: "head" });
    this.frame = element("div", { className: "scrolled" }, this.list);
    this.frame.addEventListener("scroll", () => this.fillList());
    this.list.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.select(Number(link.dataset.place), "push");
      if (matchMedia("(max-width: 60rem)").matches) this.results.scrollIntoView();
    });
    const side = element("nav", { className: "side", "aria-label": "Queries" },
      filters, this.summary, this.head, this.frame);
    this.results = element("section", { className: "results" });
    const panes = element("div", { className: "panes" }, side, this.results);
    const hasTexts = data.texts.some(Boolean);
    panes.classList.toggle("single", !this.several);
    panes.classList.toggle("with-texts", hasTexts);
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.rowHeight = rem * (hasTexts ? 2.9 : 1.9);
    main.append(panes);
    this.fillControls();
  }

  fillControls() {
    for (const [name, control] of Object.entries(this.controls)) {
      control.value = this.state[name];
      // What an address names and the page does not have.
      if (control.value === "" && this.state[name] !== "") {
        control.selectedIndex = 0;
        this.state[name] = typeof this.state[name] === "number" ? Number(control.value) : control.value;
      }
    }
    this.also?.querySelectorAll("input").forEach((box, place) => {
      box.checked = this.state.also.has(place);
    });
  }

  queryRow(place, position) {
    const { data, state, several } = this;
    const { a, b, difference } = this.found[place];
    const id = data.queries[place];
    const href = `#${new URLSearchParams({ query: visible(id) })}`;
    const name = element("span", { className: "query" }, isolated(id));
    const link = element("a", { href, tabIndex: place === this.entry ? 0 : -1 }, name);
    link.dataset.place = place;
    if (place === state.query) link.setAttribute("aria-current", "true");
    if (data.texts[place]) {
      link.append(element("span", { className: "text", dir: "auto" }, visible(data.texts[place])));
    }
    const number = (text, kind = "") => element("span", { className: `number ${kind}` }, text);
    const better = several ? this.isBetter(difference ?? 0) : 1;
    const share = 50 * Math.abs((several ? difference : a) ?? 0) / this.width;
    const bar = element("span", { className: better > 0 ? "up" : "down" });
    bar.style.width = `${several ? share : 2 * share}%`;
    link.append(number(decimals(a)));
    if (several) {
      const kind = ["worse", "", "better"][better + 1];
      link.append(number(decimals(b)), number(decimals(difference, true), kind));
      bar.style.marginLeft = `${difference < 0 ? 50 - share : 50}%`;
    }
    link.append(element("span", { className: "bar" }, bar));
    // What a reader of the screen cannot count, because long lists have only the rows around.
    const counts = { "aria-setsize": this.order.length, "aria-posinset": position + 1 };
    return element("li", counts, link);
  }

  // The list of queries

  valuesOf(place) {
    const values = this.data.values[this.state.measure];
    const a = values[this.state.a][place];
    const b = values[this.state.b][place];
    // Without the rounding of subtractions, equal differences are equal.
    const difference = a === null || b === null ? null : Math.round((a - b) * 1e6) / 1e6;
    return { a, b, difference };
  }

  isBetter(difference) {
    const sign = this.data.lower.includes(this.state.measure) ? -1 : 1;
    return Math.sign(difference) * sign;
  }

  // Shows the values of the chosen measure and runs, and the queries of the filters, in order.
  refresh() {
    const { state, data } = this;
    const found = data.queries.map((_, place) => ({ place, ...this.valuesOf(place) }));
    const sizes = found.map((own) => Math.abs((this.several ? own.difference : own.a) ?? 0));
    this.found = found;
    this.width = Math.max(...sizes, this.several ? 1e-9 : 1);
    this.version = (this.version ?? 0) + 1;
    const kept = found.filter((own) => this.passes(own));
    kept.sort(this.comparison());
    this.order = kept.map((own) => own.place);
    this.describe(kept);
    const header = (text, title) => element("span", { className: "number", title }, text);
    const names = (this.several ? [state.a, state.b] : [state.a])
      .map((run) => header(data.short[run], visible(data.runs[run])));
    if (this.several) names.push(header("diff", "difference"));
    this.head.replaceChildren(element("span", {}, "query"), ...names, element("span"));
    this.also?.querySelectorAll("label").forEach((label, run) => {
      label.hidden = run === state.a || run === state.b;
    });
    for (const section of document.querySelectorAll(".verdict")) {
      section.hidden = section.dataset.measure !== state.measure;
    }
    this.sentence.textContent = data.pairs[state.measure]?.[state.a]?.[state.b] ?? "";
    if (this.sentence.textContent) {
      this.sentence.prepend(isolated(data.runs[state.a]), " - ", isolated(data.runs[state.b]), ": ");
    }
  }

  // The rows of the list that are in view and around it; all of a short list.
  fillList() {
    const { frame, list, order } = this;
    const height = this.rowHeight;
    const whole = order.length <= SHORT_LIST;
    const first = whole ? 0 : Math.max(0, Math.floor(frame.scrollTop / height) - AROUND);
    const stop = whole ? order.length
      : Math.min(order.length, Math.ceil((frame.scrollTop + frame.clientHeight) / height) + AROUND);
    const key = `${this.version} ${this.state.query} ${first} ${stop}`;
    if (key === this.filled) return;
    this.filled = key;
    const shown = order.slice(first, stop);
    this.entry = shown.includes(this.state.query) ? this.state.query : shown[0];
    const focused = list.contains(document.activeElement);
    list.style.paddingTop = `${first * height}px`;
    list.style.paddingBottom = `${(order.length - stop) * height}px`;
    list.replaceChildren(...shown.map((place, at) => this.queryRow(place, first + at)));
    if (focused) list.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  }

  passes({ place, difference }) {
    const { state, data } = this;
    if (state.text) {
      const words = state.text.toLowerCase();
      const text = `${visible(data.queries[place])} ${data.texts[place]}`.toLowerCase();
      if (!text.includes(words)) return false;
    }
    if (state.group && data.groups[place] !== state.group) return false;
    if (state.sign) {
      const better = difference === null ? NaN : this.isBetter(difference);
      if (better !== { "+": 1, "-": -1, "=": 0 }[state.sign]) return false;
    }
    if (!state.unjudged) return true;
    return this.shownRuns().some((run) => {
      const rank = data.unjudged[run][place];
      return rank > 0 && rank <= state.unjudged;
    });
  }

  comparison() {
    const { order, measure } = this.state;
    const sign = this.data.lower.includes(measure) ? -1 : 1;
    const keys = {
      difference: (own) => -Math.abs(own.difference),
      first: (own) => -sign * own.difference,
      second: (own) => sign * own.difference,
      high: (own) => -Math.max(own.a ?? -Infinity, own.b ?? -Infinity),
      low: (own) => Math.min(own.a ?? Infinity, own.b ?? Infinity),
      query: (own) => own.place,
    };
    const key = keys[order] ?? keys.query;
    const missing = (own) => own.difference === null && ["difference", "second", "first"].includes(order);
    return (one, other) =>
      missing(one) - missing(other) || key(one) - key(other) || one.place - other.place;
  }

  describe(kept) {
    const all = this.data.queries.length;
    const count = (number) => number.toLocaleString("en");
    const queries = kept.length === all ? count(all) : `${count(kept.length)} of ${count(all)}`;
    let text = `${queries} ${all === 1 ? "query" : "queries"}`;
    const known = kept.map((own) => (this.several ? own.difference : own.a)).filter((own) => own !== null);
    if (known.length) {
      const mean = known.reduce((sum, own) => sum + own, 0) / known.length;
      text += `, mean ${this.several ? "difference" : this.state.measure} ${decimals(mean, this.several)}`;
    }
    this.summary.textContent = text;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inForm = event.target.closest?.("input, select, textarea, summary");
    const fromText = event.target === this.controls.text && event.key === "ArrowDown";
    const inResults = this.results.contains(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
    if (!step || (inForm && !fromText)) return;
    if (inResults && event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const at = this.order.indexOf(this.state.query);
    const next = fromText && at < 0 ? 0 : Math.min(Math.max(at + step, 0), this.order.length - 1);
    if (!this.order.length) return;
    this.select(this.order[next], "replace");
    this.list.querySelector("[aria-current]")?.focus({ preventScroll: true });
  }

  // The results of a query

  select(query, history) {
    this.state.query = query;
    this.reveal(this.order.indexOf(query));
    this.fillList();
    const address = this.address();
    if (history && address !== location.hash) window.history[`${history}State`](null, "", address);
    return this.show(history);
  }

  // Scrolls the list, not the page, to a position.
  reveal(position) {
    if (position < 0) return;
    const { frame, rowHeight } = this;
    const [top, bottom] = [position * rowHeight, (position + 1) * rowHeight];
    // A new list is not as high as its rows yet.
    if (this.list.scrollHeight < bottom) this.fillList();
    if (top < frame.scrollTop) frame.scrollTop = top;
    else if (bottom > frame.scrollTop + frame.clientHeight) frame.scrollTop = bottom - frame.clientHeight;
  }

  shownRuns() {
    const { a, b, also } = this.state;
    const others = [...also].filter((run) => run !== a && run !== b).sort((one, other) => one - other);
    return [...new Set([a, b, ...others])];
  }

  async show(history) {
    const { query } = this.state;
    if (query === null || query === undefined) {
      this.results.replaceChildren(element("p", {}, "No query has all of these properties."));
      return;
    }
    const { data } = this;
    const part = placeOf(data.parts, query);
    if (part !== data.part) {
      // Another page of the folder has the results.
      const page = `queries-${part + 1}.html${this.address()}`;
      if (history === "push") location.assign(page);
      else location.replace(page);
      return;
    }
    const results = await this.read(query);
    if (this.state.query !== query) return;
    this.shown = results;
    this.results.replaceChildren(...this.content(results));
    this.join();
  }

  // The results of a query, with the texts of its documents.
  async read(query) {
    const { chunks, parts, part } = this.data;
    const place = query - parts[part];
    const chunk = placeOf(chunks.results, place);
    const [numbers, grades, ranks, scores, adds, retrieved, missed] =
      (await unpack(`results-${chunk}`))[place - chunks.results[chunk]];
    const documents = await Promise.all(numbers.map(async (number) => {
      const own = placeOf(chunks.documents, number);
      return (await unpack(`documents-${own}`))[number - chunks.documents[own]];
    }));
    return { query, documents, grades, ranks, scores, adds, retrieved, missed };
  }

  content(results) {
    const { data } = this;
    const { query } = results;
    const runs = this.shownRuns();
    const heading = element("h2", {}, isolated(data.queries[query]));
    if (data.texts[query]) {
      heading.append(" ", element("span", { dir: "auto" }, visible(data.texts[query])));
    }
    const top = element("div", { className: "query-head" }, heading);
    if (data.groups[query] !== null) top.append(element("p", { className: "soft" }, `group ${visible(data.groups[query])}`));
    this.words = wordsOf(data.texts[query]);
    this.columns = runs.map((run, column) => this.column(results, run, runs[column ? 0 : 1] ?? run));
    const sides = element("div", { className: "columns" });
    this.columns.forEach((column, place) => {
      if (place) sides.append(drawing("svg", { class: "joins", "aria-hidden": "true" }));
      sides.append(column);
    });
    for (const kind of ["mouseover", "focusin"]) {
      sides.addEventListener(kind, (event) => this.point(event.target.closest(".hit")?.dataset.place));
    }
    sides.addEventListener("mouseleave", () => this.point());
    const below = [this.missed(results, runs), this.legend(runs), this.grades.panel()];
    return [top, sides, ...below].filter(Boolean);
  }

  column(results, run, other) {
    const { data } = this;
    const value = data.values[this.state.measure][run][results.query];
    const places = results.ranks[run]
      .map((rank, place) => [rank, place])
      .filter(([rank]) => rank > 0 && rank <= data.k)
      .sort(([one], [next]) => one - next);
    const title = element("h3", {}, isolated(data.runs[run]));
    const count = results.retrieved[run].toLocaleString("en");
    const about = element("p", { className: "soft" },
      `${this.state.measure} ${decimals(value)}, ${count} ${results.retrieved[run] === 1 ? "result" : "results"}`);
    const list = element("ol", { className: "hits" });
    list.append(...places.map(([rank, place]) => this.hit(results, run, other, rank, place)));
    if (!places.length) list.append(element("li", { className: "soft" }, "no results"));
    const column = element("div", { className: "column" }, element("header", {}, title, about), list);
    column.dataset.line = data.lines[run];
    column.style.setProperty("--system", data.colors[run]);
    return column;
  }

  hit(results, run, other, rank, place) {
    const grade = results.grades[place];
    const kind = this.kind(grade);
    const made = element("li", { className: `hit ${kind}` });
    made.dataset.place = place;
    const number = element("span", { className: "number rank" }, rank === null ? "" : String(rank));
    made.append(number, this.badge(results, place), this.name(results, place));
    if (rank !== null) {
      const add = this.shareOf(results, run, place);
      const text = add ? decimals(add, true) : add === 0 && kind !== "open" && kind !== "zero" ? "0" : "";
      const adds = element("span", { className: add ? "number adds" : "number adds soft" }, text);
      if (add !== null) adds.title = `adds ${add} to ${this.state.measure}`;
      const facts = element("span", { className: "facts" });
      if (run !== other) facts.append(this.moved(results, rank, other, place));
      facts.append(adds);
      made.append(facts);
    }
    return made;
  }

  kind(grade) {
    if (grade === null) return "open";
    if (grade < this.data.level) return "zero";
    const levels = this.data.grades.filter((own) => own >= this.data.level);
    return levels.length > 1 && grade === levels[0] ? "low" : "high";
  }

  // The grade as a sign and a number; a choice for unjudged documents.
  badge(results, place) {
    const grade = results.grades[place];
    if (grade === null) return this.grades.choice(results.query, results.documents[place][0]);
    const relevant = grade >= this.data.level;
    const made = element("span", { className: "badge" }, `${relevant ? "✓" : "✗"} ${grade}`);
    made.title = `grade ${grade}, ${relevant ? "relevant" : "not relevant"}`;
    return made;
  }

  // What the document adds to the chosen measure in a run; null if that is not known.
  shareOf(results, run, place) {
    const measure = this.data.adds.indexOf(this.state.measure);
    return measure < 0 ? null : results.adds[measure][run][place] ?? 0;
  }

  moved(results, rank, other, place) {
    const before = results.ranks[other][place];
    const name = visible(this.data.runs[other]);
    const step = before ? before - rank : 0;
    const text = !before ? "only here" : !step ? "=" : step > 0 ? `▲ ${step}` : `▼ ${-step}`;
    // A document that is not relevant is no gain where it is higher.
    const grade = results.grades[place];
    const relevant = grade !== null && grade >= this.data.level;
    const kind = !step || !relevant ? "" : step > 0 ? "better" : "worse";
    const title = before ? `rank ${before} of ${name}` : `not retrieved by ${name}`;
    return element("span", { className: `number moved ${kind}`, title }, text);
  }

  // Title or id and the first words, which open to the whole text and what is known otherwise.
  name(results, place) {
    const [id, title, text] = results.documents[place];
    const made = element("div", { className: "document" });
    const button = element("button", { type: "button", className: "plain name" });
    const shown = title && element("span", { dir: "auto" }, ...marked(title, this.words));
    button.append(shown || isolated(id));
    button.setAttribute("aria-expanded", "false");
    const headline = element("span", { className: "headline" }, button);
    made.append(headline);
    if (title) headline.append(" ", element("span", { className: "id" }, isolated(id)));
    const snippet = element("p", { className: "snippet", dir: "auto" });
    snippet.append(...marked(cut(text ?? ""), this.words));
    if (text) made.append(snippet);
    let whole = null;
    button.addEventListener("click", () => {
      whole ??= this.details(results, place);
      const open = !whole.isConnected;
      if (open) made.closest(".hit").append(whole);
      else whole.remove();
      snippet.hidden = open;
      button.setAttribute("aria-expanded", String(open));
      this.join();
    });
    return made;
  }

  details(results, place) {
    const { data } = this;
    const [, , text] = results.documents[place];
    const made = element("div", { className: "whole" });
    if (text) {
      const shown = element("p", { className: "full-text", dir: "auto" });
      shown.append(...marked(text, this.words, true));
      shown.tabIndex = 0;
      made.append(shown);
    } else if (text === undefined) {
      made.append(element("p", { className: "soft" }, "This document has no text here."));
    }
    data.runs.forEach((name, run) => {
      const [rank, score] = [results.ranks[run][place], results.scores[run][place]];
      const facts = [rank ? `rank ${rank}` : "not found"];
      if (score !== null) facts.push(`score ${score}`);
      data.adds.forEach((measure, at) => {
        const add = results.adds[at][run][place];
        if (add) facts.push(`${measure} ${decimals(add, true)}`);
      });
      made.append(element("p", { className: "soft" }, isolated(name), `: ${facts.join(", ")}`));
    });
    return made;
  }

  // What the marks mean, of those that the page has.
  legend(runs) {
    const marks = [["✓ ✗", "relevant, not relevant, with the grade"], ["?", "unjudged"]];
    if (runs.length > 1) {
      marks.push(
        ["▲ ▼", "so many ranks higher or lower than in the other run; colored if relevant"],
        ["=", "the same rank"], ["only here", "not retrieved by the other run"],
        ["lines", "join the ranks of a document; thick ones of relevant, dashed ones of unjudged"],
      );
    }
    if (this.data.adds.includes(this.state.measure)) {
      marks.push(["numbers", `what the document adds to ${this.state.measure}`]);
    }
    const items = marks.map(([mark, text]) => element("li", {}, element("b", {}, mark), ` ${text}`));
    const summary = element("summary", {}, "Marks");
    return element("details", { className: "marks" }, summary, element("ul", {}, ...items));
  }

  // The relevant documents that no shown run has among its first results.
  missed(results, runs) {
    const { data } = this;
    const lacks = (run, place) => !results.ranks[run][place] || results.ranks[run][place] > data.k;
    const relevant = [...results.documents.keys()]
      .filter((place) => results.grades[place] !== null && results.grades[place] >= data.level);
    const places = relevant.filter((place) => runs.every((run) => lacks(run, place)));
    if (!places.length) return null;
    const listed = relevant.filter((place) => data.runs.every((_, run) => lacks(run, place)));
    const count = places.length + results.missed - listed.length;
    const title = `${count} relevant ${count === 1 ? "document" : "documents"} not in the top ${data.k}`;
    const list = element("ol", { className: "hits" });
    for (const place of places) {
      const made = this.hit(results, runs[0], runs[0], null, place);
      const where = runs.map((run) => {
        const rank = results.ranks[run][place];
        const name = runs.length > 1 ? `${visible(data.runs[run])}: ` : "";
        return `${name}${rank ? `rank ${rank}` : "not found"}`;
      });
      made.querySelector(".document").append(element("span", { className: "soft where" }, where.join(", ")));
      list.append(made);
    }
    const section = element("section", { className: "missed" }, element("h3", {}, title), list);
    if (count > places.length) {
      section.append(element("p", { className: "soft" }, `${count - places.length} more are not listed.`));
    }
    return section;
  }

  // Lines

  // Draws the lines between neighbouring columns that join the same document.
  join() {
    for (const lines of this.results.querySelectorAll(".joins")) {
      const frame = lines.getBoundingClientRect();
      lines.replaceChildren();
      if (!frame.width) continue;
      const right = rowsByPlace(lines.nextElementSibling);
      for (const [place, row] of rowsByPlace(lines.previousElementSibling)) {
        const other = right.get(place);
        if (!other) continue;
        const [y1, y2] = [row, other].map((own) => {
          const box = own.getBoundingClientRect();
          return box.top + Math.min(box.height / 2, 18) - frame.top;
        });
        const half = frame.width / 2;
        lines.append(drawing("path", {
          d: `M0 ${y1} C${half} ${y1} ${half} ${y2} ${frame.width} ${y2}`,
          class: row.className.replace("hit", "join"), "data-place": place,
        }));
      }
    }
  }

  // Marks a document in all columns.
  point(place) {
    for (const own of this.results.querySelectorAll(".pointed")) own.classList.remove("pointed");
    if (place === undefined) return;
    for (const own of this.results.querySelectorAll(`[data-place="${place}"]`)) own.classList.add("pointed");
  }
}

function rowsByPlace(column) {
  return new Map([...column.querySelectorAll(".hit")].map((row) => [row.dataset.place, row]));
}

// Words

const SNIPPET = 280;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

// Words that say nothing of what is looked for.
const COMMON = new Set(
  ("a an and any are as at be by can do does for from has have how i in is it its not of on or that"
    + " the their these this to was were what when where which who will with you").split(" "),
);

function wordsOf(text) {
  const found = [...segmenter.segment(text)].filter((own) => own.isWordLike);
  return new Set(found.map((own) => own.segment.toLowerCase()).filter((word) => !COMMON.has(word)));
}

function cut(text) {
  const words = text.slice(0, 2 * SNIPPET).replace(/\s+/g, " ");
  return words.length > SNIPPET ? `${words.slice(0, SNIPPET).toWellFormed()}…` : words;
}

// Text in pieces, of which the words are `mark` elements.
function marked(text, words, lines = false) {
  if (!words.size) return [visible(text, lines)];
  const pieces = [""];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike && words.has(segment.toLowerCase())) {
      pieces.push(element("mark", {}, visible(segment)), "");
    } else {
      pieces[pieces.length - 1] += visible(segment, lines);
    }
  }
  return pieces;
}

// The grades that a reader gives to unjudged documents: kept in this browser, sent nowhere.
class Grades {
  constructor(data) {
    this.data = data;
    this.key = `fastrank-grades-${data.key}`;
    this.options = [...new Set([0, 1, ...data.grades])].sort((one, other) => one - other);
    this.given = new Map(this.stored(() => JSON.parse(localStorage.getItem(this.key))) ?? []);
  }

  // Where the browser keeps nothing for files, grades last as long as the page.
  stored(access) {
    try {
      return access();
    } catch (error) {
      console.info(`grades are not kept: ${error.message}`);
      return null;
    }
  }

  choice(query, doc) {
    const id = this.data.queries[query];
    const made = element("select", {
      className: "badge", title: "unjudged: choose a grade",
      "aria-label": `Grade of ${visible(doc)}, unjudged`,
    });
    made.append(element("option", { value: "" }, "?"));
    made.append(...this.options.map((grade) => element("option", { value: grade }, String(grade))));
    const name = JSON.stringify([id, doc]);
    made.value = this.given.get(name) ?? "";
    if ([id, doc].some((own) => /\s/u.test(own) || own === "")) {
      made.disabled = true;
      made.title = "unjudged; an id with white space cannot be in a line of qrels";
    }
    made.addEventListener("change", () => {
      if (made.value === "") this.given.delete(name);
      else this.given.set(name, made.value);
      // The choices for the same document in the other columns.
      for (const own of document.querySelectorAll("select.badge")) {
        if (own.dataset.name === name) own.value = made.value;
      }
      this.keep();
    });
    made.dataset.name = name;
    return made;
  }

  keep() {
    this.stored(() => localStorage.setItem(this.key, JSON.stringify([...this.given])));
    this.fillPanel();
  }

  panel() {
    this.button = element("button", { type: "button" });
    this.button.addEventListener("click", () => this.download());
    this.clear = element("button", { type: "button" }, "Remove them");
    this.clear.addEventListener("click", () => {
      this.given.clear();
      for (const own of document.querySelectorAll("select.badge")) own.value = "";
      this.keep();
    });
    this.fillPanel();
    const words = "Choose a grade at ? for documents without a judgment. Grades stay in this browser.";
    const about = element("p", { className: "soft" }, words);
    return element("section", { className: "grading" }, about, this.button, " ", this.clear);
  }

  fillPanel() {
    const count = this.given.size;
    const grades = `${count} ${count === 1 ? "grade" : "grades"}`;
    this.button.textContent = count ? `Download ${grades} as qrels` : "Download grades";
    this.button.disabled = this.clear.disabled = !count;
  }

  download() {
    const lines = [...this.given].map(([name, grade]) => {
      const [query, document] = JSON.parse(name);
      return `${query} 0 ${document} ${grade}\n`;
    });
    const address = URL.createObjectURL(new Blob(bytesOf(lines.join("")), { type: "text/plain" }));
    element("a", { href: address, download: "grades.qrels" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}

// Text as UTF-8; a lone surrogate from U+DC80 on stands for a byte of an id that is not UTF-8.
function bytesOf(text) {
  const pieces = text.split(/([\udc80-\udcff])/u);
  return pieces.map((piece, place) =>
    place % 2 ? new Uint8Array([piece.charCodeAt(0) - 0xdc00]) : piece);
}

if (document.getElementById("inspection")) new Inspector(embedded("inspection"));
