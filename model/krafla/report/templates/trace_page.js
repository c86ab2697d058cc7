const trace = JSON.parse(document.getElementById("trace").textContent);
const byId = (id) => document.getElementById(id);
const first = trace.first, last = first + trace.deltas.length - 1;
const rows = [...document.querySelectorAll(".step")];
const shown = { step: first, nodes: null, action: "" };
let visible = [], places = new Map(), spans = [], near = new Set(), timer = null;

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}
const rowAt = (number) => rows[number - first];
const numberOf = new Map(rows.map((row, at) => [row, first + at]));
const seesNode = (column) => shown.nodes === null || shown.nodes.has(column);

// The state after a step: [text, whole] by slot; `whole` is there for a text that is cut.
function stateAt(number) {
  const state = new Map(trace.initial.map(([slot, ...texts]) => [slot, texts]));
  for (let at = first + 1; at <= number; at++) {
    for (const [slot, ...texts] of trace.deltas[at - first]) {
      if (texts[0] === null) state.delete(slot); else state.set(slot, texts);
    }
  }
  return state;
}

// #step=5&nodes=p1,p2&action=Tick; false if it names something else on the page, such as the outcome.
function readFragment() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (location.hash.length > 1 && !["step", "nodes", "action"].some((name) => asked.has(name))) return false;
  const step = Number.parseInt(asked.get("step"), 10);
  shown.step = Number.isNaN(step) ? first : Math.min(last, Math.max(first, step));
  shown.action = trace.actions.includes(asked.get("action")) ? asked.get("action") : "";
  const names = (asked.get("nodes") || "").split(",").filter((name) => name !== "");
  const known = names.map((name) => trace.columns.indexOf(decodeURIComponent(name))).filter((column) => column >= 0);
  shown.nodes = known.length ? new Set(known) : null;
  return true;
}

function writeFragment() {
  const parts = [`step=${shown.step}`];
  if (shown.nodes) parts.push(`nodes=${[...shown.nodes].map((one) => encodeURIComponent(encodeURIComponent(trace.columns[one]))).join(",")}`);
  if (shown.action) parts.push(`action=${encodeURIComponent(shown.action)}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}

function isSeen(number) {
  if (number === first || number === shown.step) return true;
  if (shown.action && trace.actions[number - first] !== shown.action) return false;
  return shown.nodes === null || [...rowAt(number).querySelectorAll("[data-column]")].some((one) => shown.nodes.has(Number(one.dataset.column)));
}

function layOut() {
  visible = [];
  rows.forEach((row, at) => {
    row.hidden = !isSeen(first + at);
    if (!row.hidden) visible.push(first + at);
  });
  places = new Map(visible.map((number, place) => [number, place]));
  const lanes = trace.lanes.filter(seesNode);
  const laneOf = new Map(lanes.map((column, lane) => [column, lane]));
  const sheet = document.querySelector(".sheet");
  sheet.style.setProperty("--count", lanes.length);
  lanes.forEach((column, lane) => sheet.style.setProperty(`--at-${column}`, lane));
  const gone = trace.columns.map((_, column) => column).filter((column) => !seesNode(column));
  byId("hidden").textContent = gone.map((column) => `[data-column="${column}"]`).join(",") + (gone.length ? "{ display: none !important; }" : "");
  spans = spansOf(trace.flights, (number) => places.get(number), (column) => laneOf.get(column));
  for (const row of near) drawWays(row, false);
  watch();
}

function drawWays(row, isNear) {
  for (const old of row.querySelectorAll("svg.way")) old.remove();
  const number = numberOf.get(row), place = places.get(number);
  if (!isNear || place === undefined) return;
  const box = row.querySelector(".lanes");
  const width = box.clientWidth, lane = width / Math.max(1, trace.lanes.filter(seesNode).length);
  const crossing = spans.filter((span) => span.start <= place && place <= span.end);
  if (!crossing.length || !width) return;
  const below = (one) => (rowAt(one).offsetHeight - DOT) / rowAt(one).offsetHeight;
  const above = place ? below(visible[place - 1]) : 1;
  box.prepend(...waysOf(crossing, place, lane, width, below(number), above, shown.step));
}

// Arrows are drawn in the steps near the view; the others wait until they are scrolled there, or printed.
const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) near.add(target); else near.delete(target);
    drawWays(target, isIntersecting);
  }
}, { rootMargin: "800px" });

function watch() {
  observer.disconnect();
  near = new Set();
  for (const row of rows) if (!row.hidden) observer.observe(row);
}

function longText(text, whole) {
  const details = make("details", "long");
  details.append(make("summary", "", text), make("pre", "", whole));
  return details;
}

function pieceOf(name, now, was) {
  const isSame = now !== undefined && was !== undefined && now[0] === was[0] && now[1] === was[1];
  const piece = make("div", isSame ? "piece" : "piece changed");
  if (now === undefined) piece.append(`\u2212 ${name}`);
  else if (now[1]) piece.append(longText(`${name} = ${now[0]}`, now[1]));
  else piece.append(now[0] === "" ? name : `${name} = ${now[0]}`);
  if (now !== undefined && !isSame) piece.append(make("span", "was", was === undefined ? "  (new)" : was[0] === "" ? "" : `  (was ${was[0]})`));
  return piece;
}

function showState() {
  const state = stateAt(shown.step);
  const before = shown.step > first ? stateAt(shown.step - 1) : state;
  const groups = new Map(trace.columns.map((_, column) => [column, []]));
  for (const slot of new Set([...state.keys(), ...before.keys()])) {
    const [column, name] = trace.slots[slot];
    groups.get(column).push([name, state.get(slot), before.get(slot)]);
  }
  const parts = [];
  for (const [column, pieces] of groups) {
    if (!seesNode(column)) continue;
    parts.push(make("h3", "", trace.columns[column]));
    pieces.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    parts.push(...pieces.map((one) => pieceOf(...one)));
    if (!pieces.length) parts.push(make("div", "piece soft", "nothing"));
  }
  byId("state").replaceChildren(...parts);
}

function show(scrolls) {
  const action = trace.actions[shown.step - first], name = trace.names[shown.step - first];
  byId("statehead").textContent = shown.step ? `After ${name === action ? "" : `${name}, `}${action}` : "The initial state";
  byId("about").textContent = trace.meanings[action] || "";
  byId("about").hidden = !trace.meanings[action];
  byId("slider").value = shown.step;
  byId("where").textContent = `step ${trace.counted[shown.step - first]} of ${trace.counted[last - first]}`;
  byId("back").disabled = byId("start").disabled = shown.step === visible[0];
  byId("forward").disabled = byId("end").disabled = shown.step === visible[visible.length - 1];
  for (const old of document.querySelectorAll(".step.current")) {
    old.classList.remove("current");
    old.removeAttribute("aria-current");
  }
  rowAt(shown.step).classList.add("current");
  rowAt(shown.step).setAttribute("aria-current", "step");
  if (byId("outcome")) byId("outcome").classList.toggle("lit", shown.step === trace.wrong);
  showState();
  for (const row of near) drawWays(row, true);
  if (scrolls) rowAt(shown.step).scrollIntoView({ block: "nearest" });
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
  if (shown.step === visible[visible.length - 1]) go(visible[0]);
  timer = setInterval(() => { if (!next(1) || shown.step === visible[visible.length - 1]) play(false); }, Number(byId("speed").value));
}

function nodeButtons() {
  byId("nodes").replaceChildren(...trace.columns.map((name, column) => {
    const chip = make("button", "chip", name);
    chip.title = `show or hide ${name}`;
    chip.setAttribute("aria-pressed", String(seesNode(column)));
    chip.addEventListener("click", () => {
      const nodes = new Set(trace.columns.map((_, one) => one).filter(seesNode));
      if (nodes.has(column)) nodes.delete(column); else nodes.add(column);
      shown.nodes = nodes.size === 0 || nodes.size === trace.columns.length ? null : new Set([...nodes].sort((a, b) => a - b));
      writeFragment();
      all(true);
    });
    return chip;
  }));
}

function all(scrolls) {
  nodeButtons();
  byId("action").value = shown.action;
  if (shown.action || shown.nodes) byId("more").open = true;
  layOut();
  show(scrolls);
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
byId("action").addEventListener("change", (event) => { shown.action = event.target.value; writeFragment(); all(true); });
byId("steps").addEventListener("click", (event) => {
  const row = event.target.closest(".step");
  if (row && !event.target.closest("a, summary, pre") && getSelection().isCollapsed) go(numberOf.get(row));
});
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
  if (event.target.matches("select, input") || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const moves = { ArrowRight: () => next(1), ArrowLeft: () => next(-1), Home: () => go(visible[0]),
    End: () => go(visible[visible.length - 1]), p: () => play(timer === null) };
  if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
});
addEventListener("hashchange", () => { if (readFragment()) all(true); });
addEventListener("resize", () => { for (const row of near) drawWays(row, true); });
// Paper has nothing to open.
let opened = [];
addEventListener("beforeprint", () => {
  for (const number of visible) drawWays(rowAt(number), true);
  opened = [...document.querySelectorAll("main details:not([open], #more), #outcome details:not([open])")];
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
// On a narrow screen the state lies over the steps, so it waits until it is asked for.
if (matchMedia("(max-width: 1080px)").matches) byId("panel").open = false;
all(readFragment() && location.hash.length > 1);
// An address may ask for the page to play by itself: #step=0&play=300 (milliseconds a step).
const pace = new URLSearchParams(location.hash.slice(1)).get("play");
if (pace !== null) {
  if ([...byId("speed").options].some((one) => one.value === pace)) byId("speed").value = pace;
  play(true);
}
