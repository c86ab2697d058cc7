// The walks, and what is shown of them. All of it is in the fragment, so a link is a whole view:
// #walk=0,3,7&walk=0,3,9&on=2&at=1&action=Tick&text=trace
let view = null;

function stateAt(walk, position) {
  return position === 0 ? walk.start : targets[walk.steps[position - 1]];
}

function endOf(walk) {
  return stateAt(walk, walk.steps.length);
}

// Steps between the same two states are told apart by their order: "7" is the first, "7.1" the next.
function written(walk) {
  let state = walk.start;
  const names = [String(state)];
  for (const step of walk.steps) {
    const alike = stepsOf(state).filter((one) => targets[one] === targets[step]);
    const order = alike.indexOf(step);
    state = targets[step];
    names.push(order ? `${state}.${order}` : String(state));
  }
  return names.join(",");
}

function read(textOfWalk, problems) {
  const names = textOfWalk.split(",").map((name) => name.split(".").map(Number));
  const [start] = names[0];
  if (!Number.isInteger(start) || start < 0 || start >= data.states) {
    problems.push(`There is no state ${names[0][0]} on this page.`);
    return { start: 0, steps: [] };
  }
  const walk = { start, steps: [] };
  for (const [target, order = 0] of names.slice(1)) {
    const state = endOf(walk);
    const step = stepsOf(state).filter((one) => targets[one] === target)[order];
    if (step === undefined) {
      problems.push(`State ${target} does not follow state ${state}: the walk ends before it.`);
      break;
    }
    walk.steps.push(step);
  }
  return walk;
}

function viewOf(fragment) {
  const wanted = new URLSearchParams(fragment.replace(/^#/, ""));
  const problems = [];
  const walks = wanted.getAll("walk").map((one) => read(one, problems));
  if (walks.length === 0) walks.push({ start: 0, steps: [] });
  const within = (name, low, high, otherwise) => {
    const number = Number(wanted.get(name) ?? NaN);
    return Number.isInteger(number) && number >= low && number <= high ? number : otherwise;
  };
  const on = within("on", 1, walks.length, 1) - 1;
  const at = within("at", 0, walks[on].steps.length, walks[on].steps.length);
  const text = ["trace", "words"].includes(wanted.get("text")) ? wanted.get("text") : "";
  return { walks, on, at, text, action: wanted.get("action") ?? "", problems };
}

function show(change) {
  const next = { ...view, text: "", ...change };
  const pairs = next.walks.map((walk) => `walk=${written(walk)}`);
  if (next.on > 0) pairs.push(`on=${next.on + 1}`);
  if (next.at < next.walks[next.on].steps.length) pairs.push(`at=${next.at}`);
  if (next.action) pairs.push(`action=${encodeURIComponent(next.action)}`);
  if (next.text) pairs.push(`text=${next.text}`);
  location.hash = pairs.join("&");
}

// The current walk replaced by another one, seen at its end.
function follow(walk) {
  const walks = view.walks.map((one, index) => (index === view.on ? walk : one));
  show({ walks, at: walk.steps.length });
}

function walked() {
  const walk = view.walks[view.on];
  return { start: walk.start, steps: walk.steps.slice(0, view.at) };
}

function take(step) {
  const walk = view.walks[view.on];
  if (walk.steps[view.at] === step) show({ at: view.at + 1 });
  else follow({ start: walk.start, steps: [...walked().steps, step] });
}

function fork() {
  show({ walks: [...view.walks, walked()], on: view.walks.length, at: view.at });
}

// To a state by number: a shortest walk there, beside the one at hand.
function jump(number) {
  const isHere = Number.isInteger(number) && number >= 0 && number < data.states;
  const walk = isHere ? fromStart.wayTo(number) : { start: number, steps: [] };
  if (view.walks[view.on].steps.length === 0) follow(walk);
  else show({ walks: [...view.walks, walk], on: view.walks.length, at: walk.steps.length });
}

function turn(by) {
  const on = (view.on + by + view.walks.length) % view.walks.length;
  show({ on, at: view.walks[on].steps.length });
}

function close(index) {
  const walks = view.walks.filter((_, other) => other !== index);
  const on = Math.min(view.on > index ? view.on - 1 : view.on, walks.length - 1);
  show({ walks, on, at: index === view.on ? walks[on].steps.length : view.at });
}

const at = (id) => document.getElementById(id);

function button(content, act, attributes = {}) {
  const made = element("button", content, { type: "button", ...attributes });
  made.addEventListener("click", act);
  return made;
}

function counted(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

function drawWalks() {
  const tabs = view.walks.flatMap((walk, index) => {
    const label = `Walk ${index + 1}: ${counted(walk.steps.length, "step")}`;
    const tab = button(label, () => show({ on: index, at: walk.steps.length }),
                       { role: "tab", "aria-selected": String(index === view.on) });
    const shut = button("\u00d7", () => close(index), { title: `Close walk ${index + 1}` });
    return view.walks.length > 1 ? [tab, shut] : [tab];
  });
  at("walks").replaceChildren(...tabs);
  const walk = view.walks[view.on];
  const first = fromStart.distances[walk.start] ? `state ${walk.start}` : "Init";
  const names = [[first, first], ...walk.steps.map((step) => [briefTitleOf(step), titleOf(step)])];
  at("crumbs").replaceChildren(...names.map(([name, title], position) => {
    const crumb = button(name, () => show({ at: position }), { title: `${title}, state ${stateAt(walk, position)}` });
    const place = position === view.at ? "here" : position > view.at ? "later" : "before";
    if (place === "here") crumb.setAttribute("aria-current", "step");
    return element("li", crumb, { class: place });
  }));
  at("crumbs").querySelector(".here").scrollIntoView({ block: "nearest" });
}

function drawSteps(state) {
  const walk = view.walks[view.on];
  const seen = new Set(Array.from({ length: view.at + 1 }, (_, position) => stateAt(walk, position)));
  const all = stepsOf(state);
  const inside = all.filter((step) => targets[step] !== OUTSIDE);
  const chosen = inside.filter((step) => !view.action || actionOf(step) === view.action);
  at("count").textContent = isKnown(state) ? counted(inside.length, "step") : "What follows is not known";
  const actions = [...new Set(inside.map(actionOf))];
  if (view.action && !actions.includes(view.action)) actions.push(view.action);
  at("action").replaceChildren(
    element("option", "Every action", { value: "" }),
    ...actions.map((name) => element("option", name, { value: name, ...(name === view.action ? { selected: "" } : {}) })),
  );
  const briefs = chosen.map(briefTitleOf);
  const isAlone = (brief) => briefs.indexOf(brief) === briefs.lastIndexOf(brief);
  at("steps").replaceChildren(...chosen.map((step, index) => (
    element("li", stepButton(state, step, index, seen, isAlone(briefs[index]))))));
  at("outside").textContent = note(state, all);
  at("outside").hidden = !at("outside").textContent;
}

// What is brief must still tell the step from its neighbours.
function stepButton(state, step, index, seen, isBrief) {
  const [action, wholes, parameters] = data.words[data.steps[step]];
  const target = targets[step];
  const isHere = target >= 0;
  const tags = [isHere ? `\u2192 ${target}` : "not on this page"];
  if (target === state) tags.push(element("span", "stays", { class: "tag" }));
  else if (seen.has(target)) tags.push(element("span", "seen", { class: "tag" }));
  const lines = isHere ? changesOf(state, target, typeFirst) : [];
  const told = isBrief ? parameters.map(brief) : wholes;
  const name = [action, parameters.length ? element("span", `(${told.join(", ")})`, { class: "value" }) : null];
  const made = button([
    element("span", index < 9 ? String(index + 1) : "", { class: "key" }),
    element("span", name, { class: "name", title: titleOf(step) }),
    element("span", tags, { class: "to" }),
    element("span", lines.map((line) => element("div", line, { title: line })), { class: "changes code" }),
  ], () => take(step));
  made.disabled = !isHere;
  return made;
}

function note(state, all) {
  if (!isKnown(state)) return "The search was stopped before it looked from here.";
  const names = all.filter((step) => targets[step] === OUTSIDE).map(actionOf);
  if (names.length > 0) {
    const kinds = [...new Set(names)].join(", ");
    return `${counted(names.length, "more step")} would leave the model's bounds: ${kinds}.`;
  }
  return all.length ? "" : "No step is possible: a dead end.";
}

function drawGoals(state) {
  const near = search([state]);
  // Behind what the page leaves out, or the search never saw, there may be a way.
  const isWhole = data.total === data.states && data.degrees.length === data.states;
  const unreachable = isWhole ? "cannot be reached" : "no way on this page";
  const rows = data.predicates.map(([name, states, total]) => {
    let goal = -1;
    for (const one of states) {
      if (near.distances[one] >= 0 && (goal < 0 || near.distances[one] < near.distances[goal])) goal = one;
    }
    const where = goal < 0 ? unreachable : goal === state ? "holds here" : counted(near.distances[goal], "step");
    const go = () => {
      const here = walked();
      follow({ start: here.start, steps: [...here.steps, ...near.wayTo(goal).steps] });
    };
    const act = goal < 0 || goal === state ? null : button("Walk there", go);
    return element("tr", [
      element("td", name, { class: "code", title: `true in ${counted(total, "state")} of the model` }),
      element("td", [where, " ", act], goal < 0 ? { class: "soft" } : {}),
    ]);
  });
  at("goals").replaceChildren(...rows);
}

// The walk for people, and for `krafla replay`.
function asWords(walk) {
  const first = data.variables.map((name, variable) => `      ${name} = ${text(valueOf(variable, walk.start))}`);
  const lines = ["  1 Init", ...first];
  walk.steps.forEach((step, index) => {
    lines.push(`${String(index + 2).padStart(3)} ${titleOf(step)}   ${data.places[actionOf(step)]}`);
    const found = changesOf(stateAt(walk, index), stateAt(walk, index + 1));
    lines.push(...(found.length ? found : ["nothing changed"]).map((line) => `      ${line}`));
  });
  return `${lines.join("\n")}\n`;
}

function asTrace(walk) {
  const row = (position, fields) => {
    const state = stateAt(walk, position);
    const values = Object.fromEntries(data.variables.map((name, variable) => [name, valueOf(variable, state)]));
    return { step: position, ...fields, state: values };
  };
  const header = {
    krafla_trace: data.format, spec: data.spec, steps: walk.steps.length + 1, model: data.model,
    constants: data.constants, origin: { made_by: "oracle" }, claim: { kind: "behaviour" },
  };
  const rows = walk.steps.map((step, index) => {
    const [action, , parameters] = data.words[data.steps[step]];
    return row(index + 1, { action, parameters, location: data.places[action] });
  });
  return [header, row(0, { action: "Init", parameters: [] }), ...rows].map((one) => `${JSON.stringify(one)}\n`).join("");
}

function drawText() {
  at("text").hidden = !view.text;
  if (!view.text) return;
  const here = walked();
  const lead = fromStart.wayTo(here.start);
  const whole = { start: lead.start, steps: [...lead.steps, ...here.steps] };
  at("content").textContent = view.text === "trace" ? asTrace(whole) : asWords(whole);
}

function draw() {
  view = viewOf(location.hash);
  const walk = view.walks[view.on];
  const state = stateAt(walk, view.at);
  at("problem").textContent = view.problems.join(" ");
  at("problem").hidden = view.problems.length === 0;
  at("broken").hidden = data.broken === null || data.broken.state !== state;
  at("broken").textContent = data.broken === null ? "" : data.broken.told;
  at("back").disabled = view.at === 0;
  at("forward").disabled = view.at === walk.steps.length;
  drawWalks();
  drawState(state);
  drawSteps(state);
  drawGoals(state);
  drawText();
}

function download() {
  const kind = view.text === "trace" ? "ndjson" : "txt";
  const link = element("a", "", { download: `${data.model}-walk.${kind}` });
  link.href = URL.createObjectURL(new Blob([at("content").textContent], { type: "text/plain" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

at("back").onclick = () => show({ at: view.at - 1 });
at("forward").onclick = () => show({ at: view.at + 1 });
at("fork").onclick = fork;
at("words").onclick = () => show({ text: "words" });
at("trace").onclick = () => show({ text: "trace" });
at("close").onclick = () => show({});
at("download").onclick = download;
at("copy").onclick = () => {
  // Not every browser lets a file reach the clipboard; a selection can be copied by hand.
  getSelection().selectAllChildren(at("content"));
  document.execCommand("copy");
};
at("restart").onclick = () => follow(fromStart.wayTo(stateAt(view.walks[view.on], view.at)));
at("action").onchange = (event) => show({ action: event.target.value });
at("jump").onsubmit = (event) => {
  event.preventDefault();
  jump(Number(at("number").value.trim() || NaN));
};
const keys = {
  ArrowLeft: () => at("back").click(), ArrowRight: () => at("forward").click(), f: fork,
  "[": () => turn(-1), "]": () => turn(1),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select")) return;
  if (/^[1-9]$/.test(event.key)) at("steps").querySelectorAll("button")[Number(event.key) - 1]?.click();
  else if (Object.hasOwn(keys, event.key)) keys[event.key]();
  else return;
  event.preventDefault();
});
addEventListener("hashchange", draw);
at("whole").open = false;
addEventListener("beforeprint", () => { at("whole").open = true; });
draw();
