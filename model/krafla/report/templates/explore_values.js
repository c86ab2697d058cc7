// Values of TLA+ as the trace format encodes them: how they read, and what changed in them.
"use strict";

function text(value) {
  if (value === true) return "TRUE";
  if (value === false) return "FALSE";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `<<${value.map(text).join(", ")}>>`;
  if ("#model" in value) return value["#model"];
  if ("#set" in value) return `{${value["#set"].map(text).join(", ")}}`;
  if ("#map" in value) return `(${value["#map"].map(([k, v]) => `${text(k)} :> ${text(v)}`).join(" @@ ")})`;
  return `[${Object.entries(value).map(([k, v]) => `${k} |-> ${text(v)}`).join(", ")}]`;
}

// A value in few words: a record by its type, if it says one, and by who sends it to whom.
function brief(value) {
  if (value && typeof value === "object" && typeof value.type === "string") {
    const name = (field) => value[field]?.["#model"];
    if (name("from") && name("to")) return `${value.type} ${name("from")}\u2192${name("to")}`;
    const whose = Object.values(value).find((one) => one?.["#model"] && one["#model"] !== "Nil");
    return whose ? `${value.type} ${whose["#model"]}` : value.type;
  }
  const whole = text(value);
  return whole.length > 24 ? `${whole.slice(0, 23)}\u2026` : whole;
}

// A value in one line that may be cut at its end: the type of a record first.
function typeFirst(value) {
  if (!value || typeof value !== "object" || typeof value.type !== "string") return text(value);
  const { type, ...others } = value;
  return `${type} ${text(others)}`;
}

// Whether it counts members that are records, sets or sequences; the empty function may.
function isBag(value) {
  if (Array.isArray(value)) return value.length === 0;
  const pairs = value?.["#map"];
  return Boolean(pairs) && pairs.every(([k, v]) => typeof k === "object" && !("#model" in k) && v > 0);
}

// The parts of a function, record or sequence: [how the argument reads, result]; null for others.
function parts(value) {
  if (Array.isArray(value)) return value.map((one, index) => [`[${index + 1}]`, one]);
  if (value === null || typeof value !== "object" || "#model" in value || "#set" in value) return null;
  if ("#map" in value) return value["#map"].map(([k, v]) => [`[${text(k)}]`, v]);
  return Object.entries(value).map(([k, v]) => [`.${k}`, v]);
}

// One line for each part that changed; `read` says how a member of a bag reads.
function changes(name, before, after, read = text) {
  if (text(before) === text(after)) return [];
  if (isBag(before) && isBag(after)) return bagChanges(name, before, after, read);
  if (before["#set"] && after["#set"]) {
    const [old, now] = [before, after].map((set) => new Set(set["#set"].map(text)));
    return [...[...now].filter((one) => !old.has(one)).map((one) => `${name} + ${one}`),
            ...[...old].filter((one) => !now.has(one)).map((one) => `${name} - ${one}`)];
  }
  const [old, now] = [parts(before), parts(after)];
  if (!old || !now) return [`${name}: ${text(before)} \u2192 ${text(after)}`];
  const [left, right] = [new Map(old), new Map(now)];
  const lines = [];
  for (const [key, value] of right) {
    if (left.has(key)) lines.push(...changes(name + key, left.get(key), value, read));
    else lines.push(`${name}${key} = ${text(value)}`);
  }
  for (const [key, value] of left) if (!right.has(key)) lines.push(`${name}${key} gone, was ${text(value)}`);
  return lines;
}

function bagChanges(name, before, after, read) {
  const counts = new Map();
  for (const [bag, sign] of [[before, -1], [after, 1]]) {
    for (const [member, count] of bag["#map"] ?? []) {
      const known = counts.get(text(member)) ?? { member, more: 0 };
      counts.set(text(member), { member, more: known.more + sign * count });
    }
  }
  const changed = [...counts.values()].filter(({ more }) => more !== 0).sort((a, b) => b.more - a.more);
  return changed.map(({ member, more }) => {
    const times = Math.abs(more) > 1 ? `${Math.abs(more)} times ` : "";
    return `${name} ${more > 0 ? "+" : "-"} ${times}${read(member)}`;
  });
}

function operator() {
  const made = document.createElement("span");
  made.className = "op";
  made.textContent = "|->";
  return made;
}

// A line may not end inside of an operator.
function glued(content) {
  if (typeof content !== "string" || !content.includes("|->")) return [content];
  return content.split(/(\|->)/).map((one) => (one === "|->" ? operator() : one));
}

function element(tag, content, attributes = {}) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...[content].flat().filter((one) => one !== null && one !== undefined).flatMap(glued));
  return made;
}

function marked(value, before) {
  return element("mark", text(value), before === undefined ? {} : { title: `was ${text(before)}` });
}

// A value to look at: an entry on each line where there are several, what changed marked.
function shown(value, before, isOuter = true) {
  const same = before === undefined || text(before) === text(value);
  const entries = value !== null && typeof value === "object" ? entriesOf(value) : null;
  if (!entries) return same ? [text(value)] : [marked(value, before)];
  const old = same || before === null || typeof before !== "object" ? null : entriesOf(before);
  // The empty bag is an empty sequence: what comes into it, or goes, is told row by row.
  const isEmptied = old && Array.isArray(value) && value.length === 0;
  const isFilled = old && Array.isArray(before) && before.length === 0;
  if (!same && (!old || (old.open !== entries.open && !isEmptied && !isFilled))) return [marked(value, before)];
  const known = old ? new Map(old.rows.map(([key, , one]) => [key, one])) : null;
  const pieces = entries.rows.map(([key, label, one]) => {
    if (!known) return [label, ...(one === undefined ? [] : shown(one, undefined, false))];
    if (!known.has(key)) return [element("mark", label + (one === undefined ? "" : text(one)))];
    return [label, ...(one === undefined ? [] : shown(one, known.get(key), false))];
  });
  if (known) {
    const now = new Set(entries.rows.map(([key]) => key));
    for (const [key, label, one] of old.rows) {
      if (!now.has(key)) pieces.push([element("del", label + (one === undefined ? "" : text(one)), { title: "gone" })]);
    }
  }
  if (isEmptied) pieces.unshift([element("mark", text(value))]);
  if (isOuter && pieces.length > 0 && (entries.isTall || isEmptied)) return pieces.map((piece) => element("div", piece));
  const joined = pieces.flatMap((piece, index) => (index ? [", ", ...piece] : piece));
  return [entries.open, ...joined, entries.close];
}

// How a value with parts reads: its brackets and rows of [key, label, part]; members have no part.
function entriesOf(value) {
  if (Array.isArray(value)) {
    const rows = value.map((one, index) => [String(index), "", one]);
    return { open: "<<", close: ">>", rows, isTall: value.length > 1 };
  }
  if ("#model" in value) return null;
  if ("#set" in value) {
    const rows = value["#set"].map((one) => [text(one), typeFirst(one), undefined]);
    return { open: "{", close: "}", rows, isTall: value["#set"].length > 1 };
  }
  if ("#map" in value) {
    const rows = value["#map"].map(([k, v]) => [text(k), `${typeFirst(k)} :> `, v]);
    return { open: "(", close: ")", rows, isTall: true };
  }
  const rows = Object.entries(value).map(([k, v]) => [k, `${k} |-> `, v]);
  // A record of plain values reads well in a row, an image of the whole cluster does not.
  const isDeep = rows.some(([, , one]) => one !== null && typeof one === "object" && !("#model" in one));
  return { open: "[", close: "]", rows, isTall: isDeep && rows.length > 3 };
}
