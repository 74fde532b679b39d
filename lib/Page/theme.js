// Colors of charts, which are those of page.css, and charts that follow them.

const charts = [];

const colorOf = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** `describe()` gives the configuration in the colors of the moment. */
function chart(label, describe) {
  const canvas = element("canvas", {role: "img", tabindex: 0, "aria-label": label});
  const box = element("div", {class: "chart"}, canvas);
  charts.push({canvas, describe, drawn: null});
  canvas.addEventListener("keydown", event => walk(canvas, event));
  return box;
}

function draw(entry) {
  entry.drawn?.destroy();
  Object.assign(Chart.defaults, {color: colorOf("--quiet"), borderColor: colorOf("--line"), animation: false,
    responsive: true, maintainAspectRatio: false});
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  entry.drawn = new Chart(entry.canvas, entry.describe());
}

function drawAgain() {
  drawNew();
  charts.filter(entry => entry.drawn).forEach(draw);
}

/** Draws what has come into the document and forgets what was replaced. */
function drawNew() {
  for (const entry of [...charts])
    if (entry.canvas.isConnected && !entry.drawn) {
      draw(entry);
    } else if (!entry.canvas.isConnected && entry.drawn) {
      entry.drawn.destroy();
      charts.splice(charts.indexOf(entry), 1);
    }
}

/** The arrow keys move from point to point of the first data, as a pointer would. Of others that are marks (walks: false), none moves along. */
function walk(canvas, event) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  const drawn = charts.find(entry => entry.canvas === canvas)?.drawn;
  if (!step || !drawn)
    return;
  event.preventDefault();
  const points = drawn.getDatasetMeta(0).data;
  let index = drawn.tooltip.dataPoints?.[0]?.dataIndex ?? (step > 0 ? -1 : points.length);
  do
    index += step;
  while (points[index]?.skip);
  if (!points[index])
    return;
  const active = drawn.data.datasets.map((_, datasetIndex) => ({datasetIndex, index})).filter(item =>
    drawn.data.datasets[item.datasetIndex].walks !== false && drawn.getDatasetMeta(item.datasetIndex).data[item.index] &&
    drawn.isDatasetVisible(item.datasetIndex));
  const {x, y} = drawn.getDatasetMeta(active[0].datasetIndex).data[index];
  drawn.setActiveElements(active);
  drawn.tooltip.setActiveElements(active, {x, y});
  drawn.update();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
