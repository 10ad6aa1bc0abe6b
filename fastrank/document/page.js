// The script of every page that fastrank writes. Data reach the page as text only: nothing here
// parses markup, and the content security policy of the page allows no other script.
"use strict";

// Tables are sorted by a click on a header, first with the largest numbers at the top.
function sortable(table) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
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
  const columns = JSON.parse(document.getElementById("board")?.textContent ?? "{}").columns ?? [];
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
