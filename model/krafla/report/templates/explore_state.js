// One state, variable by variable. Variables that have a value for each of the same nodes stand together,
// a column for each node; beside another walk every variable is a row, with its value here and there.
const COLUMNS_MAX = 6;

// The nodes that all values of a variable are functions of: their names, or null.
function nodesOf(variable) {
  const names = data.values[variable].map((value) => {
    const keys = value?.["#map"]?.map(([key]) => key?.["#model"]);
    return keys && keys.every(Boolean) ? keys.join("\n") : null;
  });
  return names.length > 0 && names.every((one) => one !== null && one === names[0]) ? names[0].split("\n") : null;
}

// Groups of variables in the order of their first ones; `nodes` is null for one that stands alone.
const groups = (() => {
  const found = new Map();
  data.variables.forEach((name, variable) => {
    const nodes = nodesOf(variable);
    const isShared = nodes !== null && nodes.length > 1 && nodes.length <= COLUMNS_MAX;
    const key = isShared ? nodes.join("\n") : name;
    if (!found.has(key)) found.set(key, { nodes: isShared ? nodes : null, variables: [] });
    found.get(key).variables.push(variable);
  });
  return [...found.values()].flatMap((group) => (group.nodes && group.variables.length === 1
    ? [{ nodes: null, variables: group.variables }] : [group]));
})();

function labelOf(variable) {
  const label = data.variables[variable].split(/(?<=_)/);
  return label.flatMap((word) => [word, document.createElement("wbr")]);
}

function rowOf(variable, state, before) {
  const old = before === undefined ? undefined : valueOf(variable, before);
  const value = element("td", shown(valueOf(variable, state), old), { class: "value" });
  return element("tr", [element("th", labelOf(variable), { scope: "row" }), value]);
}

function partOf(value, index) {
  return value === undefined ? undefined : value["#map"][index][1];
}

function nodeRowOf(nodes, variable, state, before) {
  const now = valueOf(variable, state);
  const old = before === undefined ? undefined : valueOf(variable, before);
  const cells = nodes.map((node, index) => element(
    "td", shown(partOf(now, index), partOf(old, index)), { class: "value", "data-node": node }));
  return element("tr", [element("th", labelOf(variable), { scope: "row" }), ...cells]);
}

function tableOf({ nodes, variables }, state, before) {
  if (nodes === null) {
    return element("table", variables.map((variable) => rowOf(variable, state, before)), { class: "state" });
  }
  const heads = [element("td", ""), ...nodes.map((name) => element("th", name, { scope: "col" }))];
  heads[0].className = "corner";
  const rows = variables.map((variable) => nodeRowOf(nodes, variable, state, before));
  return element("table", [element("tr", heads, { class: "heads" }), ...rows], { class: "state nodes" });
}

function besideOf(state, before, other, title) {
  const heads = ["Variable", "Here", title].map((name) => element("th", name, { scope: "col" }));
  const rows = data.variables.map((name, variable) => {
    const row = rowOf(variable, state, before);
    row.append(element("td", shown(valueOf(variable, other)), { class: "value" }));
    if (data.columns[variable][state] !== data.columns[variable][other]) row.classList.add("differs");
    return row;
  });
  return element("table", [element("tr", heads), ...rows], { class: "state" });
}

function drawState(state) {
  const walk = view.walks[view.on];
  const before = view.at ? stateAt(walk, view.at - 1) : undefined;
  const beside = view.walks.length > 1 ? view.walks[view.on ? 0 : 1] : null;
  at("where").textContent = `State ${state}, depth ${fromStart.distances[state]}`;
  const tables = beside
    ? [besideOf(state, before, endOf(beside), `Walk ${view.on ? 1 : 2}, state ${endOf(beside)}`)]
    : groups.map((group) => tableOf(group, state, before));
  at("state").replaceChildren(...tables);
}
