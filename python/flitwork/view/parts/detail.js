// What is selected: flits and queues over time, reasons to wait; without a selection the busiest channels of the frame.
"use strict";

// The series of one row of an array of bytes, [row][bin].
function rowOf(name, row) {
  const [, bins] = arrays[name].shape.slice(-2);
  const table = tableOf(name);
  return Float64Array.from(arrays[name].subarray(row * bins, (row + 1) * bins), (byte) => table[byte]);
}

// The same of each reason, [reason][row][bin]; reasons that do not occur there are left out.
function reasonsOf(name, row) {
  const values = arrays[name];
  if (!values) return [];
  const [reasons, rows, bins] = values.shape;
  const table = tableOf(name);
  const names = about[name === "channel_reasons" ? "reasons" : "terminal_reasons"];
  const found = [];
  for (let reason = 0; reason < reasons; reason++) {
    const at = (reason * rows + row) * bins;
    const curve = Float64Array.from(values.subarray(at, at + bins), (byte) => table[byte]);
    const sum = curve.reduce((all, one) => all + one, 0);
    if (sum > 0) found.push({ reason: names[reason], curve, sum });
  }
  // The most frequent first: in the legend, and at the bottom of the chart.
  return found.sort((a, b) => b.sum - a.sum);
}

// A channel's values, one a frame.
function framesOf(name, channel) {
  const table = tableOf(name);
  const first = channel * about.frames;
  return Float64Array.from(arrays[name].subarray(first, first + about.frames), (byte) => table[byte]);
}

// Where there are more frames than a chart can show: of so many neighbours the mean and the most.
const grainNow = () => Math.max(1, Math.ceil((section.high - section.low) / about.window / 600));
function joined(values) {
  const grain = grainNow();
  const count = Math.ceil(values.length / grain);
  const [means, most] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    const part = values.subarray(i * grain, (i + 1) * grain);
    means[i] = part.reduce((sum, one) => sum + one, 0) / part.length;
    most[i] = Math.max(...part);
  }
  return { starts: edges(count, (i) => frameStart(i * grain)), means, most, grain };
}

const fromZero = { range: (_, __, high) => [0, high > 0 ? 1.05 * high : 1] };

// Flits over a channel, or to and from a terminal.
function flowChart() {
  const { selected } = state;
  if (!selected) return null;
  const series = [{}], data = [];
  if (selected.kind === "channel") {
    if (!arrays.load) return null;
    const { starts, means, most, grain } = joined(framesOf("load", selected.id));
    data.push(starts, closed(most), closed(means));
    const faint = (alpha) => () => `color-mix(in srgb, ${css("--accent")} ${alpha}%, transparent)`;
    series.push(stepped({ stroke: faint(grain > 1 ? 30 : 0), fill: faint(grain > 1 ? 30 : 12), width: 0 }), stepped({ stroke: () => css("--accent") }));
  } else {
    if (!arrays.sent) return null;
    data.push(edges(about.bins, binStart));
    for (const [name, colour] of [["sent", () => css("--accent")], ["received", () => css("--ink")]]) {
      data.push(closed(rowOf(name, selected.id)));
      series.push(stepped({ stroke: colour }));
    }
  }
  const axes = [timeAxis(false), axis("flits/cycle", { values: numbers, space: 24 })];
  return { options: { series, axes, scales: { y: fromZero } }, data };
}

// Packets that wait, by reason, one upon the other.
function queueChart() {
  const { selected } = state;
  if (!selected) return null;
  const found = reasonsOf(selected.kind === "channel" ? "channel_reasons" : "terminal_reasons", selected.id);
  const queued = selected.kind === "terminal" && arrays.queued;
  if (!found.length && !queued && !arrays.channel_reasons) return null;
  const sums = found.length ? stacked(found.map(({ curve }) => curve)) : [new Float64Array(about.bins)];
  const colours = found.length ? found.map(({ reason }) => reasonColour(reason)).reverse() : ["transparent"];
  const series = [{}, ...colours.map((fill) => stepped({ stroke: fill, fill, width: 0 }))];
  const axes = [timeAxis(true), axis("waiting", { values: numbers, space: 24 })];
  axes[0].size = 30;
  if (queued) {
    sums.push(rowOf("queued", selected.id));
    series.push(stepped({ stroke: QUEUED, scale: "q" }));
    axes.push(axis("queued", { scale: "q", side: 1, values: numbers, space: 24, grid: { show: false }, stroke: QUEUED }));
  }
  return { options: { series, axes, scales: { y: fromZero, q: fromZero } }, data: [edges(about.bins, binStart), ...sums.map(closed)] };
}

const QUEUED = "#9a77c2";

// In words and colours: what the two charts show, and what it is now.
function describe() {
  const { selected } = state;
  const title = document.getElementById("detail-title");
  const now = document.getElementById("detail-now");
  document.getElementById("busiest").hidden = !!selected;
  const none = arrays.channel_router.length ? "" : "A terminal over time";
  title.textContent = selected ? nameOf(selected) : none || `Channels with the most ${METRICS[state.metric][0]} in this frame`;
  if (!selected) {
    now.className = "quiet";
    now.textContent = "Click a channel, a router, or a row of the diagram above.";
    return busiest();
  }
  const bin = Math.floor(state.frame / about.joined);
  const parts = [];
  const legend = (colour, text) => parts.push(element("span", {}, element("i", { style: `background:${colour}` }), text));
  if (selected.kind === "channel") {
    if (arrays.load) legend(css("--accent"), `load ${valueAt("load", selected.id)} flits/cycle`);
    if (arrays.waiting) parts.push(element("span", {}, `${valueAt("waiting", selected.id)} packets wait:`));
    for (const { reason, curve } of described().reasons) legend(reasonColour(reason), `${reasonName(reason)} ${round(curve[bin])}`);
  } else {
    for (const [name, colour] of [["sent", css("--accent")], ["received", css("--ink")]]) {
      if (arrays[name]) legend(colour, `${name} ${round(described()[name][bin])} flits/cycle`);
    }
    if (arrays.queued) legend(QUEUED, `queued at the source ${round(described().queued[bin])} packets`);
    for (const { reason, curve } of described().reasons) legend(reasonColour(reason), `${reasonName(reason)} ${round(curve[bin])}`);
    const doing = activityNow(selected);
    if (doing) parts.push(element("span", {}, doing));
  }
  if (!parts.length) parts.push("Nothing was recorded of it.");
  now.className = `quiet legend ${selected.kind}`;
  now.replaceChildren(...parts);
}

// The curves of the selection, which are made once for it.
function described() {
  const { selected } = state;
  if (describe.of !== selected) {
    describe.of = selected;
    const isChannel = selected.kind === "channel";
    describe.curves = { reasons: reasonsOf(isChannel ? "channel_reasons" : "terminal_reasons", selected.id) };
    if (!isChannel && arrays.sent) {
      for (const name of ["sent", "received", "queued"]) describe.curves[name] = rowOf(name, selected.id);
    }
  }
  return describe.curves;
}

function valueAt(name, channel) {
  return round(tableOf(name)[arrays[name][channel * about.frames + state.frame]]);
}

// What a rank does at the beginning of the frame.
function activityNow({ rank }) {
  if (rank === undefined || !arrays.activity) return "";
  const columns = arrays.activity.shape[1];
  const column = Math.min(columns - 1, Math.floor(((state.frame * about.window) / about.cycles) * columns));
  const doing = about.activities[arrays.activity[rank * columns + column]];
  return doing === "nothing" ? `rank ${rank} is at its end` : `rank ${rank}: ${doing}`;
}

// The busiest channels of the frame, to click.
function busiest() {
  const box = document.getElementById("busiest");
  if (!arrays[state.metric]) return box.replaceChildren();
  const frame = frameValues(state.metric);
  const channels = frame.length;
  const best = [];
  for (let channel = 0; channel < channels; channel++) {
    if (best.length === 7 && frame[channel] <= frame[best[6]]) continue;
    best.push(channel);
    best.sort((a, b) => frame[b] - frame[a]);
    if (best.length > 7) best.pop();
  }
  const rows = best.filter((channel) => frame[channel]).map((channel) => {
    const cells = [element("td", {}, element("button", { type: "button", class: "plain" }, channelName(channel)))];
    for (const name of Object.keys(METRICS)) if (arrays[name]) cells.push(element("td", { class: "number" }, valueAt(name, channel)));
    const row = element("tr", { "data-channel": channel }, ...cells);
    row.addEventListener("click", () => change({ selected: { kind: "channel", id: channel } }));
    return row;
  });
  const heads = Object.entries(METRICS).filter(([name]) => arrays[name]);
  const head = element("tr", {}, element("th", {}, "channel"), ...heads.map(([, [name, unit]]) => element("th", { class: "number" }, `${name} [${unit}]`)));
  box.replaceChildren(rows.length ? element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)) : `No channel has ${METRICS[state.metric][0]} in this frame.`);
}

// Buttons for the other terminals at the same router, and for letting go.
function chips() {
  const { selected } = state;
  const box = document.getElementById("chips");
  if (!selected) return box.replaceChildren();
  const made = [];
  if (selected.kind === "terminal") {
    const router = arrays.router_of_terminal[selected.id];
    arrays.router_of_terminal.forEach((at, id) => {
      if (at === router && made.length < 12) made.push(chip(String(id), id === selected.id, { kind: "terminal", id, rank: ranksAt(id)[0] }));
    });
    if (made.length === 1) made.pop();
  }
  made.push(chip("×", false, null));
  box.replaceChildren(...made);
}

function chip(text, pressed, selected) {
  const button = element("button", { type: "button", "aria-pressed": pressed, title: selected ? nameOf(selected) : "Let go (Esc)" }, text);
  button.addEventListener("click", () => change({ selected }));
  return button;
}
