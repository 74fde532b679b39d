// A measured step beside the simulated one, in numbers.

/** Rows {stage, activity, simulated, measured}, where one of the two takes time. */
function comparedActivities(data) {
  const names = [...Object.keys(activityColors), "between_calls"];
  return data.measured.stages.flatMap(({stage, ranks, seconds}) => names.map(activity => ({
    stage, ranks, activity, measured: seconds[activity],
    simulated: activity === "between_calls" ? null : data.stages?.[stage].seconds[activity] ?? null})))
    .filter(row => row.measured > 0 || row.simulated > 0);
}

const exactSeconds = seconds => seconds === null ? null : `${seconds} s`;

function differenceText(row) {
  const difference = row.measured - row.simulated;
  return `${difference < 0 ? "−" : "+"}${secondsText(Math.abs(difference))}`;
}

function comparisonTable(data) {
  const isOne = data.measured.stages.length === 1;
  const isMean = data.measured.stages.some(stage => stage.ranks > 1);
  const [color, name] = [row => activityColors[row.activity]?.[0] ?? "--line", row => activityColors[row.activity]?.[1] ?? "between calls"];
  return table([
    ...isOne ? [] : [{title: "stage", number: true, of: row => String(row.stage)}],
    {title: "activity", of: row => element("span", {}, swatch(color(row)), name(row))},
    ...data.stages ? [{title: "simulated", number: true, of: row => row.simulated === null ? "–" : secondsText(row.simulated),
      exact: row => exactSeconds(row.simulated)}] : [],
    {title: isMean ? "measured, mean of ranks" : "measured", number: true, of: row => secondsText(row.measured), exact: row => exactSeconds(row.measured)},
    ...data.stages ? [{title: "difference", number: true, of: row => row.simulated === null ? "–" : differenceText(row)},
      {title: "ratio", number: true, of: row => row.simulated > 0 ? (row.measured / row.simulated).toFixed(2) : "–"}] : [],
  ], comparedActivities(data), "time of a step by activity, simulated and measured");
}

function comparisonSection(data) {
  if (!data.measured)
    return null;
  const {seconds} = data.measured;
  return section("comparison", data.stages ? "Measured against simulated" : "Where the measured time goes",
    "Collectives and stages count only while nothing is computed beside them. What is between calls in a measured step, a simulated one counts in them.",
    facts([["measured step", secondsText(seconds), exactSeconds(seconds)],
      data.stages ? ["simulated step", secondsText(data.step_seconds), exactSeconds(data.step_seconds)] : null,
      data.stages ? ["measured by simulated", (seconds / data.step_seconds).toFixed(2)] : null]),
    comparisonTable(data));
}
