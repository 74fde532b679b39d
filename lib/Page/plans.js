// Plans of a search: time against memory, and why the best is the best.

const sameNumbers = (a, b) => a.step_seconds === b.step_seconds && a.memory_bytes === b.memory_bytes;

/** Options in which plans differ: the others say nothing. */
function differingOptions(plans) {
  const names = [...new Set(plans.flatMap(plan => Object.keys(plan.options)))];
  return names.filter(name => new Set(plans.map(plan => plan.options[name])).size > 1);
}

/** "mesh pp=2,tp=4, zero 1". */
function planText(plan, names) {
  return names.filter(name => plan.options[name] !== undefined).map(name =>
    plan.options[name] === "true" ? name : name === "mesh" ? plan.options[name] : `${name} ${plan.options[name]}`).join(", ");
}

function plansChart(data, names) {
  const best = data.plans[0];
  const isOnFront = plan => data.pareto.some(other => sameNumbers(other, plan));
  const groups = [
    ["the best", "--color-3", data.plans.slice(0, 1), {pointStyle: "rectRot", radius: 9}],
    ["no other is better in both", "--color-1", data.pareto.filter(plan => !sameNumbers(plan, best)), {radius: 6}],
    ["other plans", "--color-5", data.plans.slice(1).filter(plan => plan.fits && !isOnFront(plan)), {radius: 4}],
    ["do not fit", "--color-2", data.plans.filter(plan => !plan.fits), {pointStyle: "crossRot", radius: 6, borderWidth: 2}],
  ].filter(([, , plans]) => plans.length);
  const pointsOf = plans => plans.map(plan => ({x: plan.step_seconds, y: plan.memory_bytes, plan}));
  const front = [...data.pareto].sort((a, b) => a.step_seconds - b.step_seconds);
  const times = data.plans.map(plan => plan.step_seconds);
  const largest = Math.max(...data.plans.map(plan => plan.memory_bytes));
  const hasLimit = data.memory_limit_bytes < 3 * largest;
  const line = (label, color, points, more) => ({label, data: points, showLine: true, pointRadius: 0, pointHitRadius: 0, borderWidth: 1.5,
    borderColor: colorOf(color), backgroundColor: "transparent", ...more});
  const figure = chart("Time of a step against memory of a rank, of each plan that was compiled.", () => ({
    type: "scatter",
    data: {datasets: [
      ...groups.map(([label, color, plans, style]) => ({label, data: pointsOf(plans), backgroundColor: colorOf(color), borderColor: colorOf(color),
        hoverRadius: (style.radius ?? 4) + 2, ...style})),
      line("front", "--color-1", front.map(plan => ({x: plan.step_seconds, y: plan.memory_bytes})), {stepped: "before"}),
      ...hasLimit ? [line("memory of a device", "--color-2", [Math.min(...times), Math.max(...times)].map(x => ({x, y: data.memory_limit_bytes})), {borderDash: [5, 5]})] : [],
    ]},
    options: {
      scales: {
        x: {title: {display: true, text: "time of a step"}, ticks: {callback: secondsTick, maxRotation: 0}},
        y: {title: {display: true, text: "memory of a rank"}, beginAtZero: true, ticks: {callback: bytesText, stepSize: bytesStep(largest)}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {filter: item => item.raw.plan, callbacks: {
          title: items => items.length ? planText(items[0].raw.plan, names).split(", ") : "",
          label: item => `${secondsText(item.raw.x)}, ${bytesText(item.raw.y)}`,
          afterLabel: item => item.raw.plan.why,
        }},
      },
    },
  }));
  const marks = groups.map(([label, color]) => [color, label]);
  if (hasLimit)
    marks.push(["--color-2", "dashed: memory of a device"]);
  return element("div", {}, legend(marks), figure);
}

function activityBars(plan, most) {
  const colors = {products: "--color-1", attention: "--color-7", kernels: "--color-4", network: "--color-2", bubble: "--color-3"};
  const parts = Object.entries(plan.seconds).filter(([, seconds]) => seconds > 0);
  return element("span", {class: "stack", title: parts.map(([name, seconds]) => `${name} ${secondsText(seconds)}`).join(", ")},
    Object.keys(colors).filter(name => plan.seconds[name] > 0).map(name =>
      element("span", {style: `width: ${100 * plan.seconds[name] / most}%; background: var(${colors[name]})`})));
}

function plansTable(data, names, plans, caption) {
  const most = Math.max(...plans.map(plan => plan.step_seconds));
  const rest = names.filter(name => name !== "mesh");
  return table([
    {title: "mesh", of: plan => element("code", {}, plan.options.mesh ?? "one rank")},
    {title: "step", number: true, of: plan => secondsText(plan.step_seconds), exact: plan => `${plan.step_seconds} s`},
    {title: "time goes to", of: plan => activityBars(plan, most)},
    {title: "memory", number: true, of: plan => bytesText(plan.memory_bytes), exact: plan => `${exactText(plan.memory_bytes)} bytes`},
    {title: "against the best", of: plan => plan === data.plans[0] ? "the best" : plan.why.replace(" %", "\u00a0%") || "–"},
    {title: "other options", of: plan => planText(plan, rest)},
  ], plans, caption);
}

const activityLegend = () => legend([["--color-1", "products"], ["--color-7", "attention"], ["--color-4", "kernels"],
  ["--color-2", "network"], ["--color-3", "bubble"]]);

function frontSection(data) {
  return section("front", "Time against memory", "Each plan was compiled whole and simulated. Further left is faster, further down is smaller.",
    plansChart(data, differingOptions(data.plans)));
}

function bestSection(data) {
  const shown = 10;
  const names = differingOptions(data.plans);
  const rest = data.plans.slice(shown);
  return section("plans", `The ${Math.min(shown, data.plans.length)} best plans`,
    "What the others lose is the activity that costs them most more than the best plan, as a share of its step.",
    activityLegend(), plansTable(data, names, data.plans.slice(0, shown), "the best plans"),
    rest.length ? element("details", {}, element("summary", {}, plural(rest.length, "other plan")),
      plansTable(data, names, rest, "other plans")) : null);
}

function planHeader(data) {
  const best = data.plans[0];
  return [
    `${secondsText(best.step_seconds)} a step: ${best.options.mesh ?? "one rank"}`,
    `${data.cluster}, ${plural(best.ranks, "rank")}; predicted, not measured`,
    facts([["memory of a rank", `${bytesText(best.memory_bytes)} of ${bytesText(data.memory_limit_bytes)}`, `${exactText(best.memory_bytes)} bytes`],
      ["plans compiled", exactText(data.plans.length)], ["plans to begin with", exactText(data.plans_to_begin_with)],
      ["estimates off by", `at most ${percentText(data.largest_error_of_estimates)}`],
      ["search", data.complete ? "came to its end" : "ended by --evaluations"],
      data.training ? ["training", `${(data.training.seconds / 86400).toFixed(1)} days`, `${countText(data.training.tokens)} tokens`] : null,
      data.training?.joules ? ["energy of training", `at most ${(data.training.joules / 3.6e9).toFixed(1)} MWh`, `${plural(data.training.nodes, "node")} at full load`] : null]),
  ];
}
