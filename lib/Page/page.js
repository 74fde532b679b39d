// The sections of each command, in their order.

function reportHeader(data) {
  const model = data.model;
  return [
    `${model.family} on ${data.mesh || "one rank"}`,
    [plural(model.layers, "layer"), `${plural(model.batch, "sequence")} of ${plural(model.sequence, "token")}`,
      plural(model.micro_batches, "micro-batch").replace("batchs", "batches"), data.precision, data.target.device].join(", "),
    facts([["ranks", exactText(data.ranks)],
      ["parameters", countText(data.parameters), exactText(data.parameters)],
      ["of a rank", countText(data.parameters_of_rank), exactText(data.parameters_of_rank)],
      ["memory of a rank", bytesText(data.memory.bytes), `${exactText(data.memory.bytes)} bytes`],
      ["flop of a rank per step", countText(data.flops_of_rank), exactText(data.flops_of_rank)]]),
  ];
}

const ofStep = make => data => data.step ? make(data.step) : null;

const reportSections = [tilesSection, programSection, memorySection, collectivesSection, scheduleSection];

/** The sections of tessera explore: a report, its passes and, with a cluster, a simulated step. */
const exploreSections = [
  ...reportSections.map(make => data => make({...data.report, passes: data.passes})),
  data => data.simulate?.error ? section("timeline", "The step in time", `It is not simulated: ${data.simulate.error}.`) : null,
  ...[timelineSection, sharesSection].map(make => data => data.simulate?.stages ? make(data.simulate) : null)];

const pages = {
  report: {header: reportHeader, sections: reportSections},
  explore: {header: data => reportHeader(data.report), sections: exploreSections},
  simulate: {header: simulateHeader, sections: [timelineSection, sharesSection, comparisonSection]},
  plan: {header: planHeader, sections: [frontSection, bestSection]},
  train: {header: trainHeader, sections: [curvesSection, evaluationsSection, eventsSection, ofStep(timelineSection), ofStep(comparisonSection),
    data => memorySection(data.report), optionsSection]},
};

/** In place of what is shown, but for the controls of tessera explore. */
function renderSections(command, data) {
  const page = pages[command];
  const [title, line, numbers] = page.header(data);
  const sections = page.sections.map(make => make(data)).filter(made => made);
  links.start(); // now that all sections are there
  const anchors = sections.map(made => element("a", {href: `#${made.id}`}, made.querySelector("h2").textContent));
  document.getElementById("page").replaceChildren(...document.querySelectorAll(".explorer"),
    element("header", {}, element("p", {class: "made-by"}, `tessera ${command}`), element("h1", {}, title),
      element("p", {class: "lead"}, line), numbers, element("nav", {"aria-label": "sections"}, anchors)),
    ...sections);
  drawNew();
}

function buildPage() {
  const source = document.getElementById("data");
  const data = JSON.parse(source.textContent);
  if (source.dataset.command === "explore" && data.options) // A server compiles what is shown.
    document.getElementById("page").replaceChildren();
  else
    renderSections(source.dataset.command, data);
}

buildPage();
