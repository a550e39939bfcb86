// Curves over time, drawn by uPlot; all charts share the cursor, the section of time, and the line of the present frame.
"use strict";

const charts = [];
const section = { low: TIMES[0], high: TIMES[1] };

// Axes in the colours of the theme; times in cycles and, where a cycle has a length, in seconds.
function axis(label, options = {}) {
  return {
    stroke: () => css("--quiet"),
    grid: { stroke: () => css("--line"), width: 0.5 },
    ticks: { stroke: () => css("--line"), width: 0.5, size: 4 },
    font: "11px system-ui, sans-serif",
    labelFont: "11px system-ui, sans-serif",
    label,
    labelSize: 15,
    labelGap: 0,
    gap: 3,
    size: label ? 46 : 34,
    ...options,
  };
}

function timeAxis(labelled) {
  const unit = inSeconds(1) ? ` (1 cycle = ${inSeconds(1)})` : "";
  return axis(labelled ? `time [cycles]${unit}` : undefined, {
    size: 18,
    values: (_, ticks) => ticks.map((tick) => tick.toLocaleString("en-US")),
    space: 70,
  });
}

// Numbers on an axis, as short as they can be.
const numbers = (_, ticks) => ticks.map((tick) => (tick === null ? "" : round(tick)));

// A chart in the box `id`. `build` gives the options and the data of uPlot for the state, or nothing.
class Chart {
  constructor(id, build) {
    this.box = document.getElementById(id);
    this.build = build;
    this.line = element("div", { class: "cursor-now" });
    charts.push(this);
  }

  // What is to be drawn decides which boxes there are, and so how large each is.
  prepare() {
    this.built = this.build();
    this.plot?.destroy();
    this.plot = null;
    this.box.style.display = this.built ? "" : "none";
  }

  make() {
    const { built } = this;
    if (!built) return;
    const { width, height } = this.box.getBoundingClientRect();
    const options = {
      width: Math.max(80, Math.floor(width)),
      height: Math.max(50, Math.floor(height)),
      legend: { show: false },
      // Times lie under each other in all charts, with an axis to the right and without.
      padding: [6, built.options.axes.some((one) => one.side === 1) ? 10 : 71, 0, 0],
      ...built.options,
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, dist: 6 },
        sync: { key: "time", scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
        ...built.options.cursor,
      },
      scales: { x: { time: false, min: section.low, max: section.high }, ...built.options.scales },
    };
    this.ready = false;
    options.hooks = {
      ...built.options.hooks,
      setScale: [(plot, key) => key === "x" && this.zoomed(plot)],
      ready: [() => {
        this.ready = true;
        this.mark();
        built.ready?.(this);
      }],
    };
    this.plot = new uPlot(options, built.data, this.box);
    this.plot.over.append(this.line);
    this.plot.over.addEventListener("click", (event) => this.clicked(event, built.clicked));
    this.plot.over.addEventListener("dblclick", () => zoomTo(...TIMES));
  }

  // A click goes to the frame; one that ends a drag does not.
  clicked(event, also) {
    if (this.plot.select.width > 2) return;
    goTo(frameOf(this.plot.posToVal(event.offsetX, "x")));
    also?.(this.plot, event);
  }

  zoomed(plot) {
    const { min, max } = plot.scales.x;
    if (this.ready && min !== null && (min !== section.low || max !== section.high)) zoomTo(min, max);
  }

  // Moves the line of the present frame, without drawing the chart again.
  mark() {
    if (!this.plot || !this.ready) return;
    const middle = (frameStart(state.frame) + frameEnd(state.frame)) / 2;
    const { low, high } = section;
    this.line.hidden = middle < low || middle > high;
    this.line.style.transform = `translateX(${Math.round(this.plot.valToPos(middle, "x")) - 1}px)`;
  }
}

// Shows a section of time in all charts.
function zoomTo(low, high) {
  if (!(high - low >= 1)) return;
  const grain = grainNow();
  [section.low, section.high] = [Math.max(low, TIMES[0]), Math.min(high, TIMES[1])];
  if (grainNow() !== grain && state.selected) makeCharts("flow");
  for (const chart of charts) {
    chart.plot?.setScale("x", { min: section.low, max: section.high });
    chart.mark();
  }
}

const stepped = (options) => ({ paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, width: 1.5, ...options });

// The begins of frames or bins, and once more the end: steps need it.
function edges(count, start) {
  const found = Float64Array.from({ length: count + 1 }, (_, i) => (i < count ? start(i) : TIMES[1]));
  return found;
}

// A curve with its last value twice.
const closed = (values) => Float64Array.from({ length: values.length + 1 }, (_, i) => values[Math.min(i, values.length - 1)]);

// Sums of curves, one upon the other: the uppermost first, so that each covers what is above it.
function stacked(curves) {
  const sums = curves.map((curve) => Float64Array.from(curve));
  for (let k = 1; k < sums.length; k++) for (let i = 0; i < sums[k].length; i++) sums[k][i] += sums[k - 1][i];
  return sums.reverse();
}

// The whole run: mean load of all channels, packets that wait in the network or to get into it.
function overviewChart() {
  const series = [{}], data = [edges(about.frames, frameStart)], axes = [timeAxis(false)];
  const scales = { y: { range: (_, __, high) => [0, high || 1] }, w: { range: (_, __, high) => [0, high || 1] } };
  if (arrays.mean_load) {
    data.push(closed(arrays.mean_load));
    series.push(stepped({ stroke: () => css("--accent"), label: "load", scale: "y" }));
    axes.push(axis("mean load", { scale: "y", values: numbers, space: 22, stroke: () => css("--accent") }));
  }
  if (arrays.all_waiting) {
    data.push(closed(arrays.all_waiting));
    series.push(stepped({ stroke: "#D55E00", label: "waiting packets", scale: "w" }));
    axes.push(axis("waiting", { scale: "w", side: 1, values: numbers, space: 22, grid: { show: false }, stroke: "#D55E00" }));
  }
  if (data.length === 1) {
    data.push(new Array(data[0].length).fill(null));
    series.push({});
    axes.push({ show: false });
  }
  return { options: { series, axes, scales }, data };
}

// A bus beside the network: the part of the time in which it is in use, and the transfers that wait for it.
function busChart() {
  if (!arrays.bus_in_use) return null;
  const waiting = { scale: "w", side: 1, values: numbers, space: 22, grid: { show: false }, stroke: "#D55E00" };
  return {
    options: {
      series: [{}, stepped({ stroke: () => css("--accent") }), stepped({ stroke: "#D55E00", scale: "w" })],
      axes: [timeAxis(false), axis("bus in use", { values: numbers, space: 22, stroke: () => css("--accent") }), axis("waiting", waiting)],
      scales: { y: { range: [0, 1.05] }, w: { range: (_, __, high) => [0, high || 1] } },
    },
    data: [edges(about.bins, binStart), closed(arrays.bus_in_use), closed(arrays.bus_waiting)],
  };
}
