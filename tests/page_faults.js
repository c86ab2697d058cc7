// What is wrong with how this page looks, as sentences: run in the page, after its own scripts.
"use strict";
function pageFaults() {
  const faults = new Set();
  const named = (node) => {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const names = `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""}.${element.getAttribute("class") ?? ""}`;
    return `${names} "${node.textContent.trim().replace(/\s+/g, " ").slice(0, 60)}"`;
  };
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true });
  const elements = [...document.body.querySelectorAll("*")].filter((one) => isSeen(one) && !one.closest("script, style, noscript"));
  const scrolls = (element) => {
    for (let one = element; one !== document.body && one; one = one.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(one).overflowX)) return true;
    }
    return false;
  };

  // Nothing lies beyond the right edge, and no text is cut.
  if (document.documentElement.scrollWidth > innerWidth) faults.add(`the page is ${document.documentElement.scrollWidth} px wide in ${innerWidth}`);
  for (const element of elements) {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    if ((box.right > innerWidth + 1 || box.left < -1) && box.width && !scrolls(element)) faults.add(`beyond the edge: ${named(element)}`);
    if (/hidden|clip/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1 && element.textContent.trim()) faults.add(`cut: ${named(element)}`);
  }

  const numbers = (colour) => {
    const found = colour.match(/[\d.e-]+/g).map(Number);
    const [red, green, blue] = found.map((one) => (colour.startsWith("color(") ? one : one / 255));
    return [red, green, blue, found[3] ?? 1];
  };
  const fill = (element) => numbers(getComputedStyle(element).backgroundColor);

  // Text as boxes: each line of each text node that is in view and not behind something opaque.
  const isBehind = (stack, at, element) => stack.slice(0, at).some((one) => !one.contains(element) && fill(one)[3] > 0.5);
  const isCovered = (element, x, y) => {
    const stack = document.elementsFromPoint(x, y);
    const at = stack.findIndex((one) => element.contains(one));
    return at < 0 || isBehind(stack, at, element);
  };
  // A line may leave the box that it is drawn in: then what holds the box counts.
  const isLineCovered = (line, x, y) => {
    const stack = document.elementsFromPoint(x, y);
    let box = line.ownerSVGElement.parentElement;
    while (box && !stack.includes(box)) box = box.parentElement;
    return !box || isBehind(stack, stack.indexOf(box), box);
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, noscript, option, title") || !isSeen(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      if (box.width > 1 && !isCovered(parent, x, y)) texts.push({ node, parent, box });
    }
  }
  const overlap = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  texts.sort((a, b) => a.box.top - b.box.top);
  texts.forEach((one, at) => {
    for (let next = at + 1; next < texts.length && texts[next].box.top < one.box.bottom; next += 1) {
      const other = texts[next];
      if (one.node !== other.node && overlap(one.box, other.box) > 3) faults.add(`text over text: ${named(one.node)} and ${named(other.node)}`);
    }
  });

  // No line of a drawing crosses a text.
  for (const path of document.querySelectorAll("svg path, svg line:not(.grid)")) {
    if (!isSeen(path)) continue;
    const [length, matrix] = [path.getTotalLength(), path.getScreenCTM()];
    for (let at = 0; at <= length; at += Math.max(0.02, length / 60)) {
      const point = path.getPointAtLength(at).matrixTransform(matrix);
      const hit = texts.find(({ box }) => point.x > box.left + 1 && point.x < box.right - 1 && point.y > box.top + 3 && point.y < box.bottom - 3);
      if (hit && !isLineCovered(path, point.x, point.y)) faults.add(`text under a line: ${named(hit.node)}`);
    }
  }

  // No field is empty, and none ends with the name of what is missing.
  for (const element of document.body.querySelectorAll("p, dd, dt, h1, h2, h3, li, th, td, summary, figcaption, output, pre, code, b, a")) {
    if (!elements.includes(element)) continue;
    const text = element.textContent.trim();
    if (!text && !element.querySelector("*") && !element.classList.contains("corner")) faults.add(`empty: ${named(element)} in ${named(element.parentElement)}`);
    const next = element.nextElementSibling;
    if (/^\S+:$/.test(text) && element.matches("p, dd, td, li") && (!next || next.matches("script"))) faults.add(`a label without its text: ${named(element)}`);
  }

  // WCAG AA: 4.5 to 1, for large text 3 to 1. What is disabled is exempt.
  const over = (front, back) => [0, 1, 2].map((one) => front[one] * front[3] + back[one] * (1 - front[3]));
  const light = (colour) => {
    const [red, green, blue] = colour.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const sample = document.body.appendChild(document.createElement("i"));
  sample.style.backgroundColor = "Canvas";
  const canvas = fill(sample).slice(0, 3);
  sample.remove();
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(fill(one));
    return layers.reverse().reduce((colour, layer) => over(layer, colour), canvas);
  };
  for (const { node, parent } of texts) {
    if (parent.closest("button:disabled")) continue;
    const style = getComputedStyle(parent), back = behind(parent);
    const front = numbers(parent instanceof SVGElement ? style.fill : style.color);
    let opacity = 1;
    for (let one = parent; one; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
    const [a, b] = [light(over([...front.slice(0, 3), front[3] * opacity], back)), light(back)].sort((x, y) => y - x);
    const size = Number.parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (isLarge ? 3 : 4.5)) faults.add(`contrast ${ratio.toFixed(1)}: ${named(node)}`);
  }
  return [...faults];
}
