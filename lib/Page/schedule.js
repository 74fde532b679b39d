// The tasks of each pipeline stage, by the schedule.

const taskKinds = {F: ["--color-1", "forward"], B: ["--color-2", "backward"], W: ["--color-8", "gradients of parameters"]};

function stagesTable(pipeline) {
  const stages = pipeline.stages.map((stage, number) => ({...stage, number}));
  return table([
    {title: "stage", number: true, of: stage => String(stage.number)},
    {title: "holds", of: stage => stage.holds},
    {title: "parameters", number: true, of: stage => countText(stage.parameters), exact: stage => exactText(stage.parameters)},
    {title: "memory", number: true, of: stage => bytesText(stage.memory), exact: stage => `${exactText(stage.memory)} bytes`},
    {title: "flop", number: true, of: stage => countText(stage.flops), exact: stage => exactText(stage.flops)},
    {title: "in flight", number: true, of: stage => String(stage.in_flight)},
    {title: "sends", number: true, of: stage => bytesText(stage.bytes_sent), exact: stage => `${exactText(stage.bytes_sent)} bytes`},
  ], stages, "stages of the pipeline");
}

function scheduleFigure(pipeline) {
  const describe = task => `${taskKinds[task.kind][1]} of chunk ${task.chunk} for micro-batch ${task.micro_batch}, ` +
    `from ${percentText(task.begin)} to ${percentText(task.end)} of the step`;
  const lanes = pipeline.times.map((tasks, number) => ({
    name: `stage ${number}`,
    segments: tasks.map(task => ({begin: task.begin, end: task.end, text: String(task.micro_batch),
      parts: [{color: taskKinds[task.kind][0], share: 1}], describe: () => describe(task)})),
  }));
  return lanesFigure({label: "Schedule of the pipeline stages.", lanes, length: 1, axisText: time => `${Math.round(100 * time)} %`});
}

function scheduleSection(data) {
  const pipeline = data.pipeline;
  if (!pipeline)
    return null;
  const inTurn = !pipeline.times.length;
  const kinds = Object.keys(taskKinds).filter(kind => pipeline.times.some(tasks => tasks.some(task => task.kind === kind)));
  return section("schedule", "Pipeline schedule",
    inTurn ? "Rows of requests go through the stages, which work in turn."
      : "A chunk's time is its flops, messages take none; a number is a micro-batch, what is empty is the bubble.",
    facts([["schedule", inTurn ? "in turn" : pipeline.schedule], ["bubble by flops", percentText(pipeline.bubble_by_flops)],
      ["if chunks took the same", percentText(pipeline.bubble)]]),
    inTurn ? null : legend(kinds.map(kind => taskKinds[kind])), inTurn ? null : scheduleFigure(pipeline), stagesTable(pipeline));
}
