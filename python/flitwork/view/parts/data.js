// The numbers of the run: what stands in the page as JSON, and arrays that are unpacked from it. The state that all parts share.
"use strict";

const about = JSON.parse(document.getElementById("about").textContent);
const TYPES = { uint8: Uint8Array, uint32: Uint32Array, int32: Int32Array, float32: Float32Array };
const arrays = {};

// The bytes behind base64, piece by piece: one text of all of them would be too long for some browsers.
function decoded(text) {
  const pieces = [], length = 1 << 20;
  for (let at = 0; at < text.length; at += length) {
    const piece = atob(text.slice(at, at + length));
    const bytes = new Uint8Array(piece.length);
    for (let i = 0; i < piece.length; i++) bytes[i] = piece.charCodeAt(i);
    pieces.push(bytes);
  }
  return new Blob(pieces);
}

// Unpacks all arrays; each then has its shape.
async function unpack() {
  const element = document.getElementById("packed");
  const packed = decoded(element.textContent.trim());
  element.textContent = "";
  const all = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  for (const [name, { type, shape, at }] of Object.entries(about.arrays)) {
    const length = shape.reduce((product, one) => product * one, 1);
    arrays[name] = Object.assign(new TYPES[type](all, at, length), { shape });
  }
}

// The value that a byte of a scale stands for.
function valueOf(scale, byte) {
  return scale.top * Math.pow(byte / scale.levels, scale.power);
}

// Tables of these values, by the name of the array.
const tables = {};
function tableOf(name) {
  const scale = about.scales[name];
  return tables[name] ??= Float64Array.from({ length: scale.levels + 1 }, (_, byte) => valueOf(scale, byte));
}

// The bytes of all channels in the frame. Stored are those of all frames of a channel: that packs better.
const ofFrame = {};
function frameValues(name) {
  const values = arrays[name], { frames } = about;
  const found = (ofFrame[name] ??= { frame: -1, bytes: new Uint8Array(values.length / frames) });
  if (found.frame !== state.frame) {
    for (let channel = 0, at = state.frame; at < values.length; channel++, at += frames) found.bytes[channel] = values[at];
    found.frame = state.frame;
  }
  return found.bytes;
}

// What is shown. `selected` is null, or { kind: "channel" | "terminal", id, rank }.
const state = { frame: 0, selected: null, metric: "load", rows: "", playing: false, speed: 10 };
const watchers = [];

function watch(watcher) {
  watchers.push(watcher);
}

// Changes the state and tells all who watch it what has changed.
function change(changes) {
  const changed = new Set(Object.keys(changes).filter((key) => state[key] !== changes[key]));
  if (!changed.size) return;
  Object.assign(state, changes);
  for (const watcher of watchers) watcher(changed);
}

const clamp = (value, least, most) => Math.min(most, Math.max(least, value));

// Frames and cycles; cycles count from t = 0, which is not the start of the run where something runs before it.
const frameStart = (frame) => frame * about.window - about.start;
const frameEnd = (frame) => Math.min((frame + 1) * about.window, about.cycles) - about.start;
const frameOf = (cycle) => clamp(Math.floor((cycle + about.start) / about.window), 0, about.frames - 1);
const binStart = (bin) => bin * about.window * about.joined - about.start;
const TIMES = [-about.start, about.cycles - about.start];

function goTo(frame) {
  change({ frame: clamp(Math.round(frame), 0, about.frames - 1) });
}
