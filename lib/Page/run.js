// A run of tessera train: its curves, what happened in it, and what it is.

const runStates = {running: "running", finished: "finished", stopped: "stopped before its end", failed: "ended by an error"};

/** 83 -> "1:23"; 3723 -> "1:02:03"; less than a minute in seconds. */
function durationText(seconds) {
  if (seconds < 60)
    return secondsText(seconds);
  const whole = Math.floor(seconds), two = number => String(number).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60, hours = Math.floor(whole / 3600);
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Five digits; null is what JSON has for NaN and infinity. */
const numberText = value => value === null ? "not finite" : Number(value.toPrecision(5)).toLocaleString("en-US", {maximumSignificantDigits: 5});

const pointsOf = curve => curve.map(([x, y]) => ({x, y}));

/** A point without neighbours is in no line. */
const isAlone = (points, index) => points[index].y !== null && (points[index - 1]?.y ?? null) === null && (points[index + 1]?.y ?? null) === null;

function curveDataset(label, color, points, more) {
  return {label, data: points, borderColor: colorOf(color), backgroundColor: colorOf(color), borderWidth: 1.5, pointHitRadius: 6,
    pointRadius: points.map((_, index) => isAlone(points, index) ? 2 : 0), ...more};
}

/** Marks of single steps; `tell` is what a pointer at one reads. */
function markDataset(label, color, steps, y, tell, style) {
  return {label, data: steps.map(x => ({x, y})), tell, walks: false, showLine: false, borderColor: colorOf(color), backgroundColor: colorOf(color),
    pointRadius: 5, borderWidth: 1.5, ...style};
}

function runChart(label, history, isLogarithmic, datasets, tickText = numberText) {
  return chart(`${label} Arrow keys move from point to point.`, () => ({
    type: "line",
    data: {datasets: datasets()},
    options: {
      interaction: {mode: "nearest", axis: "x", intersect: false},
      scales: {
        x: {type: "linear", min: history.first, max: Math.max(history.last, history.first + 1), grid: {display: false},
          ticks: {precision: 0, maxTicksLimit: innerWidth < 600 ? 5 : 9, maxRotation: 0}},
        y: {type: isLogarithmic ? "logarithmic" : "linear", ticks: {callback: tickText, maxTicksLimit: 7}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {
          title: items => items.length ? `step ${exactText(items[0].raw.x)}` : "",
          label: item => item.dataset.tell ? item.dataset.tell(item.raw.x) : `${item.dataset.label}: ${numberText(item.raw.y)}`,
        }},
      },
    },
  }));
}

const evaluationPoints = history => history.evaluations.map(line => ({x: line.step, y: line.eval_loss}));

/** Steps from which the run went on, after a checkpoint. */
const resumedSteps = history => history.runs.slice(1).map(run => run.first).filter(step => step <= history.last);

const skippedText = ([first, last]) => first === last ? "skipped: its loss or gradient was not finite"
  : `skipped up to step ${exactText(last)}: their losses or gradients were not finite`;

function lossChart(data, isLogarithmic) {
  const {history} = data;
  const loss = pointsOf(history.curves.loss), evaluations = evaluationPoints(history);
  const values = [...loss, ...evaluations].map(point => point.y).filter(y => y !== null);
  if (data.byte_frequencies_loss)
    values.push(data.byte_frequencies_loss);
  const [least, most] = values.length ? [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))] : [0, 1];
  const notes = new Map(history.notes.map(line => [line.step, line.note]));
  const skipped = new Map(history.skipped.map(range => [range[0], skippedText(range)]));
  return runChart("Loss by step.", history, isLogarithmic, () => [
    curveDataset("loss", "--color-1", loss),
    ...evaluations.length ? [curveDataset("evaluation", "--color-3", evaluations, {walks: false, pointRadius: 3})] : [],
    ...data.byte_frequencies_loss ? [curveDataset("byte frequencies alone", "--color-5",
      [history.first, Math.max(history.last, history.first + 1)].map(x => ({x, y: data.byte_frequencies_loss})),
      {walks: false, pointRadius: 0, pointHitRadius: 0, borderDash: [5, 5]})] : [],
    markDataset("notes", "--color-7", [...notes.keys()], most, step => notes.get(step), {pointStyle: "triangle", pointRotation: 180}),
    markDataset("skipped steps", "--color-2", [...skipped.keys()], least, step => skipped.get(step), {pointStyle: "crossRot"}),
    markDataset("resumed", "--color-8", resumedSteps(history), least, () => "the run went on from a checkpoint", {pointStyle: "rectRot"}),
  ]);
}

function lossLegend(data) {
  const {history} = data;
  return legend([["--color-1", "loss"], history.evaluations.length && ["--color-3", "evaluation"],
    data.byte_frequencies_loss && ["--color-5", "dashed: byte frequencies alone"], history.notes.length && ["--color-7", "triangles: notes, such as leaps of the loss"],
    history.skipped.length && ["--color-2", "crosses: skipped steps"], resumedSteps(history).length && ["--color-8", "diamonds: resumed"]].filter(entry => entry));
}

const smallCurves = [["grad_norm", "gradient norm", "--color-4"], ["lr", "learning rate", "--color-8"], ["tokens_per_second", "tokens per second", "--color-9"],
  ["mfu", "share of the peak", "--color-7"], ["expert_rounds", "rounds of experts", "--color-2"]];

function smallChart(data, [key, name, color], isLogarithmic) {
  const points = pointsOf(data.history.curves[key]);
  return element("div", {}, element("h3", {}, name), runChart(`${name} by step.`, data.history, isLogarithmic && key === "grad_norm",
    () => [curveDataset(name, color, points, {borderWidth: 1})], key === "tokens_per_second" ? countText : numberText));
}

function thinnedNote(history) {
  return element("p", {class: "note"}, `Curves of ${exactText(history.count)} steps are thinned: of each of ${history.thinned_to_ranges} equal ranges of steps ` +
    "the smallest and the largest value are drawn, and the first that was not finite. The log has all.");
}

function curvesSection(data) {
  const {history} = data;
  if (!history.count)
    return section("curves", "Curves", "No step has ended yet.");
  const view = element("div", {});
  const picker = choices("loss and gradient norm", ["linear", "logarithmic"], index => {
    view.replaceChildren(element("h3", {}, "loss"), lossChart(data, index === 1), element("div", {class: "small-charts"},
      smallCurves.filter(([key]) => history.curves[key]).map(curve => smallChart(data, curve, index === 1))));
    drawNew();
  });
  const lead = history.first > 1 ? `From step ${exactText(history.first)} on; earlier ones are not in the log.` : null;
  return section("curves", "Curves", lead, lossLegend(data), picker, view, history.thinned_to_ranges ? thinnedNote(history) : null,
    history.unread_lines ? element("p", {class: "note"}, `${plural(history.unread_lines, "line")} of the log could not be read.`) : null);
}

/** A table of the first rows; the others open. */
function longTable(columns, rows, shown, noun, caption) {
  const rest = rows.slice(shown);
  return [table(columns, rows.slice(0, shown), caption), rest.length
    ? element("details", {}, element("summary", {}, plural(rest.length, noun)), table(columns, rest, `${caption}, the rest`)) : null];
}

function evaluationsSection(data) {
  const lines = [...data.history.evaluations].reverse();
  if (!lines.length)
    return null;
  const best = lines.reduce((a, b) => b.eval_loss !== null && (a.eval_loss === null || b.eval_loss <= a.eval_loss) ? b : a);
  const number = (title, key, of = numberText) => ({title, number: true, of: line => of(line[key]), exact: line => String(line[key])});
  return section("evaluations", "Evaluations",
    `${plural(data.history.evaluation_count, "evaluation")}, the newest first${lines.length < data.history.evaluation_count ? "; the best and worst of equal ranges of steps are listed" : ""}.`,
    ...longTable([
      {title: "after step", number: true, of: line => exactText(line.step)},
      {title: "loss", number: true, of: line => `${line === best ? "best: " : ""}${numberText(line.eval_loss)}`, exact: line => String(line.eval_loss)},
      number("perplexity", "eval_perplexity"),
      ...lines.some(line => "eval_bits_per_byte" in line) ? [number("bits per byte", "eval_bits_per_byte", value => value === undefined ? "–" : numberText(value))] : [],
      number("accuracy", "eval_accuracy", percentText), number("labels", "eval_labels", exactText),
    ], lines, 8, "earlier evaluation", "evaluations"));
}

/** Lists events, the newest first. */
function eventsOf(history) {
  const resumed = history.runs.slice(1).map(run => ({step: run.first, what: `The run went on from a checkpoint of step ${exactText(run.first - 1)}.`}));
  const notes = history.notes.map(line => ({step: line.step, what: line.note}));
  const skipped = history.skipped.map(range => ({step: range[0], what: skippedText(range)}));
  return [...resumed, ...notes, ...skipped].sort((a, b) => b.step - a.step);
}

function eventsSection(data) {
  const {history} = data, events = eventsOf(history);
  const error = data.error ? element("pre", {class: "error"}, data.error.trim()) : null;
  if (!events.length && !error)
    return null;
  const older = history.note_count > history.notes.length ? ` Of ${exactText(history.note_count)} notes the newest are listed.` : "";
  return section("events", "What happened", events.length ? `The newest first.${older}` : null, error, ...events.length ? longTable([
    {title: "step", number: true, of: event => exactText(event.step)},
    {title: "what", of: event => event.what},
  ], events, 10, "earlier event", "what happened in the run") : []);
}

function optionsSection(data) {
  return section("options", "Options", "What the command gave; all others have their defaults.", table([
    {title: "option", of: ([name]) => element("code", {}, name)},
    {title: "value", of: ([, value]) => element("code", {class: "value"}, value)},
  ], data.options, "options of the run"));
}

function trainHeader(data) {
  const {history, report} = data, {model} = report;
  const lastOf = curve => curve.length ? curve[curve.length - 1][1] : undefined;
  const loss = lastOf(history.curves.loss), speed = lastOf(history.curves.tokens_per_second);
  const losses = history.evaluations.map(line => line.eval_loss).filter(value => value !== null);
  const best = losses.length ? losses.reduce((a, b) => Math.min(a, b)) : undefined;
  return [
    `${model.family} on ${report.mesh || "one rank"}, ${runStates[data.state]}`,
    [plural(model.layers, "layer"), `${plural(model.batch, "sequence")} of ${plural(model.sequence, "token")} a step`,
      plural(model.micro_batches, "micro-batch").replace("batchs", "batches"), report.precision, report.target.device].join(", "),
    facts([["steps", `${exactText(history.last)} of ${exactText(data.last_step)}`],
      loss !== undefined && ["loss of the last step", numberText(loss), String(loss)],
      best !== undefined && ["best evaluation", numberText(best), String(best)],
      ["time", durationText(history.seconds), `${history.seconds} s in ${plural(history.runs.length, "run")}`],
      speed !== undefined && ["tokens per second", countText(speed ?? 0), String(speed)],
      ["skipped steps", exactText(history.skipped_steps)],
      history.lost_steps ? ["steps done again", exactText(history.lost_steps)] : null,
      ["parameters", countText(report.parameters), exactText(report.parameters)],
      ["ranks", exactText(report.ranks)],
      ["memory of a rank", bytesText(report.memory.bytes), `${exactText(report.memory.bytes)} bytes`]]),
  ];
}
