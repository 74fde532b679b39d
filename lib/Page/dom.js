// Elements, tables and groups of choices.

/** element("p", {class: "note"}, "text", child, ...). A handler is {onclick: f}. */
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on"))
      node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false)
      node.setAttribute(key, value === true ? "" : value);
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

/** A section with a heading that the list at the top leads to. */
function section(id, title, lead, ...children) {
  return element("section", {id, "aria-labelledby": `${id}-title`},
    element("h2", {id: `${id}-title`}, title), lead ? element("p", {class: "lead"}, lead) : null, ...children);
}

/**
 * A table that scrolls sideways where the screen is narrow. A column is
 * {title, of: row => text or node, exact: row => text, number: true}.
 */
function table(columns, rows, caption) {
  const head = columns.map(column => element("th", {scope: "col", class: column.number ? "number" : ""}, column.title));
  const body = rows.map(row => element("tr", {}, columns.map(column =>
    element("td", {class: column.number ? "number" : "", title: column.exact ? column.exact(row) : null}, column.of(row)))));
  return element("div", {class: "wide", tabindex: 0, role: "region", "aria-label": caption},
    element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
}

/** Buttons of which one is pressed; `choose(index)` runs for the first at once. */
function choices(label, names, choose) {
  const buttons = names.map((name, index) => element("button", {type: "button", onclick: () => press(index)}, name));
  function press(index) {
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === index)));
    choose(index);
  }
  press(0);
  return element("div", {class: "choices", role: "group", "aria-label": label}, element("span", {}, label), buttons);
}

/** A square of the color that stands for something. */
const swatch = color => element("span", {class: "swatch", style: `background: var(${color})`, "aria-hidden": "true"});

/** Numbers that matter most, with what they count. */
function facts(list) {
  return element("dl", {class: "facts"}, list.filter(fact => fact).map(([name, value, exact]) =>
    element("div", {}, element("dt", {}, name), element("dd", {title: exact}, value))));
}
