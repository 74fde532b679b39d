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

const pages = {
  report: {header: reportHeader, sections: [tilesSection, memorySection, collectivesSection, scheduleSection]},
  simulate: {header: simulateHeader, sections: [timelineSection, sharesSection]},
  plan: {header: planHeader, sections: [frontSection, bestSection]},
};

function buildPage() {
  const source = document.getElementById("data");
  const data = JSON.parse(source.textContent);
  const command = source.dataset.command;
  const page = pages[command];
  const [title, line, numbers] = page.header(data);
  const sections = page.sections.map(make => make(data)).filter(made => made);
  const links = sections.map(made => element("a", {href: `#${made.id}`}, made.querySelector("h2").textContent));
  document.getElementById("page").replaceChildren(
    element("header", {}, element("p", {class: "made-by"}, `tessera ${command}`), element("h1", {}, title),
      element("p", {class: "lead"}, line), numbers, element("nav", {"aria-label": "sections"}, links)),
    ...sections);
  drawNew();
}

buildPage();
