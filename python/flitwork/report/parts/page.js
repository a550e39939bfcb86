"use strict";
// Tables are sorted by a click on a heading: by data-value where cells have it, else by their text.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
      };
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (typeof x === typeof y && typeof x === "number") return x - y;
        // Numbers before words, nothing at the end.
        if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
        return x === y ? 0 : x === "" ? 1 : y === "" ? -1 : x.localeCompare(y, "en", { numeric: true });
      };
      const rows = [...table.tBodies[0].rows].sort(order);
      table.tBodies[0].append(...(down ? rows.reverse() : rows));
    });
  });
}

const claims = document.getElementById("all-claims");
if (claims) {
  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const whose = document.getElementById("whose");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of claims.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word))
        && (!verdict.value || row.dataset.verdict === verdict.value)
        && (!whose.value || row.dataset.whose === whose.value);
      row.hidden = !fits;
      shown += fits;
    }
    document.getElementById("count").textContent = `${shown} of ${claims.tBodies[0].rows.length} claims`;
  };
  for (const field of [search, verdict, whose]) field.addEventListener("input", filter);
  filter();
}

const enlarged = document.getElementById("enlarged");
const picture = enlarged.querySelector("img");
for (const button of document.querySelectorAll(".zoom")) {
  button.addEventListener("click", () => {
    picture.src = button.querySelector("img").src;
    picture.alt = button.querySelector("img").alt;
    picture.classList.remove("closer");
    enlarged.showModal();
  });
}
picture.addEventListener("click", () => picture.classList.toggle("closer"));
enlarged.querySelector(".close").addEventListener("click", () => enlarged.close());
