// The program after each pass, and what the pass changed.

/** Returns the passes, which stand beside the data of a report, as --json does not have them. */
const passesOf = data => data.passes ?? JSON.parse(document.getElementById("passes").textContent);

/** Adds to each pass its `lines` and `rows`, which are those of the pass before it as well: {line, mark: "+", "-" or " "}. */
function unfoldPasses(history) {
  let lines = [];
  for (const pass of history.passes) {
    const rows = [];
    let at = 0;
    const keep = count => rows.push(...lines.slice(at, at += count).map(line => ({line, mark: " "})));
    for (const [kept, gone, come] of pass.edits) {
      keep(kept);
      rows.push(...lines.slice(at, at += gone).map(line => ({line, mark: "-"})));
      rows.push(...come.map(([facts, text]) => ({line: {...history.facts[facts], text}, mark: "+"})));
    }
    keep(lines.length - at);
    pass.rows = rows;
    pass.lines = lines = rows.filter(row => row.mark !== "-").map(row => row.line);
  }
}

const isOfLayer = line => line.kind === "op" && line.layer !== undefined;

/** Parts of a program that can be looked at alone. */
const programParts = [
  ["one layer, forward", line => isOfLayer(line) && line.phase === "forward"],
  ["one layer, backward", line => isOfLayer(line) && (line.phase === "backward" || line.phase === "recompute")],
  ["one layer, optimizer", line => isOfLayer(line) && line.phase === "optimizer"],
  ["outside the layers", line => line.kind === "op" && line.layer === undefined],
  ["parameters and inputs", line => line.kind === "argument"],
  ["kernels", line => line.op === "kernel"],
  ["everything", () => true],
];

const placeText = line => (line.place ?? "").replace("#", line.layer);

/** Returns where the types of a line begin: at the colon outside of all brackets. */
function typesAt(text) {
  let depth = 0, isQuoted = false;
  for (let at = 0; at < text.length; ++at) {
    if (text[at] === '"')
      isQuoted = !isQuoted;
    else if (isQuoted && text[at] === "\\")
      ++at;
    else if (!isQuoted && "([{<".includes(text[at]))
      ++depth;
    else if (!isQuoted && ")]}".includes(text[at]) || !isQuoted && text[at] === ">" && text[at - 1] !== "-")
      --depth;
    else if (!isQuoted && depth === 0 && text.startsWith(" : ", at))
      return at;
  }
  return text.length;
}

const valueNames = text => [...text.matchAll(/"[^"]*"|%([\w$.-]+)/g)].map(found => found[1]).filter(name => name);

/** Returns the values that a line makes, and those that it reads. */
function valuesOf(line) {
  const [, left] = /^((?:%[\w$.:-]+(?:, )?)+) = /.exec(line.text) ?? [];
  const made = valueNames((left ?? "").replace(/:\d+/g, ""));
  const all = valueNames(line.text);
  return {made: line.kind === "argument" ? all : made, read: line.kind === "argument" ? [] : all.slice(made.length)};
}

/** Colors of a text: names, states, strings. */
function coloredText(text) {
  const tokens = /("(?:[^"\\]|\\.)*")|(%[\w$.-]+(?:#\d+)?)|#dist<([^>]*)>|->/g;
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(tokens)) {
    parts.push(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[3] !== undefined)
      parts.push("#dist<", ...found[3].split(", ").map((state, index) => [index ? ", " : "",
        element("span", {class: `state state-${/: ([A-Z])/.exec(state)?.[1] ?? ""}`}, state)]).flat(), ">");
    else
      parts.push(element("span", {class: found[1] ? "quoted" : found[2] ? "value" : "arrow"}, found[0]));
  }
  return [...parts, text.slice(from)].filter(part => part !== "");
}

function lineElement({line, mark}, id) {
  const split = typesAt(line.text);
  const marks = {"+": "added", "-": "removed", " ": ""};
  return element("div", {id, role: "option", "aria-selected": "false", class: `line ${marks[mark]} ${line.kind.replace(" ", "-")}`,
    style: `--depth: ${line.depth}`},
  element("span", {class: "mark", "aria-label": marks[mark] || null}, mark),
  element("code", {}, coloredText(line.text.slice(0, split)),
    element("span", {class: "types"}, coloredText(line.text.slice(split)))));
}

//===-- What is said of a line -----------------------------------------------

/** Why a line communicates, if it says so. */
const reasonOf = line => line.reason ?? /reason = "([^"]*)"/.exec(line.text)?.[1];

/** Returns the properties that name collectives and conversions in the table of communication. */
function collectiveOf(line) {
  const name = line.op.replace(/^\w+\./, "").replace(/_coalesced$/, "");
  const axes = line.op === "dist.convert" ? /on "(\w+)"/.exec(line.text)?.[1]
    : [.../over \[([^\]]*)\]/.exec(line.text)?.[1].matchAll(/\w+/g) ?? []].join(",") || /on "(\w+)"/.exec(line.text)?.[1];
  const kind = line.op === "dist.convert" ? /dist\.convert (\w+)/.exec(line.text)?.[1].replace("all_reduce_max", "all_reduce") : name;
  return axes ? {collective: kind, axes, place: line.place ?? "", phase: line.phase ?? "", reason: reasonOf(line)} : null;
}

function conversionText(line) {
  const kind = line.op === "dist.convert" ? /dist\.convert (\w+)/.exec(line.text)?.[1] : line.op.replace(/^rt\./, "");
  const [meaning, states] = conversionMeanings[kind] ?? [];
  if (!meaning || !/^(dist\.convert|rt\.)/.test(line.op))
    return [];
  const reason = reasonOf(line), collective = collectiveOf(line);
  return [element("p", {}, element("strong", {}, kind), line.op === "dist.convert" ? ` (${states}). ` : ". ", meaning),
    reason ? element("p", {}, "Why: ", element("strong", {}, reason), ".") : null,
    collective && meaning.startsWith("Communicates") && links.hasCollective?.(collective)
      ? jump("Its row under Communication", () => links.showCollective(collective)) : null];
}

/** The type of what a line makes first; null of kernels and of what makes nothing. */
function resultType(line) {
  if (line.kind === "argument")
    return typeOf(line.text.slice(line.text.indexOf(": ") + 2));
  const types = line.text.slice(typesAt(line.text));
  const from = types.lastIndexOf("-> ");
  return typeOf(from < 0 ? types.replace(/^ : /, "") : types.slice(from + 3).replace(/^\(/, ""));
}

/** `level` is that of the program: serial, typed (with states) or local (of one rank). */
function resultText(line, axes, level) {
  const type = line.kind === "argument" || valuesOf(line).made.length ? resultType(line) : null;
  if (!type)
    return [];
  const shape = element("code", {}, `${shapeText(type.shape)} ${type.dtype}`);
  const what = line.kind === "argument" ? "It" : "Its result";
  if (level !== "typed" || !axes.length)
    return [element("p", {}, `${what} is `, shape, level === "local" && axes.length ? " on each rank." : ".")];
  return [element("p", {}, `${what} is `, shape, " on all ranks together:"),
    element("ul", {class: "states"}, axes.map(axis => {
      const {state, text} = stateMeaning(type, axis, axes);
      return element("li", {}, stateChip(axis.axis, state), ` – ${text}`);
    }))];
}

function lineText(line, axes, level) {
  const parameters = [...new Set(valuesOf(line).read.concat(line.kind === "argument" ? valuesOf(line).made : []))]
    .filter(name => links.hasTensor?.(name));
  const where = [placeText(line), line.phase].filter(text => text).join(", ");
  return [
    element("h3", {}, line.kind === "argument" ? "argument" : line.op ?? line.kind),
    where ? element("p", {class: "note"}, where) : null,
    ...conversionText(line),
    ...resultText(line, axes, level),
    parameters.length ? element("p", {}, parameters.map(name => jump(`${name} on the mesh`, () => links.showTensor(name)))) : null,
  ].filter(part => part);
}

//===-- The section ------------------------------------------------------------

/** Rows that are shown, with headings for places and functions, and runs that did not change folded. */
function shownRows(pass, accepts, isDiff) {
  const rows = pass.rows.filter(({line, mark}) => accepts(line) && (isDiff || mark !== "-"));
  if (!isDiff)
    return rows;
  const context = 2, near = rows.map(() => false);
  rows.forEach(({mark}, index) => {
    if (mark !== " ")
      near.fill(true, Math.max(0, index - context), Math.min(rows.length, index + context + 1));
  });
  const shown = [];
  rows.forEach((row, index) => {
    if (near[index])
      shown.push(row);
    else if (shown.length && shown[shown.length - 1].folded)
      shown[shown.length - 1].folded.push(row);
    else
      shown.push({folded: [row]});
  });
  return shown;
}

/** The lines of a program, of which one can be chosen with a pointer or arrow keys. */
function programListing(explain) {
  const box = element("div", {role: "listbox", tabindex: 0, "aria-label": "lines of the program; arrow keys move"});
  let nodes = [], chosen = null, isPinned = false;

  function choose(node, scrolls) {
    chosen?.node.setAttribute("aria-selected", "false");
    chosen = nodes.find(each => each.node === node) ?? null;
    if (!chosen)
      return;
    node.setAttribute("aria-selected", "true");
    box.setAttribute("aria-activedescendant", node.id);
    if (scrolls)
      scrollTo(node);
    const {made, read} = chosen.values ??= valuesOf(chosen.row.line);
    for (const each of nodes) {
      const values = each.values ??= valuesOf(each.row.line);
      each.node.classList.toggle("reads", each !== chosen && values.read.some(name => made.includes(name)));
      each.node.classList.toggle("feeds", each !== chosen && values.made.some(name => read.includes(name)));
    }
    explain(chosen.row.line);
  }

  function add(row, parent, state) {
    if (row.folded) {
      const inside = element("div", {});
      const more = element("button", {type: "button", class: "unchanged", onclick: () => {
        more.remove();
        row.folded.forEach(each => add(each, inside, state));
        nodes.sort((a, b) => a.node.compareDocumentPosition(b.node) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
      }}, `… ${plural(row.folded.length, "unchanged line")}`);
      inside.append(more);
      parent.append(inside);
      return;
    }
    const place = placeText(row.line);
    if (place && place !== state.place && row.line.kind === "op")
      parent.append(element("div", {class: "place", role: "presentation"}, place));
    if (row.line.kind !== "end")
      state.place = place || state.place;
    const node = lineElement(row, `line-${state.next++}`);
    nodes.push({node, row});
    parent.append(node);
  }

  const lineAt = event => event.target.closest?.(".line");
  box.addEventListener("pointermove", event => !isPinned && lineAt(event) && choose(lineAt(event), false));
  box.addEventListener("click", event => {
    if (lineAt(event)) {
      isPinned = !(isPinned && chosen?.node === lineAt(event));
      choose(lineAt(event), false);
    }
  });
  box.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity}[event.key];
    if (!step || event.target !== box || !nodes.length)
      return;
    event.preventDefault();
    isPinned = true;
    const now = nodes.indexOf(chosen);
    choose(nodes[Math.min(Math.max(now < 0 ? 0 : now + step, 0), nodes.length - 1)].node, true);
  });

  return {
    box,
    show(rows, isDiff) {
      box.className = isDiff ? "lines diff" : "lines";
      nodes = [];
      chosen = null;
      isPinned = false;
      box.removeAttribute("aria-activedescendant");
      box.replaceChildren();
      const state = {place: "", next: 0};
      rows.forEach(row => add(row, box, state));
      if (!nodes.length)
        box.append(element("p", {class: "note"}, "Nothing of this part is here."));
      box.scrollTop = 0;
    },
    /** Chooses the first line that is accepted. */
    find(accepts) {
      const found = nodes.find(({row}) => row.mark !== "-" && accepts(row.line));
      if (!found)
        return false;
      isPinned = true;
      choose(found.node, true);
      box.focus({preventScroll: true});
      return true;
    },
  };
}

const changesText = pass => pass.number ? `+${pass.added} −${pass.removed}` : plural(pass.added, "line");

function programSection(data) {
  const history = passesOf(data);
  const title = "The program, pass by pass";
  if (!history)
    return section("program", title, "A compiled artifact does not hold the program after each pass: write the page of the config.json that it was made of.");
  unfoldPasses(history);
  const axes = meshAxes(data.mesh).filter(({size}) => size > 1);
  const note = element("div", {class: "explanation", "aria-live": "polite"});
  const about = element("p", {class: "note"});
  let pass = null, part = 0, isDiff = false;
  const isBefore = name => pass.number < (history.passes.find(each => each.name === name)?.number ?? Infinity);
  const level = () => isBefore("dist-distribute") ? "serial" : isBefore("rt-localize") ? "typed" : "local";
  const listing = programListing(line => note.replaceChildren(...lineText(line, axes, level())));
  const empty = () => note.replaceChildren(element("p", {class: "note"}, "Point at a line, or move with the arrow keys, to read what its states mean, and what made it and reads it."));

  const buttons = history.passes.map(each => element("button", {type: "button", onclick: () => choosePass(each)},
    element("span", {class: "name"}, each.name), element("span", {class: "chips"}, element("span", {class: "chip"}, changesText(each)))));
  const show = () => {
    listing.show(shownRows(pass, programParts[part][1], isDiff), isDiff);
    empty();
  };
  function choosePass(next) {
    pass = next;
    remembered.pass = next.name;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(history.passes[index] === pass)));
    about.textContent = `${String(pass.number).padStart(2, "0")} ${pass.name}${pass.what ? `: ${pass.what}` : ""}`;
    show();
  }
  const presser = (label, names, start, choose) => {
    const group = element("div", {class: "choices", role: "group", "aria-label": label}, element("span", {}, label),
      names.map((name, index) => element("button", {type: "button", onclick: () => press(index)}, name)));
    const press = index => {
      group.querySelectorAll("button").forEach((button, other) => button.setAttribute("aria-pressed", String(other === index)));
      choose(index);
    };
    group.press = press;
    press(start);
    return group;
  };
  const start = history.passes.find(each => each.name === remembered.pass) ?? history.passes.find(each => each.name === "dist-distribute") ??
    history.passes[history.passes.length - 1];
  pass = start;
  const views = presser("show", ["program", "changes"], remembered.view ?? 0, index => { isDiff = remembered.view = index; show(); });
  const parts = presser("of it", programParts.map(([name]) => name), remembered.part ?? 0, index => { part = remembered.part = index; show(); });
  choosePass(start);

  const passWith = accepts => [pass, ...history.passes.slice().reverse()].find(each => each.lines.some(accepts));
  links.hasLine = accepts => history.passes.some(each => each.lines.some(accepts));
  links.showLine = accepts => {
    const found = passWith(accepts);
    if (!found)
      return false;
    const line = found.lines.find(accepts);
    if (found !== pass)
      choosePass(found);
    views.press(0);
    parts.press(programParts.findIndex(([, isPart]) => isPart(line)));
    return listing.find(accepts);
  };
  return section("program", title,
    "The passes that changed something, and the program after each. Equal layers look alike, so one stands for all. " +
    "A value's states, by axis of the mesh, say what a rank holds of it.",
    axes.length ? statesLegend() : null,
    element("div", {class: "program"},
      element("div", {class: "tensors passes", role: "group", "aria-label": "passes"}, buttons),
      element("div", {}, about, views, parts, listing.box),
      note));
}
