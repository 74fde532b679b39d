// Who communicates what, and why.

/** Of all calls of a step together. */
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

function collectivesSection(data) {
  const groups = [...data.collectives].sort((a, b) => b.bytes_of_step - a.bytes_of_step);
  if (!groups.length)
    return section("collectives", "Communication", "No rank communicates with another.");
  const most = groups[0].bytes_of_step;
  const columns = [
    {title: "bytes per step", of: group => bytesBar(group, most), exact: group => `${exactText(group.bytes_of_step)} bytes`},
    {title: "collective", of: group => element("code", {}, group.collective)},
    {title: "over", of: group => element("code", {}, group.axes)},
    {title: "where", of: group => group.where},
    {title: "phase", of: group => element("span", {class: `phase phase-${group.phase || "none"}`}, group.phase || "–")},
    {title: "why", of: group => group.reason || "–"},
    {title: "calls", number: true, of: group => exactText(group.calls)},
    {title: "bytes of one", number: true, of: group => bytesText(group.bytes_of_call),
      exact: group => `${exactText(group.bytes_of_call)} bytes at most`},
    {title: "overlapped", number: true, of: group => group.async_calls ? `${exactText(group.async_calls)} of ${exactText(group.calls)}` : "–",
      exact: group => group.async_calls ? `${plural(group.ops_beside, "op")} and ${countText(group.flops_beside)}flop beside` : null},
  ];
  const total = groups.reduce((sum, group) => sum + group.bytes_of_step, 0);
  return section("collectives", "Communication",
    "Buffers of a rank per optimizer step, the largest first; equal calls of equal layers are one row.",
    facts([["all buffers", bytesText(total), `${exactText(total)} bytes`],
      ...busiestAxes(groups).map(([axes, bytes]) => [`over ${axes}`, bytesText(bytes), `${exactText(bytes)} bytes`])]),
    table(columns, groups, "collectives of a step"));
}
