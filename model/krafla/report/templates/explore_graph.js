// The graph as the page holds it: arrays of numbers. A state and a step are numbers.
const data = JSON.parse(document.getElementById("data").textContent);
const OUTSIDE = -1;
const starts = new Int32Array(data.degrees.length + 1);
data.degrees.forEach((degree, state) => { starts[state + 1] = starts[state] + degree; });
const targets = Int32Array.from(data.targets);

function isKnown(state) {
  return state < data.degrees.length;
}

function stepsOf(state) {
  if (!isKnown(state)) return [];
  return Array.from({ length: data.degrees[state] }, (_, index) => starts[state] + index);
}

function valueOf(variable, state) {
  return data.values[variable][data.columns[variable][state]];
}

function actionOf(step) {
  return data.words[data.steps[step]][0];
}

function titleOf(step) {
  const [action, parameters] = data.words[data.steps[step]];
  return parameters.length ? `${action}(${parameters.join(", ")})` : action;
}

function briefTitleOf(step) {
  const [action, , parameters] = data.words[data.steps[step]];
  return parameters.length ? `${action}(${parameters.map(brief).join(", ")})` : action;
}

function changesOf(before, after, read = text) {
  return data.variables.flatMap((name, variable) => {
    if (data.columns[variable][before] === data.columns[variable][after]) return [];
    return changes(name, valueOf(variable, before), valueOf(variable, after), read);
  });
}

// Breadth first from some states: the steps by which each state was first reached, and how far it is.
function search(from) {
  const arrivals = new Int32Array(data.states).fill(-1);
  const sources = new Int32Array(data.states).fill(-1);
  const distances = new Int32Array(data.states).fill(-1);
  const queue = [...from];
  queue.forEach((state) => { distances[state] = 0; });
  for (let next = 0; next < queue.length; next += 1) {
    const state = queue[next];
    if (!isKnown(state)) continue;
    for (let step = starts[state]; step < starts[state + 1]; step += 1) {
      const target = targets[step];
      if (target >= 0 && distances[target] < 0) {
        distances[target] = distances[state] + 1;
        arrivals[target] = step;
        sources[target] = state;
        queue.push(target);
      }
    }
  }
  const wayTo = (state) => {
    const way = [];
    for (; arrivals[state] >= 0; state = sources[state]) way.unshift(arrivals[state]);
    return { start: state, steps: way };
  };
  return { distances, wayTo };
}

const fromStart = search(Array.from({ length: data.initial }, (_, state) => state));
