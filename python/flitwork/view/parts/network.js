// The network on a canvas of ours: no library at hand draws thousands of lines in new colours for every frame fast enough.
"use strict";

const network = {
  canvas: document.getElementById("canvas"),
  // Pixels of (0, 0), and pixels a unit; `screen` has the ends of the segments in pixels.
  view: { x: 0, y: 0, scale: 1 },
  hover: null,
  pointers: new Map(),
  moved: 0,
};

// Puts the whole network into the canvas.
network.fit = () => {
  const { width, height } = network;
  const [left, right, low, high] = network.extent;
  const margin = 26;
  const scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (high - low || 1));
  network.view = { scale, x: width / 2 - (scale * (left + right)) / 2, y: height / 2 + (scale * (low + high)) / 2 };
  network.place();
};

network.resize = () => {
  const box = network.canvas.parentElement.getBoundingClientRect();
  const first = !network.width;
  [network.width, network.height] = [box.width, box.height];
  network.context = sized(network.canvas, box.width, box.height);
  if (first || !network.zoomed) network.fit();
  else network.place();
};

// Where everything is in pixels.
network.place = () => {
  const { x, y, scale } = network.view;
  const { segments } = arrays;
  const screen = (network.screen ??= new Float32Array(segments.length));
  for (let i = 0; i < segments.length; i += 2) {
    screen[i] = x + scale * segments[i];
    screen[i + 1] = y - scale * segments[i + 1];
  }
  network.draw();
};

const toScreen = (places, i) => [network.view.x + network.view.scale * places[2 * i], network.view.y - network.view.scale * places[2 * i + 1]];

// Width of a channel: the two directions of a cable do not touch.
network.thickness = () => clamp(0.1 * network.view.scale, 0.8, 9);

// Draws the frame. Lines of one colour are one path: there are at most as many of them as a byte has values.
network.draw = () => {
  const { context, width, height, screen } = network;
  const began = performance.now();
  context.clearRect(0, 0, width, height);
  network.drawTerminals(context);
  const values = arrays[state.metric];
  const of = arrays.segment_channel;
  const count = of.length;
  context.lineWidth = network.thickness();
  context.lineCap = "butt";
  const lines = (first, end, order, colour) => {
    context.beginPath();
    for (let i = first; i < end; i++) {
      const at = 4 * (order ? order[i] : i);
      context.moveTo(screen[at], screen[at + 1]);
      context.lineTo(screen[at + 2], screen[at + 3]);
    }
    context.strokeStyle = colour;
    context.stroke();
  };
  if (!values) {
    lines(0, count, null, css("--idle"));
  } else {
    const now = frameValues(state.metric);
    const starts = (network.starts ??= new Int32Array(258)).fill(0);
    const order = (network.order ??= new Int32Array(count));
    for (let i = 0; i < count; i++) starts[now[of[i]] + 1]++;
    for (let byte = 0; byte < 256; byte++) starts[byte + 1] += starts[byte];
    const next = (network.next ??= new Int32Array(258));
    next.set(starts);
    for (let i = 0; i < count; i++) order[next[now[of[i]]]++] = i;
    for (let byte = 0; byte < network.colours.length; byte++) {
      if (starts[byte] < starts[byte + 1]) lines(starts[byte], starts[byte + 1], order, network.colours[byte]);
    }
  }
  network.drawRouters(context);
  if (network.hover) network.mark(context, network.hover, css("--quiet"), 2);
  if (state.selected) network.mark(context, state.selected, css("--mark"), 3);
  network.took = performance.now() - began;
};

network.drawTerminals = (context) => {
  if (!about.apart) return;
  const size = clamp(0.35 * network.view.scale, 2, 16);
  context.beginPath();
  for (let i = 0; i < arrays.router_of_terminal.length; i++) {
    context.moveTo(...toScreen(arrays.terminals, i));
    context.lineTo(...toScreen(arrays.routers, arrays.router_of_terminal[i]));
  }
  context.strokeStyle = css("--idle");
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = css("--quiet");
  for (let i = 0; i < arrays.router_of_terminal.length; i++) {
    const [x, y] = toScreen(arrays.terminals, i);
    context.fillRect(x - size / 2, y - size / 2, size, size);
  }
};

network.drawRouters = (context) => {
  const { scale } = network.view;
  const radius = clamp(0.13 * scale, 1, 9);
  const count = about.routers.length;
  context.fillStyle = css("--node");
  context.beginPath();
  for (let i = 0; i < count; i++) {
    const [x, y] = toScreen(arrays.routers, i);
    context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
  }
  context.fill();
  context.fillStyle = css("--quiet");
  context.font = "11px system-ui, sans-serif";
  network.widest ??= Math.max(...about.routers.map((name) => context.measureText(name).width));
  if (scale < Math.max(40, network.widest + radius + 10)) return network.drawTicks(context);
  const beside = 4 + Math.max(radius, 0.09 * scale + network.thickness() / 2);
  for (let i = 0; i < count; i++) {
    const [x, y] = toScreen(arrays.routers, i);
    if (x > -40 && x < network.width && y > 0 && y < network.height + 20) context.fillText(about.routers[i], x + beside, y - beside);
  }
  network.drawTicks(context);
};

// Coordinates of a grid at the left and the lower edge.
network.drawTicks = (context) => {
  const [across, up] = about.axes;
  context.fillStyle = css("--quiet");
  context.font = "11px system-ui, sans-serif";
  const every = Math.max(1, Math.ceil(34 / network.view.scale));
  const ticks = (label, low, high, at) => {
    for (let i = Math.ceil(low / every) * every; i <= high; i += every) at(i);
  };
  const [left, right, low, high] = network.extent;
  if (up) {
    ticks(up, low, high, (i) => {
      const y = network.view.y - network.view.scale * i;
      if (y > 24 && y < network.height - 14) context.fillText(String(i), 4, y + 4);
    });
    context.fillText(up, 4, 13);
  }
  if (across && !about.note) {
    ticks(across, left, right, (i) => {
      const x = network.view.x + network.view.scale * i;
      if (x > 20 && x < network.width - 70) context.fillText(String(i), x - 4, network.height - 4);
    });
    context.fillText(across, network.width - context.measureText(across).width - 5, network.height - 4);
  }
};

// Draws a mark around a channel or a terminal.
network.mark = (context, one, colour, width) => {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  if (one.kind === "terminal") {
    const apart = about.apart;
    const [x, y] = apart ? toScreen(arrays.terminals, one.id) : toScreen(arrays.routers, arrays.router_of_terminal[one.id]);
    context.arc(x, y, clamp(0.24 * network.view.scale, 6, 16), 0, 2 * Math.PI);
  } else {
    const beside = clamp(0.1 * network.view.scale, 2, 9) / 2 + 1.5;
    for (const i of network.segmentsOf(one.id)) {
      const [x1, y1, x2, y2] = network.screen.subarray(4 * i, 4 * i + 4);
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      const [dx, dy] = [(beside * (y2 - y1)) / length, (-beside * (x2 - x1)) / length];
      context.moveTo(x1 + dx, y1 + dy);
      context.lineTo(x2 + dx, y2 + dy);
      context.lineTo(x2 - dx, y2 - dy);
      context.lineTo(x1 - dx, y1 - dy);
      context.closePath();
    }
  }
  context.stroke();
};

network.segmentsOf = (channel) => {
  const found = [];
  arrays.segment_channel.forEach((of, i) => of === channel && found.push(i));
  return found;
};

// The colours of the theme and of what is shown.
network.colour = () => {
  const idle = css("--idle");
  const found = about.scales[state.metric] ? bytesToColours(state.metric) : [];
  network.colours = found.map((rgb) => (rgb ? `rgb(${rgb})` : idle));
};

network.start = () => {
  const all = [...arrays.routers, ...(about.apart ? arrays.terminals : [])];
  const [xs, ys] = [all.filter((_, i) => i % 2 === 0), all.filter((_, i) => i % 2)];
  const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
  network.extent = [least(xs) - 0.5, most(xs) + 0.5, least(ys) - 0.5, most(ys) + 0.5];
  network.colour();
  network.listen();
  network.resize();
  watch((changed) => {
    if (changed.has("metric") || changed.has("theme")) network.colour();
    if (["frame", "metric", "selected", "theme"].some((key) => changed.has(key))) network.draw();
  });
};
