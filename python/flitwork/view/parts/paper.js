// On paper: light, as wide as a page, and without what can be pressed. Browsers lay a page out anew when they print it, but what is drawn
// keeps its size and its colours: so it is drawn for paper before, and for the screen again after.
"use strict";

const paper = { dark: false, view: null };
const isPaper = () => document.documentElement.classList.contains("paper");

function drawAnew(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  looked.clear();
  network.colour();
  network.resize();
  react(new Set(["theme"]));
  spaceTime.markRow(drawn.rows);
}

function toPaper() {
  if (isPaper()) return;
  play(false);
  const { width } = network;
  Object.assign(paper, { dark: isDark(), view: { ...network.view } });
  document.documentElement.classList.add("paper");
  drawAnew(false);
  if (!network.zoomed) return;
  // The part of the network that is on the screen, as wide as the paper.
  const { scale, x, y } = paper.view, ratio = network.width / width;
  network.view = { scale: scale * ratio, x: x * ratio, y: y * ratio };
  network.place();
}

function toScreenAgain() {
  if (!isPaper()) return;
  document.documentElement.classList.remove("paper");
  network.view = paper.view;
  drawAnew(paper.dark);
}

window.addEventListener("beforeprint", () => document.documentElement.dataset.ready === "yes" && toPaper());
window.addEventListener("afterprint", toScreenAgain);
