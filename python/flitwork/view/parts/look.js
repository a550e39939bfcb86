// Colours, numbers with their units, and names.
"use strict";

// Okabe and Ito's colours; what waits for the buffer ahead is red, what lost to another one orange.
const REASONS = {
  no_credit: ["no credit", "#D55E00"],
  no_vc: ["no virtual channel", "#CC79A7"],
  source_no_credit: ["no credit at source", "#D55E00"],
  lost_switch: ["lost the switch", "#E69F00"],
  lost_vc_allocation: ["lost a virtual channel", "#F0E442"],
  input_port_busy: ["input port busy", "#009E73"],
  ejection_port_busy: ["ejection port busy", "#0072B2"],
  no_ejection_vc: ["no ejection virtual channel", "#56B4E9"],
  behind_packet: ["behind a packet", "#8c959f"],
};
const ACTIVITIES = {
  nothing: "transparent", waiting: "#b8bfc6", sending: "#56B4E9", computing: "#009E73", "late start": "#E69F00", "sending by the bus": "#CC79A7",
};
const ROWS = {
  activity: "what ranks do",
  queued: "packets queued at the source",
  at_terminal: "packets that wait at the terminal",
  sent: "flits/cycle sent",
  received: "flits/cycle received",
};
const METRICS = { load: ["load", "flits/cycle"], waiting: ["waiting packets", "packets"] };

const reasonName = (reason) => REASONS[reason]?.[0] ?? reason.replaceAll("_", " ");
const reasonColour = (reason) => REASONS[reason]?.[1] ?? "#8c959f";
// Colours of the page, which are looked up once for each theme.
const looked = new Map();
function css(name) {
  if (!looked.has(name)) looked.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return looked.get(name);
}
const isDark = () => document.documentElement.dataset.theme === "dark";

// The colour of a share of the scale: what is low is near to the colour of the page, in both themes.
function mapped(share) {
  const last = about.colours.length - 1;
  const at = Math.round(clamp(share, 0, 1) * last);
  return about.colours[isDark() ? at : last - at];
}

// Of a scale: the share that a value is of it; small values of counts take more room.
const shareOf = (scale, value) => Math.pow(value / scale.end, 1 / scale.power);

// The colour of each byte, as [red, green, blue]; nothing for 0.
function bytesToColours(name) {
  const scale = about.scales[name];
  return Array.from(tableOf(name), (value, byte) => (byte ? mapped(shareOf(scale, value)) : null));
}

const round = (value, digits = 3) =>
  Number.isInteger(value) ? value.toLocaleString("en-US") : Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits });

// A time in the unit that suits it; nothing where a cycle has no length.
function inSeconds(cycles) {
  if (about.cycle_ns === null) return "";
  const ns = cycles * about.cycle_ns;
  const [unit, factor] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, one]) => Math.abs(ns) >= one) ?? ["ns", 1];
  return `${round(ns / factor, 4)} ${unit}`;
}

function channelName(channel) {
  const { channel_router: from, channel_to: to, channel_class: kind } = arrays;
  return `channel ${about.routers[from[channel]]} → ${about.routers[to[channel]]} (${about.classes[kind[channel]]})`;
}

const ranksAt = (terminal) => [...(arrays.terminal_of_rank ?? [])].flatMap((at, rank) => (at === terminal ? [rank] : []));

function terminalName(terminal) {
  const ranks = ranksAt(terminal);
  const some = ranks.length > 4 ? `${ranks.slice(0, 4).join(", ")}, …` : ranks.join(", ");
  const of = ranks.length ? `, rank${ranks.length > 1 ? "s" : ""} ${some}` : "";
  return `terminal ${terminal} at router ${about.routers[arrays.router_of_terminal[terminal]]}${of}`;
}

const nameOf = (one) => (one.kind === "channel" ? channelName(one.id) : terminalName(one.id));

// An element with text and children.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A canvas that is as sharp as the screen, or as paper; its context counts in pixels of the page.
function sized(canvas, width, height) {
  const ratio = Math.max(window.devicePixelRatio || 1, isPaper() ? 3 : 1);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
