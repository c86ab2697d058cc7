"use strict";
const trace = JSON.parse(document.getElementById("trace").textContent);
const byId = (id) => document.getElementById(id);
const first = trace.first, last = first + trace.steps.length - 1;
const LINE = 18, PADDING = 10;
const [LEAD, LANE] = innerWidth > 800 ? [200, 168] : [140, 170];
const SVG = "http://www.w3.org/2000/svg";
const shown = { step: first, nodes: null, action: "" };
let visible = [], tops = [], timer = null, lanes = [];

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}
const stepAt = (number) => trace.steps[number - first];
const isWrong = (number) => trace.outcome !== null && trace.outcome.is_bad && trace.outcome.step === number;

function stateAt(number) {
  const state = new Map(trace.initial);
  for (let at = first + 1; at <= number; at++) {
    for (const [slot, text] of stepAt(at).delta) {
      if (text === null) state.delete(slot); else state.set(slot, text);
    }
  }
  return state;
}

function readFragment() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const step = Number.parseInt(asked.get("step"), 10);
  shown.step = Number.isNaN(step) ? first : Math.min(last, Math.max(first, step));
  shown.action = asked.get("action") || "";
  const names = (asked.get("nodes") || "").split(",").filter((name) => name !== "");
  const known = names.map((name) => trace.columns.findIndex((one) => one.name === decodeURIComponent(name))).filter((i) => i >= 0);
  shown.nodes = known.length ? new Set(known) : null;
}

function writeFragment() {
  const parts = [`step=${shown.step}`];
  if (shown.nodes) parts.push(`nodes=${[...shown.nodes].map((i) => encodeURIComponent(encodeURIComponent(trace.columns[i].name))).join(",")}`);
  if (shown.action) parts.push(`action=${encodeURIComponent(shown.action)}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}

const seesNode = (index) => shown.nodes === null || shown.nodes.has(index);

function linesOf(step, column) {
  return step.lines.filter((line) => line[0] === column);
}

function heightOf(step) {
  let most = step.location || step.time_ms !== null || step.call !== step.action ? 2 : 1;
  for (const column of lanes) most = Math.max(most, linesOf(step, column).length);
  return most * LINE + PADDING;
}

function layOut() {
  lanes = trace.columns.map((_, index) => index).filter(seesNode);
  const isSeen = (step) => {
    if (shown.action && step.action !== shown.action) return false;
    return shown.nodes === null || lanes.includes(step.node) || step.lines.some((line) => lanes.includes(line[0]));
  };
  visible = [];
  tops = [];
  let top = 0;
  for (let number = first; number <= last; number++) {
    const step = stepAt(number);
    if (number !== first && number !== shown.step && !isSeen(step)) continue;
    visible.push(number);
    tops.push(top);
    top += heightOf(step);
  }
  tops.push(top);
  const rows = byId("rows");
  rows.style.height = `${top}px`;
  rows.style.minWidth = byId("heads").style.minWidth = `${LEAD + lanes.length * LANE}px`;
  const heads = byId("heads");
  heads.style.gridTemplateColumns = columnsStyle();
  heads.replaceChildren(make("div", "", "step"));
  for (const index of lanes) {
    const head = make("div", "", trace.columns[index].name);
    head.title = trace.columns[index].stands_for || trace.columns[index].name;
    heads.append(head);
  }
}

const columnsStyle = () => `${LEAD}px repeat(${lanes.length}, minmax(${LANE}px, 1fr))`;

function indexFrom(y) {
  let low = 0, high = visible.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= y) low = middle; else high = middle - 1;
  }
  return low;
}

function rowOf(at) {
  const number = visible[at], step = stepAt(number);
  const row = make("div", "row");
  row.style.top = `${tops[at]}px`;
  row.style.height = `${tops[at + 1] - tops[at]}px`;
  row.style.gridTemplateColumns = columnsStyle();
  row.dataset.step = number;
  if (number === shown.step) { row.classList.add("current"); row.setAttribute("aria-current", "step"); }
  if (isWrong(number)) row.classList.add("wrong");
  const lead = make("div", "lead");
  lead.title = step.whole;
  lead.append(make("span", "line", `${isWrong(number) ? "✗ " : ""}${number} ${step.action}`));
  const time = step.time_ms === null ? "" : `at ${step.time_ms} ms `;
  lead.append(make("span", "line soft", `${time}${step.call.slice(step.action.length)}`.trim() || step.location));
  row.append(lead);
  for (const index of lanes) {
    const cell = make("div", step.node === index ? "lane acts" : "lane");
    for (const [, text, whole] of linesOf(step, index)) {
      const line = make("span", "line", text);
      line.title = whole;
      cell.append(line);
    }
    row.append(cell);
  }
  row.addEventListener("click", () => go(number));
  return row;
}

function draw() {
  const box = byId("lanes"), rows = byId("rows");
  const from = Math.max(0, indexFrom(box.scrollTop) - 8);
  const to = Math.min(visible.length - 1, indexFrom(box.scrollTop + box.clientHeight) + 8);
  const drawn = [];
  for (let at = from; at <= to; at++) drawn.push(rowOf(at));
  rows.replaceChildren(...drawn, arrows(from, to));
}

function arrows(from, to) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "arrows");
  svg.setAttribute("width", "1");
  svg.setAttribute("height", "1");
  const width = Math.max(byId("rows").clientWidth, LEAD + lanes.length * LANE);
  const lane = (width - LEAD) / lanes.length;
  const x = (column) => LEAD + lanes.indexOf(column) * lane + 8.5;
  const y = new Map(visible.map((number, at) => [number, tops[at] + 15]));
  const low = visible[from], high = visible[to];
  for (const [text, sent, taken, sender, receiver, isLost] of trace.flights) {
    const until = taken === null ? last : taken;
    if (until < low || sent > high || sender === null || receiver === null || sender === receiver) continue;
    if (!lanes.includes(sender) || !lanes.includes(receiver) || !y.has(sent)) continue;
    if (taken !== null && !y.has(taken)) continue;
    const isOpen = taken === null;
    const x1 = x(sender), y1 = y.get(sent);
    let x2 = x(receiver), y2 = isOpen ? tops[tops.length - 1] : y.get(taken);
    if (isOpen || isLost) x2 = x1 + (x2 - x1) * 0.6;
    const now = sent === shown.step || taken === shown.step ? " now" : "";
    const path = document.createElementNS(SVG, "path");
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const point = (turn, size) => `${x2 - size * Math.cos(angle + turn)},${y2 - size * Math.sin(angle + turn)}`;
    let line = `M${x1},${y1}L${x2},${y2}`;
    if (isLost) line += `M${x2 - 5},${y2 - 5}L${x2 + 5},${y2 + 5}M${x2 + 5},${y2 - 5}L${x2 - 5},${y2 + 5}`;
    else if (!isOpen) line += `M${point(0.4, 9)}L${x2},${y2}L${point(-0.4, 9)}`;
    path.setAttribute("d", line);
    path.setAttribute("class", `arrow${isLost ? " lost" : ""}${isOpen ? " open" : ""}${now}`);
    const title = document.createElementNS(SVG, "title");
    title.textContent = text;
    path.append(title);
    svg.append(path);
  }
  return svg;
}

function showState() {
  const state = stateAt(shown.step);
  const before = shown.step > first ? stateAt(shown.step - 1) : state;
  byId("statehead").textContent = `State after step ${shown.step}`;
  const groups = new Map(lanes.map((index) => [index, []]));
  for (const slot of new Set([...state.keys(), ...before.keys()])) {
    const [column, name] = trace.slots[slot];
    if (groups.has(column)) groups.get(column).push([name, state.get(slot), before.get(slot)]);
  }
  const parts = [];
  for (const [index, pieces] of groups) {
    parts.push(make("h3", "", trace.columns[index].name));
    pieces.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    for (const [name, now, was] of pieces) {
      const piece = make("span", now === was ? "piece" : "piece changed");
      const gone = now === undefined;
      piece.append(gone ? `− ${name}` : now === "" ? name : `${name} = ${now}`);
      if (now !== was && was !== undefined && !gone && was !== "") piece.append(make("span", "was", `  (was ${was})`));
      else if (!gone && now !== was && was === undefined) piece.append(make("span", "was", "  (new)"));
      parts.push(piece);
    }
    if (!pieces.length) parts.push(make("span", "piece soft", "nothing"));
  }
  byId("state").replaceChildren(...parts);
}

function show(scrolls) {
  const step = stepAt(shown.step);
  byId("call").textContent = `${shown.step} ${step.call}`;
  byId("call").title = step.whole;
  const about = [trace.meanings[step.action], step.location, step.time_ms === null ? "" : `at ${step.time_ms} ms`];
  byId("about").textContent = about.filter(Boolean).join("  ·  ");
  const changes = [];
  for (const index of lanes) {
    const lines = linesOf(step, index);
    if (lines.length) changes.push(make("h3", "", trace.columns[index].name));
    for (const [, text, whole] of lines) {
      const line = make("span", "piece", text);
      line.title = whole;
      changes.push(line);
    }
  }
  byId("changes").replaceChildren(...changes);
  byId("slider").value = shown.step;
  byId("where").textContent = `step ${shown.step} of ${last}`;
  byId("back").disabled = byId("start").disabled = shown.step === first;
  byId("forward").disabled = byId("end").disabled = shown.step === last;
  const outcome = byId("outcome");
  if (outcome) outcome.classList.toggle("lit", shown.step === trace.outcome.step);
  showState();
  if (scrolls) {
    const box = byId("lanes"), at = visible.indexOf(shown.step), head = byId("heads").offsetHeight;
    const top = tops[at], bottom = tops[at + 1] + head;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + Math.min(120, tops[tops.length - 1] - tops[at + 1]);
  }
  draw();
}

function go(number) {
  const wasHidden = !visible.includes(number);
  shown.step = Math.min(last, Math.max(first, number));
  writeFragment();
  if (wasHidden || shown.action || shown.nodes) layOut();
  show(true);
}

function next(direction) {
  const at = visible.indexOf(shown.step) + direction;
  if (at < 0 || at >= visible.length) return false;
  go(visible[at]);
  return true;
}

function play(on) {
  clearInterval(timer);
  timer = null;
  byId("play").textContent = on ? "Pause" : "Play";
  if (!on) return;
  if (shown.step === last) go(first);
  timer = setInterval(() => { if (!next(1) || shown.step === last) play(false); }, Number(byId("speed").value));
}

function nodeButtons() {
  byId("nodes").replaceChildren(...trace.columns.map((column, index) => {
    const chip = make("button", "chip", column.name);
    chip.title = `show or hide ${column.stands_for || column.name}`;
    chip.setAttribute("aria-pressed", String(seesNode(index)));
    chip.addEventListener("click", () => {
      const nodes = new Set(lanes);
      if (nodes.has(index)) nodes.delete(index); else nodes.add(index);
      shown.nodes = nodes.size === 0 || nodes.size === trace.columns.length ? null : new Set([...nodes].sort((a, b) => a - b));
      writeFragment();
      all();
    });
    return chip;
  }));
}

function all() {
  nodeButtons();
  byId("action").value = shown.action;
  layOut();
  show(true);
}

byId("slider").min = first;
byId("slider").max = last;
byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
byId("start").addEventListener("click", () => go(visible[0]));
byId("end").addEventListener("click", () => go(visible[visible.length - 1]));
byId("back").addEventListener("click", () => next(-1));
byId("forward").addEventListener("click", () => next(1));
byId("play").addEventListener("click", () => play(timer === null));
byId("speed").addEventListener("change", () => { if (timer !== null) play(true); });
byId("action").addEventListener("change", (event) => { shown.action = event.target.value; writeFragment(); all(); });
byId("lanes").addEventListener("scroll", draw);
if (byId("goto")) byId("goto").addEventListener("click", () => go(trace.outcome.step));
byId("copy").addEventListener("click", async () => {
  const said = (word) => { byId("copy").textContent = word; setTimeout(() => { byId("copy").textContent = "Copy"; }, 1500); };
  try {
    await navigator.clipboard.writeText(byId("command").textContent);
    said("Copied");
  } catch {
    getSelection().selectAllChildren(byId("command"));
    said("Selected");
  }
});
addEventListener("keydown", (event) => {
  if (event.target.matches("select, input") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && event.target.matches("button")) return;
  const moves = { ArrowRight: () => next(1), ArrowLeft: () => next(-1), ArrowDown: () => next(1), ArrowUp: () => next(-1),
    Home: () => go(visible[0]), End: () => go(visible[visible.length - 1]), " ": () => play(timer === null) };
  if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
});
addEventListener("hashchange", () => { readFragment(); all(); });
addEventListener("resize", draw);
readFragment();
all();
// An address may ask for the page to play by itself: #step=0&play=300 (milliseconds a step).
const pace = new URLSearchParams(location.hash.slice(1)).get("play");
if (pace !== null) {
  if ([...byId("speed").options].some((one) => one.value === pace)) byId("speed").value = pace;
  play(true);
}
