// The model by layer, and each tensor as tiles on the mesh: which rank holds which part.

/** "dp=2,tp=2" -> [{axis: "dp", size: 2}, ...]; the last one varies fastest over ranks. */
function meshAxes(mesh) {
  return mesh ? mesh.split(",").map(text => text.split("=")).map(([axis, size]) => ({axis, size: Number(size)})) : [];
}

function coordinatesOf(rank, axes) {
  const coordinates = {};
  for (const {axis, size} of [...axes].reverse()) {
    coordinates[axis] = rank % size;
    rank = Math.floor(rank / size);
  }
  return coordinates;
}

/** The axis along which ranks run different programs. */
const stageAxis = data => data.parameter_server ? "dp" : "pp";

/** Elements from `begin` to before `end` of each dimension; null: the rank has none of the tensor. */
function shardOf(tensor, coordinates, axes, data) {
  if (tensor.stages.length && !tensor.stages.includes(coordinates[stageAxis(data)]))
    return null;
  const shard = tensor.shape.map(size => [0, size]);
  for (const {dim, axes: names, bounds} of tensor.cuts) {
    const chunk = names.reduce((number, name) => number * axes.find(each => each.axis === name).size + coordinates[name], 0);
    shard[dim] = [bounds[chunk], bounds[chunk + 1]];
  }
  return shard;
}

const shapeText = shape => shape.length ? shape.map(exactText).join(" × ") : "scalar";

/** "0–63", of a range without its end. */
const rangeText = ([begin, end]) => begin === end ? "none" : end - begin === 1 ? String(begin) : `${exactText(begin)}–${exactText(end - 1)}`;

/** "S(0)"; "S(0:1)" of an axis that cuts what another one has cut. */
function cutState(cut, axis) {
  const turn = cut.axes.indexOf(axis);
  return turn ? `S(${cut.dim}:${turn})` : `S(${cut.dim})`;
}

/** Returns the state that the axis gives the tensor: "S(0)" or "whole". */
function stateOn(tensor, axis, data) {
  const cut = tensor.cuts.find(each => each.axes.includes(axis));
  if (cut)
    return cutState(cut, axis);
  if (axis === stageAxis(data) && tensor.stages.length)
    return tensor.stages.length === 1 ? `at ${tensor.stages[0]}` : `at ${tensor.stages.join(", ")}`;
  return "whole";
}

function stateChips(tensor, axes, data) {
  return axes.map(({axis}) => {
    const state = stateOn(tensor, axis, data);
    return element("span", {class: state === "whole" ? "chip" : "chip cut"}, `${axis} ${state}`);
  });
}

function stateSentence(tensor, {axis, size}, data) {
  const cut = tensor.cuts.find(each => each.axes.includes(axis));
  if (cut) {
    const others = cut.axes.filter(other => other !== axis);
    const length = cut.bounds[1] - cut.bounds[0];
    return `${axis} = ${size} cuts dimension ${cut.dim} of ${exactText(tensor.shape[cut.dim])}` +
      (others.length ? `, together with ${others.join(" and ")},` : "") +
      ` into ${plural(cut.bounds.length - 1, "chunk")} of ${exactText(length)}: state ${cutState(cut, axis)}.`;
  }
  if (axis === stageAxis(data) && tensor.stages.length)
    return `Only ranks with ${axis} = ${tensor.stages.join(" or ")} have it.`;
  return `${axis} = ${size} leaves it whole: ranks that differ only on ${axis} hold the same.`;
}

/** The two dimensions that are drawn: those that are cut, then the largest. */
function drawnDimensions(tensor) {
  const cut = tensor.cuts.map(each => each.dim);
  const rest = tensor.shape.map((_, dim) => dim).filter(dim => !cut.includes(dim))
    .sort((a, b) => tensor.shape[b] - tensor.shape[a]);
  return [...cut, ...rest].slice(0, 2).sort((a, b) => a - b);
}

const tileColor = number => `--color-${1 + number % 4}`;

/** The tensor's outline with the rank's tile filled. */
function tileDrawing(tensor, shard, number) {
  const dims = drawnDimensions(tensor);
  const [down, across] = dims.length === 2 ? dims : [null, dims[0]];
  const part = (dim, length) => {
    if (dim === null || dim === undefined)
      return [0, length];
    const [begin, end] = shard[dim].map(element => element / tensor.shape[dim] * length);
    return [begin, end - begin];
  };
  const width = 92, height = down === null ? 22 : 56;
  const drawing = svg("svg", {viewBox: `0 0 ${width + 2} ${height + 2}`, width: width + 2, height: height + 2, "aria-hidden": "true"});
  drawing.append(svg("rect", {class: "outline", x: 1, y: 1, width, height}));
  if (shard) {
    const [x, w] = part(across, width), [y, h] = part(down, height);
    drawing.append(svg("rect", {x: 1 + x, y: 1 + y, width: w, height: h, style: `fill: var(${tileColor(number)})`}));
  }
  return drawing;
}

/** Ranks to draw: all, or where these are too many one for each tile. */
function shownRanks(tensor, axes, data) {
  const count = axes.reduce((product, {size}) => product * size, 1);
  const most = 32, all = [];
  const tiles = new Map();
  for (let rank = 0; rank < count; ++rank) {
    const coordinates = coordinatesOf(rank, axes);
    const shard = shardOf(tensor, coordinates, axes, data);
    const key = JSON.stringify(shard);
    const isNew = !tiles.has(key);
    if (isNew)
      tiles.set(key, tiles.size - (tiles.has("null") ? 1 : 0));
    if (count <= most || isNew)
      all.push({rank, coordinates, shard, number: shard ? tiles.get(key) : -1});
  }
  return {ranks: all.slice(0, count > most ? most / 2 : most), isPart: count > most, tiles: tiles.size - (tiles.has("null") ? 1 : 0), count};
}

function rankFigure(tensor, {rank, coordinates, shard, number}, axes) {
  const place = axes.map(({axis}) => `${axis} ${coordinates[axis]}`).join(", ");
  const held = shard ? shard.map(rangeText).join(" × ") : "nothing";
  return element("figure", {class: shard ? "rank" : "rank empty"},
    element("figcaption", {}, element("strong", {}, `rank ${rank}`), element("span", {}, place)),
    tileDrawing(tensor, shard, number),
    element("span", {class: "held"}, shard && shard.length ? held : shard ? "the value" : "nothing"));
}

function tensorDetail(tensor, axes, data) {
  const {ranks, isPart, tiles, count} = shownRanks(tensor, axes, data);
  const columns = isPart ? null : axes.length ? axes[axes.length - 1].size : 1;
  const drawn = drawnDimensions(tensor);
  const note = drawn.length === 2 ? `Drawn: dimension ${drawn[0]} down, dimension ${drawn[1]} across.` : "Drawn: the only dimension across.";
  return [
    element("p", {class: "shape"}, element("code", {}, `${shapeText(tensor.shape)} ${tensor.dtype}`),
      ` – a rank holds ${bytesText(tensor.bytes_of_rank)} as `, element("code", {}, shapeText(tensor.local_shape))),
    element("ul", {class: "states"}, axes.map(axis => element("li", {}, stateSentence(tensor, axis, data)))),
    element("p", {class: "note"}, tensor.shape.length ? note : "", isPart ? ` ${plural(tiles, "tile")} on ${plural(count, "rank")}; ` +
      `the first rank with each is shown${tiles > ranks.length ? ", of the first tiles" : ""}.` : ""),
    element("div", {class: "mesh", style: columns && columns <= 8 ? `--columns: ${columns}` : null},
      ranks.map(each => rankFigure(tensor, each, axes))),
  ];
}

const roleNames = {
  parameter: "parameter", master: "f32 master", moment1: "first moment", moment2: "second moment", scale: "scale",
  input: "input", key_cache: "key cache", value_cache: "value cache", output: "output"};

/** Tensors of one name, in the order of the model; the parameter first. */
function tensorFamilies(tensors) {
  const families = new Map();
  for (const tensor of tensors.filter(each => each.role !== "output")) {
    const key = `${tensor.name} ${tensor.layers} ${tensor.role === "input" ? "input" : ""}`;
    if (!families.has(key))
      families.set(key, []);
    families.get(key).push(tensor);
  }
  const isInput = ([first]) => first.role === "input";
  return [...families.values()].sort((a, b) => isInput(a) - isInput(b));
}

function layersText(layers) {
  if (!layers.length)
    return "";
  const isRange = layers.every((layer, index) => layer === layers[0] + index);
  if (layers.length === 1)
    return `layer ${layers[0]}`;
  return `layers ${isRange ? `${layers[0]}–${layers[layers.length - 1]}` : layers.join(", ")}`;
}

function familyTitle(family, data) {
  const [first] = family;
  if (first.role === "input")
    return "inputs of a step";
  const stages = first.stages.length && data.pipeline ? `, stage ${first.stages.join(" and ")}` : "";
  return (layersText(first.layers) || "outside the layers") + stages;
}

/** Parts of a name that all have say nothing. */
function shortName(name) {
  return name.replace(/^(transformer|model|bert)\./, "").replace(/^(h|layers|encoder\.layer)\.#\./, "");
}

/** Returns whether an argument of the program is the tensor, or a moment of it, of any layer. */
const isNamed = (tensor, name) => tensor.layers.length
  ? tensor.layers.some(layer => nameIs(tensor.name.replace("#", layer), name)) : nameIs(tensor.name, name);
const nameIs = (whole, name) => name === whole || name.startsWith(`${whole}.moment`) || name === `${whole}.master`;

function tilesSection(data) {
  const axes = meshAxes(data.mesh);
  const families = tensorFamilies(data.tensors);
  if (!families.length)
    return null;
  const detail = element("div", {class: "detail", "aria-live": "polite"});
  const list = element("div", {class: "tensors", role: "group", "aria-label": "tensors of the model"});
  const buttons = [];
  const show = (family, pressed) => {
    buttons.forEach(button => button.setAttribute("aria-pressed", String(button === pressed)));
    const [first] = family;
    const body = element("div", {});
    const names = family.map(tensor => roleNames[tensor.role] ?? tensor.role);
    const picker = family.length > 1
      ? choices("show", names, index => body.replaceChildren(...tensorDetail(family[index], axes, data)))
      : (body.replaceChildren(...tensorDetail(first, axes, data)), null);
    remembered.tensor = first.name;
    const reads = line => valuesOf(line).read.some(name => isNamed(first, name));
    detail.replaceChildren(element("h3", {}, first.name.replace("#", first.layers.length > 1 ? "#" : first.layers[0] ?? "#")),
      ...[picker, body, links.hasLine(reads) ? jump("Where the program reads it", () => links.showLine(reads)) : null].filter(part => part));
  };
  let title = "";
  for (const family of families) {
    const next = familyTitle(family, data);
    if (next !== title)
      list.append(element("h3", {}, next));
    title = next;
    const button = element("button", {type: "button", onclick: () => show(family, button)},
      element("span", {class: "name"}, shortName(family[0].name)),
      element("span", {class: "chips"}, stateChips(family[0], axes, data)));
    buttons.push(button);
    list.append(button);
  }
  const chosen = families.findIndex(family => family[0].name === remembered.tensor);
  const start = chosen >= 0 ? chosen : families.findIndex(family => family[0].cuts.some(cut => cut.axes.includes("tp")) && family[0].layers.length);
  const familyOf = name => families.findIndex(family => isNamed(family[0], name));
  links.hasTensor = name => familyOf(name) >= 0;
  links.showTensor = name => {
    const index = familyOf(name);
    show(families[index], buttons[index]);
    buttons[index].focus({preventScroll: true});
    scrollTo(detail);
  };
  links.start = () => show(families[Math.max(start, 0)], buttons[Math.max(start, 0)]);
  links.start();
  return section("model", "The model on the mesh",
    "Every tensor by layer, and what each axis of the mesh does to it. S(d): the axis cuts dimension d; S(d:1): after another axis.",
    element("div", {class: "browser"}, list, detail));
}
