// Lanes of time: what several ranks do side by side. For pointers, arrow keys and any width.

const laneHeight = 30, laneGap = 8, axisHeight = 24, nameWidth = 78;

function roundStep(length, most) {
  const rough = length / most, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(factor => factor * power >= rough);
}

function laneAxis(length, width, height, textOf) {
  const step = roundStep(length, Math.max(2, Math.floor(width / 110)));
  const marks = [];
  for (let time = 0; time <= length * 1.0001; time += step) {
    const x = time / length * width;
    const isLast = x > width - 50;
    marks.push(svg("line", {class: "mark", x1: x, x2: x, y1: axisHeight - 5, y2: height}),
      svg("text", {class: "tick", x: isLast ? Math.min(x, width) : x + 3, y: 13, "text-anchor": isLast ? "end" : "start"}, textOf(time)));
  }
  return marks;
}

/** Parts of a segment, one above the other by their shares. */
function segmentDrawing(segment, x, width, y, height) {
  let top = y;
  const drawn = segment.parts.map(({color, share}) => {
    const at = {x, y: top, width, height: height * share};
    top += height * share;
    return [svg("rect", {...at, style: `fill: var(${color})`, class: segment.waits?.includes(color) ? "waits" : ""}),
      segment.waits?.includes(color) ? svg("rect", {...at, class: "hatch"}) : null];
  }).flat().filter(part => part);
  if (segment.text && width > 7 * segment.text.length + 4)
    drawn.push(svg("text", {class: "inside", x: x + width / 2, y: y + height / 2 + 4}, segment.text));
  return drawn;
}

function lanesDrawing({lanes, length, axisText}, width) {
  const height = axisHeight + lanes.reduce((sum, lane) => sum + lane.height + laneGap, 0);
  const drawing = svg("svg", {width, height, "aria-hidden": "true"});
  drawing.append(svg("defs", {}, svg("pattern", {id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
    svg("rect", {class: "hatch-line", width: 3, height: 6}))));
  drawing.append(...laneAxis(length, width, height, axisText));
  let y = axisHeight;
  for (const lane of lanes) {
    const place = y;
    drawing.append(svg("rect", {class: "idle", x: 0, y, width, height: lane.height}));
    lane.segments.forEach(segment => {
      const x = segment.begin / length * width, whole = (segment.end - segment.begin) / length * width;
      drawing.append(...segmentDrawing(segment, x, Math.max(whole > 3 ? whole - 0.5 : whole, 0.3), place, lane.height));
    });
    y += lane.height + laneGap;
  }
  drawing.append(svg("rect", {class: "chosen", visibility: "hidden"}));
  return drawing;
}

/** Lane and segment at a place of the drawing, or null. */
function segmentAt(model, x, y, width) {
  let top = axisHeight;
  for (const [laneIndex, lane] of model.lanes.entries()) {
    if (y >= top && y < top + lane.height) {
      const time = x / width * model.length;
      const index = lane.segments.findIndex(segment => time >= segment.begin && time <= segment.end);
      return index < 0 ? null : {lane: laneIndex, index};
    }
    top += lane.height + laneGap;
  }
  return null;
}

/** The segment of another lane at the same time, or the nearest one. */
function besideOf(model, chosen, step) {
  const lane = Math.min(Math.max(chosen.lane + step, 0), model.lanes.length - 1);
  const {begin} = model.lanes[chosen.lane].segments[chosen.index];
  const index = model.lanes[lane].segments.findIndex(segment => segment.end > begin);
  return model.lanes[lane].segments.length ? {lane, index: index < 0 ? model.lanes[lane].segments.length - 1 : index} : chosen;
}

function nextSegment(model, chosen, key) {
  if (!chosen)
    return {lane: model.lanes.findIndex(lane => lane.segments.length), index: 0};
  if (key === "ArrowUp" || key === "ArrowDown")
    return besideOf(model, chosen, key === "ArrowDown" ? 1 : -1);
  const last = model.lanes[chosen.lane].segments.length - 1;
  return {lane: chosen.lane, index: Math.min(Math.max(chosen.index + (key === "ArrowRight" ? 1 : -1), 0), last)};
}

/**
 * model: {label, lanes: [{name, height, segments: [{begin, end, text, parts: [{color, share}], describe: () => text}]}],
 * length, axisText: time => text}.
 */
function lanesFigure(model) {
  for (const lane of model.lanes)
    lane.height ??= laneHeight;
  const readout = element("p", {class: "readout", "aria-live": "polite"});
  const scroller = element("div", {class: "lanes-scroll", tabindex: 0, role: "application", "aria-label": `${model.label} Arrow keys move from part to part.`});
  const names = element("div", {class: "lane-names", style: `padding-top: ${axisHeight}px`}, model.lanes.map(lane =>
    element("div", {style: `height: ${lane.height}px; margin-bottom: ${laneGap}px`}, lane.name)));
  let zoom = 1, width = 0, chosen = null;

  function choose(next, scrolls) {
    chosen = next;
    const mark = scroller.querySelector(".chosen");
    if (!chosen || chosen.lane < 0 || !mark)
      return;
    const segment = model.lanes[chosen.lane].segments[chosen.index];
    const y = axisHeight + model.lanes.slice(0, chosen.lane).reduce((sum, lane) => sum + lane.height + laneGap, 0);
    const x = segment.begin / model.length * width;
    const attributes = {x, y, width: Math.max((segment.end - segment.begin) / model.length * width, 1),
      height: model.lanes[chosen.lane].height, visibility: "visible"};
    for (const [key, value] of Object.entries(attributes))
      mark.setAttribute(key, value);
    if (scrolls && (x < scroller.scrollLeft || x > scroller.scrollLeft + scroller.clientWidth))
      scroller.scrollLeft = x - 40;
    readout.textContent = `${model.lanes[chosen.lane].name}: ${segment.describe()}`;
  }

  function render() {
    width = Math.max(scroller.clientWidth, 200) * zoom;
    scroller.replaceChildren(lanesDrawing(model, width));
    choose(chosen, false);
  }

  scroller.addEventListener("keydown", event => {
    if (!event.key.startsWith("Arrow"))
      return;
    event.preventDefault();
    choose(nextSegment(model, chosen, event.key), true);
  });
  scroller.addEventListener("pointermove", event => {
    const box = scroller.firstChild.getBoundingClientRect();
    const found = segmentAt(model, event.clientX - box.left, event.clientY - box.top, width);
    if (found)
      choose(found, false);
  });
  new ResizeObserver(render).observe(scroller);
  readout.textContent = "Point at a part, or move with the arrow keys.";
  return element("div", {class: "lanes"},
    choices("zoom", ["whole step", "4×", "16×"], index => { zoom = 4 ** index; if (scroller.isConnected) render(); }),
    element("div", {class: "lanes-box"}, names, scroller), readout);
}

/** Explains the colors. */
const legend = entries => element("ul", {class: "legend"}, entries.map(([color, name]) => element("li", {}, swatch(color), name)));
