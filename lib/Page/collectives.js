// Who communicates what, and why.

/** Adds up all calls of a step. */
function busiestAxes(collectives) {
  const axes = new Map();
  for (const group of collectives)
    axes.set(group.axes, (axes.get(group.axes) ?? 0) + group.bytes_of_step);
  return [...axes].sort((a, b) => b[1] - a[1]);
}

function bytesBar(group, most) {
  const width = Math.max(100 * group.bytes_of_step / most, 0.5);
  return element("span", {class: "bar"},
    element("span", {class: `length phase-${group.phase || "none"}`, style: `width: ${width}%`}),
    element("span", {class: "value"}, bytesText(group.bytes_of_step)));
}

/** "equal", or how many times as much the program communicates. */
function theoryText(theory) {
  if (theory.equal)
    return "equal";
  if (!theory.our_bytes || theory.our_bytes === theory.bytes)
    return theory.our_bytes ? `${exactText(theory.our_calls)} calls instead of ${exactText(theory.calls)}` : "none here";
  return `${(theory.our_bytes / theory.bytes).toFixed(2)} times the bytes`;
}

/** Compares what papers say of the collectives with what the program does. */
function theoryTable(formulas) {
  return [element("h3", {}, "Against published formulas"), table([
    {title: "scheme", of: theory => theory.scheme},
    {title: "collective", of: theory => element("code", {}, theory.collective)},
    {title: "over", of: theory => element("code", {}, theory.axis)},
    {title: "phase", of: theory => theory.phase},
    {title: "formula", of: theory => element("span", {}, theory.formula, element("br"), element("span", {class: "note"}, `${theory.sizes}. ${theory.source}.`))},
    {title: "calls", number: true, of: theory => theory.calls === null ? "any" : exactText(theory.calls)},
    {title: "ours", number: true, of: theory => exactText(theory.our_calls)},
    {title: "bytes", number: true, of: theory => bytesText(theory.bytes), exact: theory => `${exactText(theory.bytes)} bytes`},
    {title: "ours", number: true, of: theory => bytesText(theory.our_bytes), exact: theory => `${exactText(theory.our_bytes)} bytes`},
    {title: "ours is", of: theory => element("span", {class: theory.equal ? "" : "unequal"}, theoryText(theory))},
  ], formulas, "collectives against published formulas")];
}

/** Returns whether a row counts what collectiveOf has found. A row may be of several axes that are reduced at once. */
const isCounted = (group, found, hasAxes) => group.collective === found.collective && hasAxes && group.phase === found.phase &&
  placeOfRow(group.where) === placeOfRow(found.place) && (!found.reason || found.reason === group.reason);

/** Lines of the program that a row counts. */
const isLineOf = group => line => {
  const found = line.kind === "op" && collectiveOf(line);
  return found && isCounted(group, found, found.axes === group.axes);
};

/** Leads to the line, if the page has it. */
function collectiveName(group) {
  const name = element("code", {}, group.collective);
  return links.hasLine(isLineOf(group)) ? jump(name, () => links.showLine(isLineOf(group))) : name;
}

function collectivesSection(data) {
  const groups = [...data.collectives].sort((a, b) => b.bytes_of_step - a.bytes_of_step);
  if (!groups.length)
    return section("collectives", "Communication", "No rank communicates with another.");
  const most = groups[0].bytes_of_step;
  const columns = [
    {title: "bytes per step", of: group => bytesBar(group, most), exact: group => `${exactText(group.bytes_of_step)} bytes`},
    {title: "collective", of: group => collectiveName(group)},
    {title: "over", of: group => element("code", {}, group.axes)},
    {title: "where", of: group => group.where},
    {title: "phase", of: group => element("span", {class: `phase phase-${group.phase || "none"}`}, group.phase || "–")},
    {title: "why", of: group => group.reason || "–"},
    {title: "calls", number: true, of: group => exactText(group.calls)},
    {title: "bytes of one", number: true, of: group => bytesText(group.bytes_of_call),
      exact: group => `${exactText(group.bytes_of_call)} bytes at most`},
    ...data.theory.length ? [{title: "against theory", of: group => group.theory === undefined ? "–" : theoryText(data.theory[group.theory]),
      exact: group => group.theory === undefined ? "no published formula is known for it" : data.theory[group.theory].formula}] : [],
    {title: "overlapped", number: true, of: group => group.async_calls ? `${exactText(group.async_calls)} of ${exactText(group.calls)}` : "–",
      exact: group => group.async_calls ? `${plural(group.ops_beside, "op")} and ${countText(group.flops_beside)}flop beside` : null},
  ];
  const rowOf = found => groups.findIndex(group =>
    isCounted(group, found, group.axes === found.axes || group.axes.split(",").includes(found.axes)));
  links.hasCollective = found => rowOf(found) >= 0;
  links.showCollective = found => {
    const row = document.querySelectorAll("#collectives tbody tr")[rowOf(found)];
    document.querySelectorAll("tr.chosen").forEach(each => each.classList.remove("chosen"));
    row.classList.add("chosen");
    scrollTo(row);
    row.closest(".wide").focus({preventScroll: true});
  };
  const total = groups.reduce((sum, group) => sum + group.bytes_of_step, 0);
  return section("collectives", "Communication",
    "Buffers of a rank per optimizer step, the largest first; equal calls of equal layers are one row.",
    facts([["all buffers", bytesText(total), `${exactText(total)} bytes`],
      ...busiestAxes(groups).map(([axes, bytes]) => [`over ${axes}`, bytesText(bytes), `${exactText(bytes)} bytes`])]),
    table(columns, groups, "collectives of a step"), ...data.theory.length ? theoryTable(data.theory) : []);
}
