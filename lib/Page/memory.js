// The memory of a rank: by kind, over the step, and alive at the peak.

const memoryColors = {
  "weights": "--color-1", "optimizer": "--color-2", "gradients": "--color-3", "activations": "--color-4",
  "workspace": "--color-5", "weight copies": "--color-6", "gathered weights": "--color-7", "caches": "--color-8",
  "inputs": "--color-9"};

/** Kinds that are there all the time, at the bottom. */
const lasting = ["weights", "optimizer", "caches", "inputs"];

function kindsTable(arena) {
  const kinds = Object.entries(arena.by_kind).sort((a, b) => b[1] - a[1]);
  return table([
    {title: "kind", of: ([kind]) => element("span", {}, swatch(memoryColors[kind]), kind)},
    {title: "bytes", number: true, of: ([, bytes]) => bytesText(bytes), exact: ([, bytes]) => `${exactText(bytes)} bytes`},
    {title: "share", number: true, of: ([, bytes]) => percentText(bytes / arena.bytes)},
  ], kinds, "memory by kind at the peak");
}

function memoryChart(arena) {
  const {kinds, points} = arena.over_step;
  const always = lasting.filter(kind => arena.by_kind[kind]).map(kind => [kind, points.map(() => arena.by_kind[kind])]);
  const passing = kinds.map((kind, index) => [kind, points.map(point => point.bytes[index])])
    .filter(([, values]) => values.some(value => value > 0));
  const label = point => [point.phase, point.name].filter(text => text).join(" · ");
  return chart("Memory of a rank over the step, by kind. Arrow keys move along the step.", () => ({
    type: "line",
    data: {
      labels: points.map(point => point.at),
      datasets: [...always, ...passing].map(([kind, data]) => ({
        label: kind, data, fill: true, stepped: "middle", pointRadius: 0, borderWidth: 0,
        backgroundColor: colorOf(memoryColors[kind])})),
    },
    options: {
      interaction: {mode: "index", intersect: false},
      scales: {
        x: {ticks: {maxTicksLimit: innerWidth < 600 ? 4 : 8, maxRotation: 0, callback: index => points[index].phase}, grid: {display: false}},
        y: {stacked: true, beginAtZero: true, suggestedMax: arena.bytes, ticks: {callback: bytesText, stepSize: bytesStep(arena.bytes)}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {
          itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
          filter: item => item.raw > 0,
          callbacks: {
            title: items => items.length ? label(points[items[0].dataIndex]) : "",
            label: item => `${item.dataset.label}: ${bytesText(item.raw)}`,
            footer: items => `together: ${bytesText(items.reduce((sum, item) => sum + item.raw, 0))}`,
          },
        },
      },
    },
  }));
}

/** "kernel_4_add_einsum_add_map" -> "kernel add_einsum_add…". */
function kernelText(op) {
  const text = op.replace(/^kernel_\d+_/, "kernel ");
  return text.length > 26 ? `${text.slice(0, 25)}…` : text;
}

function aliveTable(arena) {
  const shown = 12;
  const all = arena.over_step.alive;
  const rest = all.slice(shown).reduce((sum, entry) => sum + entry.bytes, 0);
  const columns = [
    {title: "where", of: entry => entry.where},
    {title: "made by", of: entry => kernelText(entry.op), exact: entry => entry.op},
    {title: "kind", of: entry => element("span", {}, swatch(memoryColors[entry.kind]), entry.kind)},
    {title: "count", number: true, of: entry => exactText(entry.count)},
    {title: "bytes", number: true, of: entry => bytesText(entry.bytes), exact: entry => `${exactText(entry.bytes)} bytes`},
  ];
  return element("div", {}, element("h3", {}, "Alive at the peak, beside what is always there"),
    table(columns, all.slice(0, shown), "what is alive at the peak"),
    rest ? element("details", {}, element("summary", {}, `${plural(all.length - shown, "smaller entry").replace("entrys", "entries")}, ${bytesText(rest)}`),
      table(columns, all.slice(shown), "the rest of what is alive at the peak")) : null);
}

function arenaView(arena) {
  const overStep = arena.over_step;
  const peak = overStep && overStep.points.find(point => point.at === overStep.peak);
  return [
    facts([["memory of a rank", bytesText(arena.bytes), `${exactText(arena.bytes)} bytes`],
      peak && ["peak in", [peak.phase, peak.name].filter(text => text).join(" · ")]]),
    element("div", {class: "beside"}, overStep ? memoryChart(arena) : null, kindsTable(arena)),
    overStep && overStep.alive.length ? aliveTable(arena) : null,
  ];
}

function memorySection(data) {
  const memory = data.memory;
  const view = element("div", {});
  const arenas = memory.stages ?? [memory];
  const show = index => {
    view.replaceChildren(...arenaView(arenas[index]).filter(part => part));
    drawNew();
  };
  const who = data.parameter_server ? "rank of dp" : "stage";
  const picker = arenas.length > 1 ? choices(who, arenas.map((_, index) => String(index)), show) : (show(0), null);
  return section("memory", "Memory over the step",
    "One arena holds all of it, planned before the step runs. What is free between the curve and the size of the arena are gaps of the layout.",
    picker, view);
}
