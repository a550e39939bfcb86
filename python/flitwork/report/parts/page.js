"use strict";
// Tables are sorted by a click on a heading: by data-value where cells have it, else by their text.
// In a grouped table each body is a statement, which moves as a whole by its first row.
const keyOf = (row, column) => {
  const cell = (row.rows ? row.rows[0] : row).cells[column];
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
};

const sortTable = (table, column, down) => {
  const heads = table.querySelectorAll("th");
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const order = (a, b) => {
    const [x, y] = [keyOf(a, column), keyOf(b, column)];
    // Nothing at the end, whichever way; numbers before words.
    if (x === "" || y === "") return x === y ? 0 : x === "" ? 1 : -1;
    const numbers = typeof x === "number";
    const found = numbers && typeof y === "number" ? x - y
      : numbers !== (typeof y === "number") ? (numbers ? -1 : 1)
        : x.localeCompare(y, "en", { numeric: true });
    return down ? -found : found;
  };
  const grouped = table.classList.contains("grouped");
  const movable = grouped ? [...table.tBodies] : [...table.tBodies[0].rows];
  (grouped ? table : table.tBodies[0]).append(...movable.sort(order));
};

for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortTable(table, column, head.getAttribute("aria-sort") === "ascending"));
  });
}

const claims = document.getElementById("all-claims");
if (claims) {
  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const whose = document.getElementById("whose");
  const rows = [...claims.querySelectorAll("tbody tr")];
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word))
        && (!verdict.value || row.dataset.verdict === verdict.value)
        && (!whose.value || row.dataset.whose === whose.value);
      row.hidden = !fits;
      shown += fits;
    }
    document.getElementById("count").textContent = `${shown} of ${rows.length} claims`;
  };
  for (const field of [search, verdict, whose]) field.addEventListener("input", filter);
  filter();

  // Where claims are cards there are no headings to click.
  const sort = document.getElementById("sort");
  claims.querySelectorAll("th").forEach((head, column) => {
    for (const down of [false, true]) sort.add(new Option(`${head.textContent} ${down ? "▼" : "▲"}`, `${column} ${down}`));
  });
  sort.addEventListener("input", () => {
    const [column, down] = sort.value.split(" ");
    if (column) sortTable(claims, Number(column), down === "true");
  });
}

const enlarged = document.getElementById("enlarged");
const picture = enlarged.querySelector("img");
for (const button of document.querySelectorAll(".zoom")) {
  button.addEventListener("click", () => {
    picture.src = button.querySelector("img").src;
    picture.alt = button.querySelector("img").alt;
    picture.classList.remove("closer");
    enlarged.showModal();
    enlarged.querySelector(".pan").scrollTo(0, 0);
  });
}
for (const part of [picture, enlarged.querySelector(".nearer")]) {
  part.addEventListener("click", () => picture.classList.toggle("closer"));
}
enlarged.querySelector(".close").addEventListener("click", () => enlarged.close());
