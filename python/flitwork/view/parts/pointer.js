// The network under the pointer: what is there, and zooming and moving.
"use strict";

// What is at a place of the canvas: the terminal or the channel that is nearest, if one is near.
network.at = (x, y) => {
  const { scale } = network.view;
  const reach = clamp(0.2 * scale, 7, 14);
  let best = null, nearest = reach;
  const nodes = about.apart ? arrays.terminals : arrays.routers;
  for (let i = 0; i < nodes.length / 2; i++) {
    const [nx, ny] = toScreen(nodes, i);
    const distance = Math.hypot(nx - x, ny - y);
    if (distance < nearest) [best, nearest] = [i, distance];
  }
  if (best !== null) {
    const id = about.apart ? best : arrays.router_of_terminal.indexOf(best);
    if (id >= 0) return { kind: "terminal", id };
  }
  nearest = Math.max(6, 0.1 * scale);
  let channel = null;
  const { screen } = network;
  for (let i = 0; i < screen.length; i += 4) {
    const [x1, y1, x2, y2] = [screen[i], screen[i + 1], screen[i + 2], screen[i + 3]];
    const [dx, dy] = [x2 - x1, y2 - y1];
    const share = clamp(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1), 0, 1);
    const distance = Math.hypot(x1 + share * dx - x, y1 + share * dy - y);
    if (distance < nearest) [channel, nearest] = [arrays.segment_channel[i / 4], distance];
  }
  return channel === null ? null : { kind: "channel", id: channel };
};

network.zoom = (factor, x, y) => {
  const { view } = network;
  const scale = clamp(view.scale * factor, 0.5, 400);
  const by = scale / view.scale;
  network.view = { scale, x: x - by * (x - view.x), y: y - by * (y - view.y) };
  network.zoomed = true;
  network.place();
};

network.point = (event) => {
  const box = network.canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

network.hovered = (event) => {
  const [x, y] = network.point(event);
  const found = network.at(x, y);
  const tip = document.getElementById("tip");
  tip.hidden = !found;
  network.canvas.classList.toggle("over", !!found);
  if (found) {
    const value = found.kind === "channel" ? valueNow(found.id) : "";
    tip.textContent = nameOf(found) + (value && `: ${value}`);
    tip.style.left = `${clamp(x + 14, 0, Math.max(0, network.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y > 40 ? y - 30 : y + 18}px`;
  }
  const same = found?.kind === network.hover?.kind && found?.id === network.hover?.id;
  network.hover = found;
  if (!same) network.draw();
};

// The value of a channel in the frame, with its unit.
function valueNow(channel) {
  return arrays[state.metric] ? `${valueAt(state.metric, channel)} ${METRICS[state.metric][1]}` : "";
}

network.listen = () => {
  const { canvas, pointers } = network;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    network.zoom(Math.exp(-event.deltaY * 0.0015), ...network.point(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, network.point(event));
    network.moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return network.hovered(event);
    const now = network.point(event);
    network.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
      network.zoom(apart(now) / apart(before), ...other);
    } else if (network.moved > 4) {
      canvas.classList.add("dragging");
      network.view.x += now[0] - before[0];
      network.view.y += now[1] - before[1];
      network.zoomed = true;
      network.place();
    }
    pointers.set(event.pointerId, now);
  });
  const up = (event) => {
    pointers.delete(event.pointerId);
    canvas.classList.remove("dragging");
    if (event.type === "pointerup" && network.moved <= 4) change({ selected: network.at(...network.point(event)) });
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => {
    document.getElementById("tip").hidden = true;
    network.hover = null;
  });
  canvas.addEventListener("dblclick", () => {
    network.zoomed = false;
    network.fit();
  });
};
