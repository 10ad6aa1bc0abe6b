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
