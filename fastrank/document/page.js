// The script of every page that fastrank writes. Data reach the page as text only: nothing here
// parses markup, and the content security policy of the page allows no other script.
"use strict";

// Tables are sorted by a click on a header, first with the largest numbers at the top.
function sortable(table) {
  const headers = [...table.tHead.rows[0].cells].filter((own) => own.textContent.trim());
  headers.forEach((header) => {
    const column = header.cellIndex;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.replaceChildren(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const before = header.getAttribute("aria-sort");
      const numbers = [...table.tBodies[0].rows].some((row) => !isNaN(sortValue(row, column)));
      const first = numbers ? "descending" : "ascending";
      const other = numbers ? "ascending" : "descending";
      const order = before === first ? other : first;
      headers.forEach((one) => one.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", order);
      sortRows(table, column, order === "ascending" ? 1 : -1);
    });
  });
}

// The number in a cell: its `data-value`, or else its text; NaN for other texts and empty cells.
function sortValue(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.firstChild?.textContent ?? "";
  return text.trim() === "" ? NaN : Number(text.replaceAll(",", "").replace("−", "-"));
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

// Above tables of class `filtered`: a search among their rows and, if the columns belong to types,
// a choice of one.
function filtered(box) {
  const rows = [...box.querySelectorAll("tbody tr")];
  const bar = document.createElement("div");
  bar.className = "filters";
  const search = document.createElement("input");
  search.type = "search";
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => {
      const name = row.querySelector("th").textContent.toLowerCase();
      row.hidden = !words.every((word) => name.includes(word));
    });
  });
  bar.append(labelled("Systems", search));
  const columns = document.getElementById("board") ? embedded("board").columns : [];
  const types = [...new Set(columns.filter((type) => type))];
  if (types.length) {
    const choice = document.createElement("select");
    choice.append(...["all", ...types].map((type) => new Option(type, type)));
    choice.addEventListener("change", () => {
      const all = choice.selectedIndex === 0;
      for (const row of box.querySelectorAll("tr")) {
        columns.forEach((type, place) => {
          row.cells[place].hidden = type !== "" && !all && type !== choice.value;
        });
      }
    });
    bar.append(labelled("Data sets", choice));
  }
  box.before(bar);
}

function labelled(text, field) {
  const label = document.createElement("label");
  label.append(`${text} `, field);
  return label;
}

document.querySelectorAll(".filtered").forEach(filtered);

// Text, shown as it is: escapes for control characters, for marks that change the direction of
// their neighbours, and for bytes that are not UTF-8. `lines` keeps line ends.
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

function visible(text, lines = false) {
  return text.replace(/\p{Zs}/gu, " ").replace(HIDDEN, (found) => {
    if (lines && (found === "\n" || found === "\t")) return found;
    return `\\u{${found.codePointAt(0).toString(16)}}`;
  });
}

// An element with properties and children, which are elements or text.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function attributes(made, values) {
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
  const sign = value < 0 && Number(text) !== 0 ? "−" : signed && Number(text) !== 0 ? "+" : "";
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

function embedded(name) {
  return JSON.parse(document.getElementById(name).textContent);
}

// The last place in an ascending array whose number is at most `wanted`.
function placeOf(starts, wanted) {
  let low = 0;
  for (let high = starts.length - 1; low < high;) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
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
    this.state = this.fromAddress();
    this.build();
    this.refresh();
    this.select(this.state.query ?? this.order[0] ?? null, "replace");
    addEventListener("popstate", () => this.fromHistory());
    addEventListener("hashchange", () => this.fromHistory());
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.join()).observe(this.results);
  }

  // State and address

  fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const runs = this.data.runs.map((run) => visible(run));
    const run = (name, other) => (runs.includes(given.get(name)) ? runs.indexOf(given.get(name)) : other);
    const measure = this.data.measures.indexOf(given.get("measure"));
    const a = run("a", 0);
    const b = run("b", this.several ? (a === 1 ? 0 : 1) : 0);
    const shown = given.getAll("run").map((name) => runs.indexOf(name)).filter((place) => place >= 0);
    return {
      query: this.queryOf.get(given.get("query")),
      measure: this.data.measures[Math.max(measure, 0)],
      a, b,
      also: new Set(shown),
      order: given.get("order") ?? "difference",
      text: given.get("text") ?? "",
      sign: given.get("sign") ?? "",
      group: given.get("group") ?? "",
      unjudged: Number(given.get("unjudged")) || 0,
    };
  }

  address() {
    const { state, data } = this;
    const found = new URLSearchParams();
    if (state.query !== null && state.query !== undefined) {
      found.set("query", visible(data.queries[state.query]));
    }
    if (state.measure !== data.measures[0]) found.set("measure", state.measure);
    if (state.a !== 0) found.set("a", visible(data.runs[state.a]));
    if (this.several && state.b !== 1) found.set("b", visible(data.runs[state.b]));
    for (const run of state.also) found.append("run", visible(data.runs[run]));
    if (state.order !== "difference") found.set("order", state.order);
    for (const name of ["text", "sign", "group", "unjudged"]) {
      if (state[name]) found.set(name, state[name]);
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
    const options = (names) => names.map(([value, label]) => element("option", { value }, label));
    const choice = (name, label, names, read = (value) => value) => {
      const made = element("select", { id: `choose-${name}` }, ...options(names));
      made.addEventListener("change", () => this.changed(name, read(made.value)));
      this.controls[name] = made;
      return element("label", {}, `${label} `, made);
    };
    const runs = data.runs.map((run, place) => [place, visible(run)]);
    const bar = element("div", { className: "controls" });
    bar.append(choice("measure", "Measure", data.measures.map((own) => [own, own])));
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

    const [a, b] = ["first", "second"];
    const orders = [["difference", "largest difference"]];
    if (this.several) orders.push(["second", "second run better"], ["first", "first run better"]);
    orders.push(["high", "highest value"], ["low", "lowest value"], ["query", "query"]);
    if (!this.several) orders.shift();
    const text = element("input", { type: "search", id: "choose-text", placeholder: "id or words" });
    text.addEventListener("input", () => this.changed("text", text.value));
    this.controls.text = text;
    const filters = element("div", { className: "filters" });
    filters.append(
      element("label", { className: "grow" }, "Find ", text),
      choice("order", "Order", orders),
    );
    if (this.several) {
      filters.append(choice("sign", "Show", [
        ["", "all"], ["+", `${b} better`], ["-", `${a} better`], ["=", "equal"],
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
    this.summary = attributes(element("p", { className: "soft summary" }), { "aria-live": "polite" });
    this.list = element("ol", { className: "queries" });
    attributes(this.list, { "aria-label": "Queries" });
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
    const side = element("nav", { className: "side" }, filters, this.summary, this.head, this.frame);
    side.setAttribute("aria-label", "Queries");
    this.results = element("section", { className: "results" });
    this.results.setAttribute("aria-live", "off");
    const panes = element("div", { className: "panes" }, side, this.results);
    panes.classList.toggle("single", !this.several);
    panes.classList.toggle("with-texts", data.texts.some(Boolean));
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.rowHeight = rem * (data.texts.some(Boolean) ? 2.9 : 1.9);
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
    const number = (text, kind) => element("span", { className: `number ${kind}` }, text);
    const bar = element("span");
    const share = Math.abs((several ? difference : a) ?? 0) / this.width;
    bar.style.width = `${several ? 50 * share : 100 * share}%`;
    link.append(number(decimals(a), "a"));
    if (several) {
      const better = this.isBetter(difference ?? 0);
      const kind = better > 0 ? "better" : better < 0 ? "worse" : "";
      link.append(number(decimals(b), "b"), number(decimals(difference, true), `difference ${kind}`));
      bar.className = better > 0 ? "up" : "down";
      bar.style.marginLeft = difference < 0 ? `${50 - 50 * share}%` : "50%";
    } else {
      bar.className = "up";
    }
    link.append(element("span", { className: "bar" }, bar));
    const row = element("li", {}, link);
    // What a reader of the screen cannot count, because long lists have only the rows around.
    return attributes(row, { "aria-setsize": this.order.length, "aria-posinset": position + 1 });
  }

  // The list of queries

  valuesOf(place) {
    const values = this.data.values[this.state.measure];
    const a = values[this.state.a][place];
    const b = values[this.state.b][place];
    // Without the rounding of subtractions, equal differences are equal.
    const difference = a === null || b === null ? null : Math.round((b - a) * 1e6) / 1e6;
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
    const header = (text, title = text) =>
      element("span", { className: "number", title: visible(title) }, visible(text));
    this.head.replaceChildren(element("span", {}, "query"));
    this.head.append(header(data.short[state.a], data.runs[state.a]));
    if (this.several) {
      this.head.append(header(data.short[state.b], data.runs[state.b]), header("diff", "difference"));
    }
    this.also?.querySelectorAll("label").forEach((label, run) => {
      label.hidden = run === state.a || run === state.b;
    });
    this.head.append(element("span"));
    for (const section of document.querySelectorAll(".verdict")) {
      section.hidden = section.dataset.measure !== state.measure;
    }
    this.sentence.textContent = data.pairs[state.measure]?.[state.a]?.[state.b] ?? "";
    if (this.sentence.textContent) {
      this.sentence.prepend(isolated(data.runs[state.b]), " − ", isolated(data.runs[state.a]), ": ");
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
      second: (own) => -sign * own.difference,
      first: (own) => sign * own.difference,
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
    const shares = this.data.adds.map((_, measure) => adds[measure].map((pairs) => {
      const found = new Map();
      for (let at = 0; at < pairs.length; at += 2) found.set(pairs[at], pairs[at + 1]);
      return found;
    }));
    return { query, documents, grades, ranks, scores, shares, retrieved, missed };
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
      if (place) {
        const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        sides.append(attributes(lines, { class: "joins", "aria-hidden": "true" }));
      }
      sides.append(column);
    });
    sides.style.setProperty("--columns", runs.length);
    for (const kind of ["mouseover", "focusin"]) {
      sides.addEventListener(kind, (event) => this.point(event.target.closest(".hit")?.dataset.place));
    }
    sides.addEventListener("mouseleave", () => this.point());
    return [top, sides, this.missed(results, runs), this.grades.panel()].filter(Boolean);
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
    column.dataset.color = run % 7;
    return column;
  }

  hit(results, run, other, rank, place) {
    const grade = results.grades[place];
    const kind = this.kind(grade);
    const made = element("li", { className: `hit ${kind}` });
    made.dataset.place = place;
    const number = element("span", { className: "rank" }, rank === null ? "" : String(rank));
    made.append(number, this.badge(results, place), this.name(results, place));
    if (rank !== null) {
      const add = this.shareOf(results, run, place);
      const text = add ? decimals(add, true) : add === 0 && kind !== "open" && kind !== "none" ? "0" : "";
      const adds = element("span", { className: add ? "adds" : "adds none" }, text);
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
    if (grade < this.data.level) return "none";
    const levels = this.data.grades.filter((own) => own >= this.data.level);
    return levels.length > 1 && grade === levels[0] ? "some" : "full";
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
    return measure < 0 ? null : results.shares[measure][run].get(place) ?? 0;
  }

  moved(results, rank, other, place) {
    const before = results.ranks[other][place];
    const name = visible(this.data.runs[other]);
    const made = element("span", { className: "moved" });
    if (!before) {
      made.title = `not retrieved by ${name}`;
      made.append("new");
      return made;
    }
    made.title = `rank ${before} of ${name}`;
    made.append(before === rank ? "=" : before > rank ? `▲ ${before - rank}` : `▼ ${rank - before}`);
    if (before !== rank) made.classList.add(before > rank ? "better" : "worse");
    return made;
  }

  // Title or id and the first words, which open to the whole text and what is known otherwise.
  name(results, place) {
    const [id, title, text] = results.documents[place];
    const made = element("div", { className: "document" });
    const button = element("button", { type: "button", className: "name" });
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
    const table = element("table");
    const cells = (tag, names) => names.map((name) => element(tag, { className: "number" }, name));
    const head = element("tr", {}, element("th", {}, "run"), ...cells("th", ["rank", "score", ...data.adds]));
    table.append(element("thead", {}, head));
    const body = element("tbody");
    data.runs.forEach((run, place_of_run) => {
      const rank = results.ranks[place_of_run][place];
      const score = results.scores[place_of_run][place];
      const adds = data.adds.map((_, measure) => {
        const add = results.shares[measure][place_of_run].get(place);
        return add ? decimals(add, true) : rank ? "0" : "";
      });
      const row = element("tr", {}, attributes(element("th", {}, isolated(run)), { scope: "row" }));
      row.append(...cells("td", [rank ? String(rank) : "–", score === null ? "" : String(score), ...adds]));
      body.append(row);
    });
    table.append(body);
    made.append(element("div", { className: "wide", tabIndex: 0 }, table));
    return made;
  }

  // The relevant documents that no shown run has among its first results.
  missed(results, runs) {
    const { data } = this;
    const places = results.documents
      .map((_, place) => place)
      .filter((place) => results.grades[place] !== null && results.grades[place] >= data.level)
      .filter((place) => runs.every((run) => !results.ranks[run][place] || results.ranks[run][place] > data.k));
    if (!places.length) return null;
    const listed = results.documents.filter((_, place) => data.runs.every((_, run) =>
      !results.ranks[run][place] || results.ranks[run][place] > data.k)).length;
    const count = places.length + results.missed - listed;
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
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        const half = frame.width / 2;
        attributes(path, { d: `M0 ${y1} C${half} ${y1} ${half} ${y2} ${frame.width} ${y2}` });
        path.setAttribute("class", row.className.replace("hit", "join"));
        path.dataset.place = place;
        lines.append(path);
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
    this.given = new Map();
    try {
      this.given = new Map(JSON.parse(localStorage.getItem(this.key) ?? "[]"));
    } catch (error) {
      // Where the browser keeps nothing for files, grades last as long as the page.
      console.info(`grades are not kept: ${error.message}`);
    }
  }

  choice(query, document) {
    const id = this.data.queries[query];
    const made = element("select", { className: "badge" });
    made.append(element("option", { value: "" }, "?"));
    made.append(...this.options.map((grade) => element("option", { value: grade }, String(grade))));
    made.setAttribute("aria-label", `Grade of ${visible(document)}, unjudged`);
    made.title = "unjudged: choose a grade";
    const name = JSON.stringify([id, document]);
    made.value = this.given.get(name) ?? "";
    if ([id, document].some((own) => /\s/u.test(own) || own === "")) {
      made.disabled = true;
      made.title = "unjudged; an id with white space cannot be in a line of qrels";
    }
    made.addEventListener("change", () => {
      if (made.value === "") this.given.delete(name);
      else this.given.set(name, made.value);
      for (const own of this.same(made)) own.value = made.value;
      this.keep();
    });
    made.dataset.name = name;
    return made;
  }

  // The choices for the same document in the other columns.
  same(made) {
    return [...document.querySelectorAll("select.badge")].filter((own) => own.dataset.name === made.dataset.name);
  }

  keep() {
    try {
      localStorage.setItem(this.key, JSON.stringify([...this.given]));
    } catch (error) {
      console.info(`grades are not kept: ${error.message}`);
    }
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
    this.words = element("p", { className: "soft" });
    this.fillPanel();
    return element("section", { className: "grading" }, this.words, this.button, " ", this.clear);
  }

  fillPanel() {
    const count = this.given.size;
    const grades = `${count} ${count === 1 ? "grade" : "grades"}`;
    this.button.textContent = count ? `Download ${grades} as qrels` : "Download grades";
    this.button.disabled = this.clear.disabled = !count;
    this.words.textContent =
      "Choose a grade at ? for documents without a judgment. Grades stay in this browser.";
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
