// The simulated step: who computes, communicates and waits when.

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

/** Which task the stage is at: "B0 3" is backward of chunk 0 for the fourth micro-batch. */
function taskLane(tasks) {
  const kinds = {F: "--color-6", B: "--color-9", W: "--color-8"};
  const names = {F: "forward", B: "backward", W: "gradients of parameters"};
  const segments = tasks.map(({name, begin, end}) => ({begin, end, text: name,
    parts: [{color: kinds[name[0]] ?? "--line", share: 1}],
    describe: () => `${names[name[0]] ?? "messages"} ${name} (chunk, micro-batch), ${secondsText(begin)} to ${secondsText(end)}`}));
  return segments.length ? [{name: "tasks", height: 16, segments}] : [];
}

/** What the time of a step goes to, of each stage. */
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

function timelineSection(data) {
  const isOne = data.stages.length === 1;
  const lanes = data.stages.flatMap((stage, number) => {
    const name = isOne ? "each rank" : `stage ${number}`;
    const network = stage.timeline.network.length
      ? [{name: "network", height: 12, segments: stage.timeline.network.map(segment => timelineSegment(segment, true))}] : [];
    const device = {name, segments: stage.timeline.device.map(segment => timelineSegment(segment, false))};
    return [...taskLane(stage.timeline.tasks), device, ...network];
  });
  return section("timeline", "The step in time",
    `${isOne ? "All ranks do the same." : "One rank of each stage; its ranks do the same."} What is hatched is waiting; the network works beside the device. ` +
    "The height of a color is its share of a part's time.",
    legend(Object.values(activityColors).filter(([color]) => data.stages.some(stage =>
      activitiesOf(stage.seconds).some(activity => activityColors[activity][0] === color)))),
    lanesFigure({label: "Simulated step.", lanes, length: data.step_seconds, axisText: secondsTick}));
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
