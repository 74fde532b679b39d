// The meaning of the states of values, and of the conversions between them (docs/TheOneRule.md).

const stateNames = {I: "invariant", R: "replicated", S: "sharded", P: "partial", M: "partial maximum", L: "partial mean", C: "candidates",
  A: "at a stage"};

/** The effect of each kind of conversion, and its effect in backward. */
const conversionMeanings = {
  enter: ["Nothing moves. From here on the ranks use the value in different ways, so its gradient will be a partial sum on each: " +
    "backward adds these up (all-reduce).", "I → R"],
  leave: ["Nothing moves: the ranks use the value alike again.", "R → I"],
  all_reduce: ["Communicates: adds the partial sums of all ranks, and each of them gets the sum. Backward moves nothing.", "P → I"],
  all_gather: ["Communicates: each rank gets the slices of all others, so that it has the whole.", "S → R or I"],
  reduce_scatter: ["Communicates: adds the partial sums of all ranks, of which each keeps its slice. Backward gathers.", "P → S"],
  all_slice: ["Nothing moves: each rank keeps its slice of what it holds.", "I or R → S"],
  all_to_all: ["Communicates: ranks exchange slices, so that another dimension is split.", "S(a) → S(b)"],
  sharded_to_partial: ["Nothing moves: outside of its slice each rank holds zeros, so the sum over ranks is the value.", "S → P"],
  replicated_to_partial: ["Nothing moves: rank 0 keeps the value and the others hold zeros, so that a sum counts it once.", "I or R → P"],
  all_reduce_max: ["Communicates: the largest of what the ranks hold, and each of them gets it.", "M → I"],
  all_reduce_mean: ["Communicates: each rank gets the mean of all means, each with the weight of its part.", "L → I"],
  reduce_scatter_mean: ["Communicates: as all_reduce_mean, but each rank gets its slice of the mean.", "L → S"],
  all_reduce_top: ["Communicates: each rank gets the best of all candidates, and of equal ones those of smaller indices.", "C → I"],
  replicated_to_stage: ["Nothing moves: one stage alone keeps the value.", "R or I → A"],
  stage_to_partial: ["Nothing moves: the other stages hold zeros.", "A → P"],
  send: ["A message from one pipeline stage to another. Backward sends the gradient back.", "A(s) → A(t)"],
  broadcast: ["Communicates: one rank sends the value to all others.", "A → I"],
};

/** "tensor<8x4xf32, #dist<dp: S(0)>>" -> {shape, dtype, states: {dp: "S(0)"}}; null of anything else. */
function typeOf(text) {
  const found = /^tensor<((?:\d+x)*)(\w+)(?:, #dist<([^>]*)>)?/.exec(text);
  if (!found)
    return null;
  const states = {};
  for (const [, axis, state] of (found[3] ?? "").matchAll(/(\w+): ([A-Z](?:\([\d:]+\))?)/g))
    states[axis] = state;
  return {shape: found[1].split("x").filter(size => size).map(Number), dtype: found[2], states};
}

const isCut = (type, dim, axis) => new RegExp(`^S\\(${dim}[:)]`).test(type.states[axis] ?? "");

/** Elements of a dimension that a rank holds at most: axes cut it one after the other. */
function chunkOf(type, dim, axes) {
  const level = state => Number(/:(\d+)/.exec(state)?.[1] ?? 0);
  return axes.filter(({axis}) => isCut(type, dim, axis))
    .sort((a, b) => level(type.states[a.axis]) - level(type.states[b.axis]))
    .reduce((length, {size}) => Math.ceil(length / size), type.shape[dim]);
}

function chunkText(type, dim, axes) {
  const chunk = chunkOf(type, dim, axes);
  const isEven = axes.filter(({axis}) => isCut(type, dim, axis)).reduce((rest, {size}) => rest / size, type.shape[dim]) === chunk;
  return `${isEven ? "" : "at most "}${exactText(chunk)}`;
}

/** Describes a value's state on an axis. */
function stateMeaning(type, {axis, size}, axes) {
  const state = type.states[axis] ?? "I";
  const [, kind, where] = /^([A-Z])(?:\((\d+))?/.exec(state);
  const ranks = `the ${size} ranks of ${axis}`;
  const meanings = {
    I: () => `${ranks} hold the same value and use it alike.`,
    R: () => `${ranks} hold the same value but use it in different ways, so its gradient is a partial sum on each.`,
    S: () => `${ranks} split dimension ${where} of ${exactText(type.shape[where])}: each holds ${chunkText(type, where, axes)}.`,
    P: () => `each of ${ranks} holds a partial sum of the whole shape; the value is the sum of theirs.`,
    M: () => `each of ${ranks} holds a candidate; the value is the largest.`,
    L: () => `each of ${ranks} holds the mean over its part and the logarithm of its weight; the value is the mean of all.`,
    C: () => `each of ${ranks} holds the best of its part; the value is the best of all.`,
    A: () => `rank ${where} of ${axis} has the value, the others have nothing.`,
  };
  return {state, kind, text: meanings[kind] ? meanings[kind]() : ""};
}

const stateChip = (axis, state) => element("span", {class: `state state-${state[0]}`}, `${axis}: ${state}`);

function statesLegend() {
  const says = {I: "same, used alike", R: "same, used differently", S: "a slice of dimension d", P: "a partial sum", M: "a partial maximum", A: "at stage s only"};
  return element("ul", {class: "legend"}, Object.entries(says).map(([kind, text]) =>
    element("li", {title: stateNames[kind]}, element("span", {class: `state state-${kind}`}, {S: "S(d)", A: "A(s)"}[kind] ?? kind), ` ${text}`)));
}
