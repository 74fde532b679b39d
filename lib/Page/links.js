// Ways from one section to another, and what a page that is drawn again keeps.

/** Sections put their functions here. */
const links = {
  /** Shows the tensor with that name of the model. False where there is none. */
  showTensor: () => false,
  /** Shows the first line of the program that `accepts(line)`. False where there is none. */
  showLine: () => false,
  hasLine: () => false,
  hasTensor: () => false,
  /** Shows the row of a collective: {collective, axes, place, phase}. */
  showCollective: () => false,
  hasCollective: () => false,
  /** Starts the section that is made before those it leads to. */
  start: () => {},
};

/** The last choices, by name. */
const remembered = {};

/** A button that looks like a link. */
const jump = (text, run) => element("button", {type: "button", class: "jump", onclick: run}, text);

function scrollTo(node) {
  node.scrollIntoView({block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
}

/** "h.0-5.mlp" and "h.3.mlp" -> "h.#.mlp"; "bucket 0-3" -> "bucket #". */
const placeOfRow = where => where.replace(/(^|[. ])\d+(-\d+)?(?=$|[. ])/, "$1#");
