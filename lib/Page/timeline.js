// A step, simulated or measured: who computes, communicates and waits when.

const activityColors = {
  products: ["--color-1", "matrix products"], attention: ["--color-7", "attention"], kernels: ["--color-4", "kernels"],
  collectives: ["--color-2", "collectives"], stages: ["--color-3", "communication between stages"]};

const activitiesOf = seconds => Object.keys(activityColors).filter(activity => seconds[activity] > 0);

function timelineSegment(segment, isNetwork) {
  const all = Object.values(segment.seconds).reduce((sum, each) => sum + each, 0);
  const names = activitiesOf(segment.seconds);
  return {
    begin: segment.begin, end: segment.end,
    waits: isNetwork ? [] : [activityColors.collectives[0], activityColors.stages[0]],
    parts: names.map(activity => ({color: activityColors[activity][0], share: segment.seconds[activity] / all})),
    describe: () => `${segment.name}, ${secondsText(segment.begin)} to ${secondsText(segment.end)}: ` +
      names.map(activity => `${activityColors[activity][1]} ${secondsText(segment.seconds[activity])}`).join(", "),
  };
}

/** Shows the task that the stage is at: "B0 3" is backward of chunk 0 for the fourth micro-batch. */
function taskLane(tasks) {
  const kinds = {F: "--color-6", B: "--color-9", W: "--color-8"};
  const names = {F: "forward", B: "backward", W: "gradients of parameters"};
  const segments = tasks.map(({name, begin, end}) => ({begin, end, text: name,
    parts: [{color: kinds[name[0]] ?? "--line", share: 1}],
    describe: () => `${names[name[0]] ?? "messages"} ${name} (chunk, micro-batch), ${secondsText(begin)} to ${secondsText(end)}`}));
  return segments.length ? [{name: "tasks", height: 16, segments}] : [];
}

/** Lists the activities of each stage that take the time of a step. */
function sharesTable(data) {
  const stages = data.stages.map((stage, number) => ({...stage, number}));
  const activity = name => ({title: activityColors[name][1].replace("communication between", "between"), number: true,
    of: stage => percentText(stage.seconds[name] / data.step_seconds), exact: stage => secondsText(stage.seconds[name])});
  return table([
    {title: stages.length > 1 ? "stage" : "rank", number: true, of: stage => stages.length > 1 ? String(stage.number) : "each"},
    ...Object.keys(activityColors).map(activity),
    {title: "communication, overlapped or not", of: stage =>
      Object.entries(stage.communication).map(([axis, seconds]) => `${axis} ${secondsText(seconds)}`).join(", ") || "–"},
  ], stages, "time of a step by activity");
}

/** Shows the activities of a stage or a rank: its tasks, the device and the network beside it. */
function timelineLanes(name, timeline) {
  const network = timeline.network.length
    ? [{name: "network", height: 12, segments: timeline.network.map(segment => timelineSegment(segment, true))}] : [];
  return [...taskLane(timeline.tasks), {name, segments: timeline.device.map(segment => timelineSegment(segment, false))}, ...network];
}

/** Simulated stages, each followed by its measured ranks. */
function stepFigure(data, ranks) {
  const stages = data.stages ?? [];
  const measured = data.measured?.ranks.filter(ranks) ?? [];
  const nameOf = number => stages.length === 1 ? "each rank" : `stage ${number}`;
  const simulated = number => data.measured ? `${stages.length === 1 ? "" : `stage ${number}, `}simulated` : nameOf(number);
  const count = Math.max(stages.length, ...measured.map(rank => rank.stage + 1));
  const lanes = Array.from({length: count}, (_, number) => [
    ...stages[number] ? timelineLanes(simulated(number), stages[number].timeline) : [],
    ...measured.filter(rank => rank.stage === number).flatMap(rank => timelineLanes(`rank ${rank.rank}, measured`, rank.timeline))]).flat();
  const what = !data.measured ? "Simulated step." : stages.length ? "Simulated and measured step." : "Measured step.";
  return lanesFigure({label: what, lanes, length: Math.max(data.step_seconds ?? 0, data.measured?.seconds ?? 0), axisText: secondsTick});
}

/** All measured ranks, or the first of each stage. */
function stepView(data) {
  const ranks = data.measured?.ranks ?? [];
  const isFirst = rank => ranks.find(other => other.stage === rank.stage) === rank;
  if (ranks.every(isFirst))
    return [stepFigure(data, () => true)];
  const view = element("div", {});
  const picker = choices("measured", [data.measured.stages.length > 1 ? "a rank of each stage" : "one rank", "all ranks"],
    index => view.replaceChildren(stepFigure(data, index ? () => true : isFirst)));
  return [picker, view];
}

function timelineSection(data) {
  const stages = data.stages ?? [];
  const all = [...stages, ...data.measured?.ranks ?? []];
  const who = stages.length === 1 ? "All simulated ranks do the same. "
    : stages.length ? "One rank of each stage is simulated; its ranks do the same. " : "";
  return section("timeline", "The step in time",
    `${who}What is hatched is waiting; the network works beside the device. The height of a color is its share of a part's time.`,
    legend(Object.values(activityColors).filter(([color]) => all.some(one =>
      activitiesOf(one.seconds).some(activity => activityColors[activity][0] === color)))),
    ...stepView(data));
}

const sharesSection = data => section("shares", "Where the time goes",
  "Shares of the step. Collectives and stages count only while nothing is computed beside them.", sharesTable(data));

function simulateHeader(data) {
  return [
    `${secondsText(data.step_seconds)} a step on ${data.cluster}`,
    `${data.mesh || "one rank"}, ${plural(data.ranks, "rank")}; predicted, not measured`,
    facts([["step", secondsText(data.step_seconds), `${data.step_seconds} s`],
      ["tokens per second", countText(data.tokens_per_second), exactText(data.tokens_per_second)],
      ["flop/s of a device", countText(data.flops_per_second_per_device), exactText(data.flops_per_second_per_device)],
      ["of its peak", percentText(data.utilization)],
      ["memory of a rank", `${bytesText(data.memory_bytes)} of ${bytesText(data.memory_bytes_of_device)}`, `${exactText(data.memory_bytes)} bytes`],
      data.fits ? null : ["memory", "does not fit"]]),
  ];
}
