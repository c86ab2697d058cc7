"use strict";
// Messages as arrows between lanes. Each step draws the part of an arrow that crosses it: from its top to
// the height of its dots ("over", unscaled), and from there to its bottom ("under", stretched to its height).
const DOT = 15, TIP = 6;
const SVG = "http://www.w3.org/2000/svg";

function drawn(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// One message, as far as the shown steps have both its ends: the places of these steps, and its lanes.
function spansOf(flights, placeOf, laneOf) {
  const spans = [];
  for (const [text, sent, taken, sender, receiver, isLost] of flights) {
    if (sender === null || receiver === null || sender === receiver) continue;
    const [from, to] = [laneOf(sender), laneOf(receiver)];
    const [start, end] = [placeOf(sent), taken === null ? null : placeOf(taken)];
    if (from === undefined || to === undefined || start === undefined || end === undefined) continue;
    const kind = end === null ? "open" : isLost ? "lost" : "";
    spans.push({ text, sent, taken, from, to, kind, start, end: end ?? start + 1 });
  }
  return spans;
}

// Where an arrow is at a step: lanes from the left. A lost one ends on its way.
function laneAt({ from, to, kind, start, end }, place) {
  const reach = kind === "open" ? 0.35 : kind === "lost" ? 0.6 : 1;
  return from + (to - from) * reach * (place - start) / (end - start);
}

function arrowPath(span, now, line) {
  const isNow = span.sent === now || span.taken === now;
  const path = drawn("path", { class: `arrow ${span.kind}${isNow ? " now" : ""}`, d: line });
  const title = drawn("title", {});
  title.textContent = span.text;
  path.append(title);
  return path;
}

// The two drawings of one step. `share` is how much of the way to the next step lies below its dots.
function waysOf(spans, place, lane, width, shareBelow, shareAbove, now) {
  const x = (one) => (one + 0.5) * lane;
  const over = drawn("svg", { class: "way over", viewBox: `0 0 ${width} ${DOT}`, preserveAspectRatio: "none" });
  const under = drawn("svg", { class: "way under", viewBox: `0 0 ${width} 1`, preserveAspectRatio: "none" });
  for (const span of spans) {
    if (place > span.start && span.kind !== "open") {
      const [was, here] = [x(laneAt(span, place - 1)), x(laneAt(span, place))];
      const top = was + (here - was) * shareAbove;
      over.append(arrowPath(span, now, `M${top},0L${endOf(span, place, top, here)}`));
      if (span.kind === "lost" && place === span.end) over.append(crossAt(span, now, here));
    }
    if (place < span.end) {
      const [here, next] = [x(laneAt(span, place)), x(laneAt(span, place + 1))];
      under.append(arrowPath(span, now, `M${here},0L${here + (next - here) * shareBelow},1`));
    }
  }
  return [over, under].filter((one) => one.childElementCount);
}

function crossAt(span, now, here) {
  const cross = arrowPath(span, now, `M${here - 4},${DOT - 4}l8,8m0,-8l-8,8`);
  cross.classList.add("cross");
  return cross;
}

// The end of an arrow at the dots of a step, with a tip if it arrives there.
function endOf({ kind, end }, place, top, here) {
  if (place < end || kind === "lost") return `${here},${DOT}`;
  const angle = Math.atan2(DOT, here - top);
  const [tipX, tipY] = [here - 5 * Math.cos(angle), DOT - 5 * Math.sin(angle)];
  const wing = (turn) => `${tipX - TIP * Math.cos(angle + turn)},${tipY - TIP * Math.sin(angle + turn)}`;
  return `${tipX},${tipY}M${wing(0.5)}L${tipX},${tipY}L${wing(-0.5)}`;
}
