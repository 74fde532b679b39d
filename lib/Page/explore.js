
// The controls of tessera explore: what they choose is compiled by the server that the page came from.

/** Shown first; all others are under "more options". */
const firstOptions = ["--mesh", "--batch", "--seq-length", "--micro-batches", "--sequence-parallel", "--zero", "--recompute",
  "--schedule", "--virtual-stages", "--precision", "--device"];

const labelOf = name => name.replace(/^--/, "").replaceAll("-", " ");

/** Returns the text of a field that is empty; the description of the option by --help is in its title. */
const defaultOf = option => option.standard || "automatic";

/** A field of the form: {node, value: () => what the server is sent, or null}. */
function switchField(option) {
  const isOn = option.standard === "on";
  const box = element("input", {type: "checkbox", id: option.name});
  box.checked = option.given === undefined ? isOn : option.given !== "false";
  const given = !["true", "false"].includes(option.given) ? option.given : undefined;
  return {node: box, value: () => box.checked === isOn ? null : box.checked ? given ?? true : false};
}

function choiceField(option) {
  const names = option.choices.includes(option.standard) ? option.choices : ["", ...option.choices];
  const list = element("select", {id: option.name}, names.map(name => element("option", {value: name}, name || defaultOf(option))));
  list.value = option.given ?? (names.includes("") ? "" : option.standard);
  return {node: list, value: () => list.value === "" || list.value === option.standard && option.given === undefined ? null : list.value};
}

function textField(option) {
  const isNumber = option.value === "INT";
  const field = element("input", {id: option.name, type: isNumber ? "number" : "text", min: isNumber ? 0 : null,
    placeholder: defaultOf(option), value: option.given ?? "", spellcheck: "false", autocomplete: "off", maxlength: 1000});
  return {node: field, value: () => field.value.trim() === "" ? null : field.value.trim()};
}

/** A number for each axis, in the usual order, unless another one was given. */
function meshField(option, axes) {
  const given = meshAxes(option.given ?? ""), names = given.map(({axis}) => axis);
  const isUsual = names.every((axis, index) => !index || axes.indexOf(names[index - 1]) < axes.indexOf(axis));
  const order = isUsual ? axes : [...axes.filter(axis => !names.includes(axis)), ...names];
  const fields = order.map(axis => element("input", {type: "number", min: 1, "aria-label": `size of axis ${axis}`,
    id: `axis-${axis}`, value: given.find(each => each.axis === axis)?.size ?? 1}));
  const node = element("span", {class: "axes", role: "group", "aria-label": "mesh"},
    order.map((axis, index) => element("label", {}, axis, fields[index])));
  const value = () => order.map((axis, index) => [axis, fields[index].value.trim() || "1"]).filter(([, size]) => size !== "1")
    .map(([axis, size]) => `${axis}=${size}`).join(",") || null;
  return {node, value};
}

function fieldOf(option, axes) {
  if (option.name === "--mesh")
    return meshField(option, axes);
  return option.is_switch ? switchField(option) : option.choices.length ? choiceField(option) : textField(option);
}

const shellWord = text => /^[\w.,=/:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The command that says the same. */
function commandText(data, chosen) {
  const words = Object.entries(chosen).map(([name, value]) =>
    value === true ? name : value === false ? name.replace("--", "--no-") : `${name} ${shellWord(value)}`);
  return ["tessera report", shellWord(data.model), ...words].join(" ");
}

/** Numbers of two plans that differ. */
function changesOf(before, now) {
  const sent = report => report.collectives.reduce((sum, group) => sum + group.bytes_of_step, 0);
  const numbers = [["memory of a rank", data => bytesText(data.report.memory.bytes)],
    ["buffers communicated per step", data => bytesText(sent(data.report))],
    ["flop of a rank per step", data => countText(data.report.flops_of_rank)],
    ["ranks", data => exactText(data.report.ranks)],
    ["step", data => data.simulate?.stages ? secondsText(data.simulate.step_seconds) : "none"]];
  return numbers.map(([name, of]) => [name, of(before), of(now)]).filter(([, old, next]) => old !== next)
    .map(([name, old, next]) => `${name} ${old} → ${next}`).join("; ");
}

function controls(data) {
  const fields = new Map(data.options.map(option => [option.name, fieldOf(option, data.axes)]));
  const labelled = option => {
    const {node} = fields.get(option.name);
    const isGroup = option.name === "--mesh";
    return element("div", {class: `control${isGroup ? " mesh-control" : ""}`, title: option.what},
      element(isGroup ? "span" : "label", {for: isGroup ? null : option.name}, labelOf(option.name)), node);
  };
  const first = firstOptions.map(name => data.options.find(option => option.name === name)).filter(option => option);
  const rest = data.options.filter(option => !first.includes(option));
  const groups = [...new Set(rest.map(option => option.group))];
  const status = element("p", {class: "note", role: "status"});
  const command = element("code", {class: "command"});
  const problem = element("div", {class: "problem", role: "alert"});
  let running = null, shown = null;

  const chosen = () => Object.fromEntries([...fields].map(([name, {value}]) => [name, value()]).filter(([, value]) => value !== null));

  function show(result, seconds) {
    if (result.error !== undefined) {
      problem.replaceChildren(element("pre", {}, result.error),
        shown ? element("p", {class: "note"}, "The page still shows the last plan that compiled.") : "");
      status.textContent = "This plan does not compile.";
      return;
    }
    const changes = shown ? changesOf(shown, result.data) : "";
    status.textContent = `Compiled in ${secondsText(seconds)}. ${changes}`;
    problem.replaceChildren(result.notes ? element("pre", {class: "notes"}, result.notes) : "");
    shown = result.data;
    const at = scrollY;
    renderSections("explore", result.data);
    window.scrollTo(0, at);
  }

  async function compile() {
    running?.abort();
    const mine = running = new AbortController();
    const start = performance.now(), options = chosen();
    command.textContent = commandText(data, options);
    status.textContent = "Compiling …";
    form.setAttribute("aria-busy", "true");
    let result;
    try {
      const response = await fetch("compile", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify({options}), signal: mine.signal});
      const text = await response.text();
      result = response.ok ? JSON.parse(text) : {error: `the server says: ${text}`};
    } catch (error) {
      if (mine.signal.aborted)
        return;
      result = {error: `the server does not answer (${error.message}); is tessera explore still running?`};
    }
    if (running !== mine)
      return;
    form.removeAttribute("aria-busy");
    show(result, (performance.now() - start) / 1000);
  }

  const form = element("form", {class: "controls", "aria-label": "plan", onchange: compile,
    onsubmit: event => { event.preventDefault(); compile(); }},
  element("div", {class: "fields"}, first.map(labelled)),
  element("details", {}, element("summary", {}, "more options"), groups.map(group => [element("h3", {}, group),
    element("div", {class: "fields"}, rest.filter(option => option.group === group).map(labelled))]).flat()),
  element("button", {type: "submit", hidden: true}, "compile"));
  compile();
  return [form, element("p", {class: "note"}, command), status, problem];
}

function startExplorer() {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("page").prepend(element("header", {class: "explorer"},
    element("p", {class: "made-by"}, `tessera explore ${data.model}${data.cluster ? ` --cluster ${data.cluster}` : ""}`), controls(data)));
}

startExplorer();
