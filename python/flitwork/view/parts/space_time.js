// The space-time diagram: a row for each rank or terminal, time to the right. uPlot draws the axes, the rows are a picture.
"use strict";

const spaceTime = { picture: document.createElement("canvas") };

// What can be in the rows, of this run.
spaceTime.choices = () => Object.keys(ROWS).filter((name) => arrays[name]?.some((byte) => byte));
spaceTime.ofRanks = () => state.rows === "activity";
spaceTime.count = () => arrays[state.rows].shape[0];

// The picture: a pixel for each row and column.
spaceTime.paint = () => {
  const values = arrays[state.rows];
  if (!values) return;
  const [rows, columns] = values.shape;
  const { picture } = spaceTime;
  [picture.width, picture.height] = [columns, rows];
  const context = picture.getContext("2d");
  const image = context.createImageData(columns, rows);
  const colours = spaceTime.colours();
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < values.length; i++) pixels[i] = colours[values[i]];
  context.putImageData(image, 0, 0);
};

const packedColour = ([red, green, blue], alpha = 255) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

spaceTime.colours = () => {
  if (!spaceTime.ofRanks()) return bytesToColours(state.rows).map((rgb) => (rgb ? packedColour(rgb) : 0));
  return about.activities.map((name) => {
    const hex = ACTIVITIES[name];
    return hex === "transparent" ? 0 : packedColour([1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  });
};

spaceTime.chart = () => {
  if (!arrays[state.rows]) return null;
  const rows = spaceTime.count();
  const axes = [timeAxis(false), axis(spaceTime.ofRanks() ? "rank" : "terminal", { space: 24, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], values: numbers })];
  axes[1].grid = axes[0].grid = { show: false };
  const options = {
    series: [{}, { show: true, points: { show: false }, paths: () => null }],
    axes,
    scales: { y: { dir: -1, range: () => [-0.5, rows - 0.5] } },
    hooks: { drawAxes: [spaceTime.draw], setCursor: [spaceTime.pointed] },
  };
  return { options, data: [TIMES, [null, null]], clicked: spaceTime.clicked, ready: spaceTime.markRow };
};

// The part of the picture that is in the section of time, and the critical path.
spaceTime.draw = (plot) => {
  const { ctx, bbox } = plot;
  const { picture } = spaceTime;
  const { min, max } = plot.scales.x;
  const scale = picture.width / (TIMES[1] - TIMES[0]);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.imageSmoothingEnabled = picture.height > bbox.height;
  ctx.drawImage(picture, (min - TIMES[0]) * scale, 0, (max - min) * scale, picture.height, bbox.left, bbox.top, bbox.width, bbox.height);
  if (arrays.path && spaceTime.ofRanks()) {
    const { path } = arrays;
    for (const [width, colour] of [[3.4, css("--back")], [1.6, css("--mark")]]) {
      ctx.beginPath();
      for (let i = 0; i < path.length; i += 4) {
        ctx.moveTo(plot.valToPos(path[i] - about.start, "x", true), plot.valToPos(path[i + 1], "y", true));
        ctx.lineTo(plot.valToPos(path[i + 2] - about.start, "x", true), plot.valToPos(path[i + 3], "y", true));
      }
      ctx.lineWidth = width * devicePixelRatio;
      ctx.strokeStyle = colour;
      ctx.stroke();
    }
  }
  ctx.restore();
};

// In words what is under the pointer.
spaceTime.pointed = (plot) => {
  const { left, top } = plot.cursor;
  const box = document.getElementById("row-now");
  box.hidden = left < 0 || top < 0 || !plot.over.matches(":hover");
  if (box.hidden) return;
  const row = clamp(Math.round(plot.posToVal(top, "y")), 0, spaceTime.count() - 1);
  const cycle = clamp(Math.floor(plot.posToVal(left, "x")), TIMES[0], TIMES[1] - 1);
  const columns = arrays[state.rows].shape[1];
  const grain = spaceTime.ofRanks() ? about.cycles / columns : about.window * about.joined;
  const byte = arrays[state.rows][row * columns + clamp(Math.floor((cycle + about.start) / grain), 0, columns - 1)];
  const what = spaceTime.ofRanks() ? about.activities[byte] : round(tableOf(state.rows)[byte]);
  box.textContent = `${spaceTime.ofRanks() ? "rank" : "terminal"} ${row} · cycle ${cycle.toLocaleString("en-US")} · ${what}`;
};

// Selects the rank or terminal of the row.
spaceTime.clicked = (plot, event) => {
  const row = clamp(Math.round(plot.posToVal(event.offsetY, "y")), 0, spaceTime.count() - 1);
  change({ selected: ofRow(row) });
};

function ofRow(row) {
  if (!spaceTime.ofRanks()) return { kind: "terminal", id: row, rank: ranksAt(row)[0] };
  const terminal = arrays.terminal_of_rank[row];
  return terminal < 0 ? null : { kind: "terminal", id: terminal, rank: row };
}

// Marks the row of the selection.
spaceTime.markRow = (chart) => {
  const mark = (spaceTime.row ??= element("div", { class: "cursor-row" }));
  const { selected } = state;
  const row = selected?.kind !== "terminal" ? undefined : spaceTime.ofRanks() ? selected.rank ?? ranksAt(selected.id)[0] : selected.id;
  mark.hidden = row === undefined || !chart.ready;
  if (mark.hidden) return;
  chart.plot.over.append(mark);
  const top = chart.plot.valToPos(row - 0.5, "y"), bottom = chart.plot.valToPos(row + 0.5, "y");
  mark.style.top = `${top - 1}px`;
  mark.style.height = `${Math.max(4, bottom - top + 2)}px`;
};

spaceTime.legend = () => {
  const box = document.getElementById("rows-legend");
  if (!arrays[state.rows]) return box.replaceChildren();
  if (!spaceTime.ofRanks()) {
    const canvas = element("canvas", { role: "img", "aria-label": "Scale of the rows" });
    canvas.style.cssText = "width:190px;height:30px";
    box.replaceChildren(canvas);
    return drawScale(canvas, state.rows, 190);
  }
  const made = about.activities.filter((name) => name !== "nothing").map((name) => element("span", {}, element("i", { style: `background:${ACTIVITIES[name]}` }), name));
  if (arrays.path) made.push(element("span", {}, element("i", { class: "rule", style: `border-color:${css("--mark")}` }), "critical path"));
  box.replaceChildren(...made);
};
