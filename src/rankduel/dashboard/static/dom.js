// Create elements with `h`. Update the page with `patch`, which changes only differences, so that focus, selection and
// scroll position stay. Texts that a user types stay, too. A select with a value, a checkbox and a radio button always
// show the value that they were created with.

// Tags of SVG elements. Any other tag is HTML: to use a new SVG tag, add it here.
const SVG = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "polyline", "title"]);

export function h(tag, properties, ...children) {
  const node = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  node.handlers = {};
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.handlers[name] = node[name] = value;
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "value" && tag !== "option") node.value = value;
    else if (name === "checked") node.checked = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  add(node, children);
  if (properties?.value !== undefined && tag === "select") {
    node.value = properties.value;
    node.controlled = true;
  }
  return node;
}

function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child);
    else if (child !== null && child !== undefined && child !== false) node.append(child);
  }
}

// Replace the children of `old`. Elements with data-keep are created once and then not changed.
export function patch(old, ...children) {
  const box = document.createDocumentFragment();
  add(box, children);
  patchChildren(old, box);
}

function patchChildren(old, made) {
  const wanted = [...made.childNodes];
  wanted.forEach((node, index) => {
    let there = old.childNodes[index];
    if (there && !same(there, node)) {
      if (wanted.slice(index + 1).some((later) => same(there, later))) {
        old.insertBefore(node, there); // a new node, before one that stays
        return;
      }
      let later = there.nextSibling;
      while (later && !same(later, node)) later = later.nextSibling;
      while (later && there !== later) {
        const gone = there;
        there = there.nextSibling;
        gone.remove();
      }
    }
    if (!there) old.append(node);
    else if (same(there, node)) patchNode(there, node);
    else old.replaceChild(node, there);
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
}

function same(one, other) {
  if (one.nodeName !== other.nodeName) return false;
  return (
    one.nodeType !== 1 ||
    (one.dataset?.key === other.dataset?.key && one.dataset?.keep === other.dataset?.keep)
  );
}

function patchNode(old, made) {
  if (old.nodeType !== 1) {
    if (old.data !== made.data) old.data = made.data;
    return;
  }
  const kept = old.dataset.keep !== undefined; // changed by its own script
  for (const { name } of kept ? [] : [...old.attributes]) {
    if (!made.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS") && name !== "style")
      old.removeAttribute(name);
  }
  for (const { name, value } of made.attributes)
    if (old.getAttribute(name) !== value && name !== "style") old.setAttribute(name, value);
  if (!kept && old.style.cssText !== made.style.cssText) old.style.cssText = made.style.cssText;
  for (const name of Object.keys(old.handlers ?? {})) if (!made.handlers?.[name]) old[name] = null;
  for (const [name, run] of Object.entries(made.handlers ?? {})) old[name] = run;
  old.handlers = made.handlers;
  if (!kept) patchChildren(old, made);
  if (made.controlled && old.value !== made.value) old.value = made.value;
  if (made.type === "checkbox" || made.type === "radio") old.checked = made.checked;
}

// A table. Each head is its name, its class and, if needed, a tooltip.
export const table = (caption, heads, rows, className = "") =>
  h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      { class: className },
      h("caption", { class: "quiet" }, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map(([name, kind, title]) => h("th", { scope: "col", class: kind, title }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((cells) =>
          h(
            "tr",
            null,
            cells.map((cell, index) =>
              h(
                index === 0 ? "th" : "td",
                { scope: index === 0 ? "row" : null, class: heads[index][1] },
                cell,
              ),
            ),
          ),
        ),
      ),
    ),
  );

export const asTable = (caption, heads, rows) =>
  h("details", { class: "as-table" }, h("summary", null, "As a table"), table(caption, heads, rows));
