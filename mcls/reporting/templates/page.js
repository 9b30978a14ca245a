// A click on a heading sorts its table by that column, a second one turns it round; what is empty stays last.
function key(row, column) {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, "en", { numeric: true });
}
function empty(value) {
  return value === "" || value === "–";
}
document.querySelectorAll("table.sortable").forEach(function (table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach(function (head, column) {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", function () {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = Array.from(body.rows).map(function (row) { return [key(row, column), row]; });
      rows.sort(function (a, b) {
        if (empty(a[0]) || empty(b[0])) return empty(a[0]) - empty(b[0]);
        return down ? compare(b[0], a[0]) : compare(a[0], b[0]);
      });
      rows.forEach(function (pair) { body.append(pair[1]); });
    });
  });
});
// A link into something folded away unfolds it.
function unfold() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  target.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", unfold);
unfold();
