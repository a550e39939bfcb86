// Controls: what is chosen, playing, keys; and the beginning.
"use strict";

const at = (id) => document.getElementById(id);
const SPEEDS = [1, 2, 5, 10, 20, 30, 60, 120, 240, 600];

// A scale of colours with its numbers, as wide as the canvas.
function drawScale(canvas, name, width) {
  const context = sized(canvas, width, 30);
  const scale = about.scales[name];
  context.clearRect(0, 0, width, 30);
  if (!scale) return;
  const [left, right] = [8, width - 34];
  for (let x = left; x < right; x++) {
    context.fillStyle = `rgb(${mapped((x - left) / (right - left))})`;
    context.fillRect(x, 3, 1, 11);
  }
  context.fillStyle = css("--quiet");
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = scale.end * Math.pow(share, scale.power);
    context.fillText(round(value, 2), left + share * (right - left), 26);
  }
}

function legend() {
  const width = at("legend").clientWidth || 300;
  drawScale(at("legend"), state.metric, width);
}

function fillChoices() {
  const metrics = Object.entries(METRICS).filter(([name]) => arrays[name]);
  at("metric").replaceChildren(...metrics.map(([name, [words, unit]]) => element("option", { value: name }, `${words} [${unit}]`)));
  at("metric").parentElement.hidden = !metrics.length;
  if (metrics.length) state.metric = metrics[0][0];
  const rows = spaceTime.choices();
  at("rows").replaceChildren(...rows.map((name) => element("option", { value: name }, ROWS[name])));
  at("rows").parentElement.hidden = !rows.length;
  state.rows = rows[0] ?? "";
  at("speed").replaceChildren(...SPEEDS.map((speed) => element("option", { value: speed }, `${speed} frames/s`)));
  // The whole run in about 20 seconds.
  state.speed = SPEEDS.find((speed) => speed >= about.frames / 20) ?? SPEEDS.at(-1);
  at("slider").max = about.frames - 1;
}

function showNow() {
  const [begin, end] = [frameStart(state.frame), frameEnd(state.frame)];
  const seconds = inSeconds(begin) && ` · ${inSeconds(begin)}`;
  const [from, to] = about.measurement ?? [];
  const phase = !about.measurement ? "" : end <= from ? " · warm-up" : begin < to ? " · measurement" : " · drain";
  at("now").textContent = `frame ${(state.frame + 1).toLocaleString("en-US")} of ${about.frames.toLocaleString("en-US")} · cycles ${begin.toLocaleString("en-US")} to ${(end - 1).toLocaleString("en-US")}${seconds}${phase}${busNow()}`;
  at("slider").value = state.frame;
}

// What a bus does in the frame.
function busNow() {
  if (!arrays.bus_in_use) return "";
  const bin = Math.floor(state.frame / about.joined);
  return ` · bus in use ${Math.round(100 * arrays.bus_in_use[bin])} %, ${round(arrays.bus_waiting[bin])} wait`;
}

function facts() {
  const { facts: all } = about;
  const found = [all.status];
  const time = inSeconds(all.completion_cycles);
  found.push(`${all.completion_cycles.toLocaleString("en-US")} cycles${time && ` (${time})`}`);
  if (all.ratio_to_bound !== undefined) found.push(about.completes ? `${round(all.ratio_to_bound)} times the lower bound` : `accepted ${round(all.accepted_load_flits_per_cycle)} flits/cycle/terminal`);
  found.push(`${all.packets.toLocaleString("en-US")} packets`, `frames of ${about.window.toLocaleString("en-US")} cycle${about.window > 1 ? "s" : ""}`, `flitwork ${about.version}`);
  at("facts").textContent = found.join(" · ");
  at("missing").hidden = !about.missing;
  at("missing").textContent = about.missing;
  at("note").textContent = about.note;
  at("note").hidden = !about.note;
}

// Playing: as many frames as have passed since the last picture.
const playing = { last: 0, due: 0 };
function step(now) {
  if (!state.playing) return;
  playing.due += ((now - playing.last) / 1000) * state.speed;
  playing.last = now;
  const frames = Math.floor(playing.due);
  if (frames) {
    playing.due -= frames;
    goTo(state.frame + frames);
    if (state.frame === about.frames - 1) return change({ playing: false });
  }
  requestAnimationFrame(step);
}

function play(on = !state.playing) {
  if (on && state.frame === about.frames - 1) goTo(0);
  change({ playing: on });
  if (on) {
    playing.last = performance.now();
    playing.due = 0;
    requestAnimationFrame(step);
  }
}

function next(id, key) {
  const options = [...at(id).options].map((option) => option.value);
  if (options.length) change({ [key]: options[(options.indexOf(state[key]) + 1) % options.length] });
}

function faster(by) {
  change({ speed: SPEEDS[clamp(SPEEDS.indexOf(state.speed) + by, 0, SPEEDS.length - 1)] });
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  at("theme").textContent = dark ? "Light" : "Dark";
  looked.clear();
  change({ theme: dark ? "dark" : "light" });
}

const KEYS = {
  " ": ["play or stop", () => play()],
  ArrowLeft: ["back by a frame; with Shift by a hundredth of the run", (event) => goTo(state.frame - leap(event))],
  ArrowRight: ["on by a frame; with Shift by a hundredth of the run", (event) => goTo(state.frame + leap(event))],
  ArrowUp: ["play faster", () => faster(1)],
  ArrowDown: ["play slower", () => faster(-1)],
  Home: ["the first frame", () => goTo(0)],
  End: ["the last frame", () => goTo(about.frames - 1)],
  m: ["what colours channels", () => next("metric", "metric")],
  r: ["what the rows of the space-time diagram show", () => next("rows", "rows")],
  f: ["the whole network, the whole time", () => { network.zoomed = false; network.fit(); zoomTo(...TIMES); }],
  d: ["light or dark", () => setTheme(!isDark())],
  Escape: ["let go of what is selected", () => change({ selected: null })],
  "?": ["this help", () => at("help").showModal()],
};
const leap = (event) => (event.shiftKey ? Math.max(1, Math.round(about.frames / 100)) : 1);
const KEY_NAMES = { " ": "space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

function help() {
  const rows = Object.entries(KEYS).map(([key, [words]]) => element("tr", {}, element("td", {}, element("kbd", {}, KEY_NAMES[key] ?? key)), element("td", {}, words)));
  const { load, waiting } = about.scales;
  const share = (scale) => round((50 / scale.levels) * scale.power, 2);
  const exact = [load && `loads to ${share(load)} % of ${round(load.top)} flits/cycle`, waiting && `waiting packets to ${share(waiting)} % of ${round(waiting.top)} packets`].filter(Boolean).join(", ");
  at("help").replaceChildren(
    element("h2", {}, "Keys"),
    element("table", {}, ...rows),
    element("p", {}, "Drag across a diagram: a section of time; double click: all of it. Wheel or two fingers: a part of the network."),
    element("p", {}, `Load: flits over a channel in each cycle of a frame, the mean. Waiting packets: those that stand still before a channel, the mean of the cycles of a frame, whatever the reason. Curves of reasons and of terminals have ${about.bins.toLocaleString("en-US")} points. Where frames are narrower than a point, the load of a channel is the mean of several; the light area is the highest of them.`),
    element("p", {}, exact ? `Numbers are rounded: ${exact} at most.` : ""),
    element("p", { class: "quiet" }, `Curves and axes: ${about.library}, MIT licence. Plan ${about.plan_hash}.`),
    element("form", { method: "dialog" }, element("button", {}, "Close")),
  );
}

function listen() {
  at("play").addEventListener("click", () => play());
  at("back").addEventListener("click", () => goTo(state.frame - 1));
  at("forward").addEventListener("click", () => goTo(state.frame + 1));
  at("slider").addEventListener("input", (event) => goTo(Number(event.target.value)));
  at("metric").addEventListener("change", (event) => change({ metric: event.target.value }));
  at("rows").addEventListener("change", (event) => change({ rows: event.target.value }));
  at("speed").addEventListener("change", (event) => change({ speed: Number(event.target.value) }));
  at("theme").addEventListener("click", () => setTheme(!isDark()));
  at("help-button").addEventListener("click", () => at("help").showModal());
  at("fit").addEventListener("click", KEYS.f[1]);
  document.addEventListener("keydown", (event) => {
    const held = event.ctrlKey || event.metaKey || event.altKey;
    const choosing = event.target.tagName === "SELECT" || at("help").open;
    const pressing = event.target.tagName === "BUTTON" && event.key === " ";
    if (held || choosing || pressing || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key][1](event);
  });
  new ResizeObserver(() => {
    network.resize();
    makeCharts();
  }).observe(document.querySelector("main"));
}

const drawn = { overview: new Chart("overview", overviewChart), bus: new Chart("bus", busChart), rows: new Chart("space-time", () => spaceTime.chart()),
  flow: new Chart("chart-flow", flowChart), queue: new Chart("chart-queue", queueChart) };

function makeCharts(...names) {
  const wanted = (names.length ? names : Object.keys(drawn)).map((name) => drawn[name]);
  for (const chart of wanted) chart.prepare();
  for (const chart of wanted) chart.make();
}

function react(changed) {
  const has = (...keys) => keys.some((key) => changed.has(key));
  if (has("rows", "theme")) { spaceTime.paint(); spaceTime.legend(); }
  if (has("metric", "theme")) legend();
  if (has("selected", "metric", "theme")) chips();
  if (has("selected", "frame", "metric", "theme")) describe();
  if (has("theme")) makeCharts();
  else if (has("selected")) { makeCharts("flow", "queue"); spaceTime.markRow(drawn.rows); }
  if (has("rows")) makeCharts("rows");
  if (has("frame")) { showNow(); for (const chart of charts) chart.mark(); }
  at("metric").value = state.metric;
  at("rows").value = state.rows;
  at("speed").value = state.speed;
  at("play").textContent = state.playing ? "❚❚" : "▶";
}

async function start() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it cannot unpack gzip");
  await unpack();
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  at("theme").textContent = isDark() ? "Light" : "Dark";
  fillChoices();
  facts();
  help();
  at("loading").remove();
  network.start();
  spaceTime.paint();
  watch(react);
  react(new Set(["rows", "metric", "selected", "frame", "theme"]));
  listen();
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  const box = document.getElementById("loading") ?? document.body.appendChild(element("p", { id: "loading", role: "alert" }));
  box.textContent = `This page cannot be shown: ${error.message}`;
  document.documentElement.dataset.ready = "failed";
  throw error;
});
