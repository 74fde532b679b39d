//===- ProgramLines.cpp - a program as lines of a page --------------------===//

#include "lib/Page/ProgramLines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Options/Counted.h"
#include "tessera/Partition/ConversionReasons.h"
#include "tessera/Program/PartName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tessera;

/// A page shows no more lines of all programs, and of kernels.
static constexpr size_t kMostLines = 3000, kMostKernelLines = 600;
/// Limits the lines of one kernel, and the letters of a line.
static constexpr size_t kMostLinesOfKernel = 60, kMostLetters = 1600;
/// If there are more programs, as with many stages, most are left out.
static constexpr size_t kMostPrograms = 4;

static OpPrintingFlags printingFlags() {
  return OpPrintingFlags()
      .enableDebugInfo(false)
      .useLocalScope()
      .assumeVerified()
      .elideLargeElementsAttrs(16);
}

/// Takes the names of values out of a line. A "%" in quotes is no name.
static void takeNames(StringRef printed, ProgramLine &line) {
  bool isQuoted = false;
  while (!printed.empty()) {
    char c = printed.front();
    line.text += c;
    printed = printed.drop_front();
    if (isQuoted && c == '\\' && !printed.empty()) {
      line.text += printed.front();
      printed = printed.drop_front();
    } else if (c == '"') {
      isQuoted = !isQuoted;
    } else if (c == '%' && !isQuoted) {
      bool isNumber = !printed.empty() && llvm::isDigit(printed.front());
      StringRef name = printed.take_while([&](char letter) {
        return isNumber ? llvm::isDigit(letter)
                        : llvm::isAlnum(letter) ||
                              StringRef("$._-").contains(letter);
      });
      line.names.push_back(name.str());
      printed = printed.drop_front(name.size());
    }
  }
}

/// A line of a list of hundreds says nothing behind its beginning.
static std::string shortened(StringRef printed) {
  if (printed.size() <= kMostLetters)
    return printed.str();
  StringRef shown = printed.take_front(kMostLetters);
  shown = shown.take_front(shown.rfind(' ')); // no name is cut in two
  return (shown + " … (" + Twine(printed.size() - shown.size()) +
          " more letters)")
      .str();
}

namespace {

class LineCollector {
public:
  explicit LineCollector(ModuleOp module) : module(module) {}
  std::vector<ProgramLine> collect();

private:
  void findKernels();
  void addProgram(func::FuncOp func);
  void addArguments(func::FuncOp func);
  void addBlock(Block &block, unsigned depth);
  void addOp(Operation *op, unsigned depth);
  void separate(Region &region, size_t firstLine);
  void addKernel(func::FuncOp kernel);
  void addLeftOut(const std::string &what, unsigned depth);
  ProgramLine &add(LineFacts facts, StringRef printed);
  bool isShown(int64_t layer) const { return layer < 0 || layer == shownLayer; }
  LineFacts factsOf(Operation *op, unsigned depth) const;

  ModuleOp module;
  std::vector<ProgramLine> lines;
  llvm::StringSet<> kernels, launched;
  /// The layer of the program that is added.
  int64_t shownLayer = -1;
  size_t mostLines = 0; ///< The most for all so far, with its own.
  size_t regions = 0;
  std::optional<AsmState> names;
  std::optional<ConversionReasons> reasons;
  bool knowsGradients = false;
};

} // namespace

ProgramLine &LineCollector::add(LineFacts facts, StringRef printed) {
  ProgramLine line;
  line.facts = std::move(facts);
  takeNames(shortened(printed), line);
  lines.push_back(std::move(line));
  return lines.back();
}

void LineCollector::addLeftOut(const std::string &what, unsigned depth) {
  LineFacts facts;
  facts.kind = LineFacts::Kind::LeftOut;
  facts.depth = depth;
  add(std::move(facts), what);
}

/// A function that is launched is no program.
void LineCollector::findKernels() {
  module.walk([&](rt::LaunchOp launch) { kernels.insert(launch.getKernel()); });
}

static int64_t layerOfOp(Operation *op) {
  return program::layerOfPart(nn::partOf(op->getLoc())).number;
}

static int64_t firstLayer(func::FuncOp func) {
  int64_t first = -1;
  func.walk([&](Operation *op) {
    int64_t layer = layerOfOp(op);
    if (layer >= 0 && (first < 0 || layer < first))
      first = layer;
  });
  return first;
}

LineFacts LineCollector::factsOf(Operation *op, unsigned depth) const {
  LineFacts facts;
  facts.depth = depth;
  facts.op = op->getName().getStringRef().str();
  StringRef part = nn::partOf(op->getLoc());
  facts.layer = program::layerOfPart(part).number;
  facts.place = program::placeOf(part);
  facts.phase = nn::stringifyPhase(nn::phaseOf(op)).str();
  auto convert = dyn_cast<dist::ConvertOp>(op);
  // Before there is an optimizer, nobody knows what becomes of a gradient.
  bool isKnown = nn::isForward(op) || knowsGradients;
  if (convert && isKnown && reasons) {
    const auto *row = dist::findConversion(convert.getFrom(), convert.getTo());
    if (row && row->collective != dist::Collective::None &&
        row->collective != dist::Collective::Send &&
        row->collective != dist::Collective::Broadcast)
      facts.reason = reasons->of(convert);
  }
  return facts;
}

/// "h.0.mlp.c_fc.weight", "h.0.mlp.c_fc.weight.moment1", "ids", "arg7".
static std::string nameOfArgument(func::FuncOp func, unsigned number) {
  auto text = [&](StringRef name) {
    auto attr = func.getArgAttrOfType<StringAttr>(number, name);
    return attr ? attr.getValue().str() : std::string();
  };
  std::string parameter = text(nn::NNDialect::kParamAttr);
  std::string role = text(nn::NNDialect::kRoleAttr);
  if (role.empty())
    role = text(nn::NNDialect::kDataAttr);
  if (parameter.empty())
    parameter = text("nn.of");
  if (parameter.empty())
    return role.empty() ? "arg" + std::to_string(number) : role;
  return role.empty() || role == "parameter" ? parameter
                                             : parameter + "." + role;
}

/// Makes a text fit to be the name of a value.
static std::string valueName(std::string name) {
  for (char &c : name)
    if (!llvm::isAlnum(c) && !StringRef("$._-").contains(c))
      c = '_';
  return name;
}

void LineCollector::addArguments(func::FuncOp func) {
  int64_t hidden = 0;
  for (auto [number, argument] : llvm::enumerate(func.getArguments())) {
    LineFacts facts;
    facts.kind = LineFacts::Kind::Argument;
    facts.depth = 1;
    std::string name = nameOfArgument(func, number);
    facts.layer = program::layerOfPart(name).number;
    facts.place = program::placeOf(name);
    if (!isShown(facts.layer)) {
      ++hidden;
      continue;
    }
    std::string printed;
    llvm::raw_string_ostream out(printed);
    argument.printAsOperand(out, *names);
    out << ": " << argument.getType();
    add(std::move(facts), printed).argument = valueName(name);
  }
  if (hidden)
    addLeftOut(counted(hidden, "argument") + " of other layers", 1);
}

void LineCollector::addProgram(func::FuncOp func) {
  shownLayer = firstLayer(func);
  regions = 0;
  names.emplace(func, printingFlags().skipRegions());
  reasons.emplace(func);
  knowsGradients = !readersOfGradients(func).empty();
  LineFacts facts;
  facts.kind = LineFacts::Kind::Function;
  facts.op = "func.func";
  add(facts, ("func.func @" + func.getName() + "(").str());
  addArguments(func);
  facts.kind = LineFacts::Kind::End;
  add(facts, ") -> (" + counted(func.getNumResults(), "result") + ") {");
  addBlock(func.getBody().front(), 1);
  add(facts, "}");
}

void LineCollector::addBlock(Block &block, unsigned depth) {
  int64_t ofOthers = 0, tooMany = 0;
  auto sayHidden = [&] {
    if (ofOthers)
      addLeftOut(counted(ofOthers, "op") + " of other layers", depth);
    ofOthers = 0;
  };
  for (Operation &op : block) {
    if (lines.size() >= mostLines) {
      ++tooMany;
    } else if (!isShown(layerOfOp(&op))) {
      ++ofOthers;
    } else {
      sayHidden();
      addOp(&op, depth);
    }
  }
  sayHidden();
  if (tooMany)
    addLeftOut(counted(tooMany, "op") + ", which are too many for a page",
               depth);
}

/// Gives the values of a region names of their own: MLIR numbers the values of
/// regions that follow each other from the same number on.
void LineCollector::separate(Region &region, size_t firstLine) {
  llvm::StringSet<> own;
  auto addName = [&](Value value) {
    std::string printed;
    llvm::raw_string_ostream out(printed);
    value.printAsOperand(out, *names);
    own.insert(StringRef(printed).drop_front().split('#').first);
  };
  region.walk<WalkOrder::PreOrder>([&](Block *block) {
    llvm::for_each(block->getArguments(), addName);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), addName);
  });
  std::string suffix = "." + std::to_string(regions++);
  for (ProgramLine &line : llvm::MutableArrayRef(lines).drop_front(firstLine))
    for (std::string &name : line.names)
      if (own.contains(name))
        name += suffix;
}

void LineCollector::addOp(Operation *op, unsigned depth) {
  LineFacts facts = factsOf(op, depth);
  std::string printed;
  llvm::raw_string_ostream out(printed);
  op->print(out, *names);
  StringRef text = StringRef(printed).rtrim();
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    launched.insert(launch.getKernel());
  bool hasRegions = op->getNumRegions() && !op->getRegion(0).empty();
  if (!hasRegions) {
    add(std::move(facts), text);
    return;
  }
  text.consume_back("{...}");
  add(facts, (text.rtrim() + " {").str());
  for (Region &region : op->getRegions()) {
    size_t firstLine = lines.size();
    for (Block &block : region)
      addBlock(block, depth + 1);
    separate(region, firstLine);
  }
  facts.kind = LineFacts::Kind::End;
  add(facts, "}");
}

void LineCollector::addKernel(func::FuncOp kernel) {
  std::string printed;
  llvm::raw_string_ostream out(printed);
  kernel->print(out, printingFlags());
  SmallVector<StringRef> texts;
  StringRef(printed).split(texts, '\n', -1, /*KeepEmpty=*/false);
  for (auto [number, text] : llvm::enumerate(texts)) {
    LineFacts facts;
    facts.kind = number ? LineFacts::Kind::Kernel : LineFacts::Kind::Function;
    facts.op = "kernel";
    facts.depth = (text.size() - text.ltrim().size()) / 2;
    if (number == kMostLinesOfKernel) {
      addLeftOut(counted(texts.size() - number, "line") + " of the kernel", 1);
      return;
    }
    // Names of kernels are their own: they stay as they are.
    ProgramLine line;
    line.facts = std::move(facts);
    line.text = shortened(text.ltrim());
    lines.push_back(std::move(line));
  }
}

std::vector<ProgramLine> LineCollector::collect() {
  findKernels();
  SmallVector<func::FuncOp> programs, others;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      (kernels.contains(func.getName()) ? others : programs).push_back(func);
  size_t count = programs.size();
  for (auto [number, program] : llvm::enumerate(programs)) {
    bool isLeftOut = count > kMostPrograms && number >= 2 && number + 1 < count;
    mostLines = lines.size() + kMostLines / std::min(count, kMostPrograms);
    if (!isLeftOut)
      addProgram(program);
    else if (number == 2)
      addLeftOut(counted(static_cast<int64_t>(count) - 3, "program") +
                     ", from @" + program.getName().str() + " on",
                 0);
  }
  const size_t most = lines.size() + kMostKernelLines;
  int64_t hidden = 0;
  for (func::FuncOp kernel : others)
    if (launched.contains(kernel.getName()) && lines.size() < most)
      addKernel(kernel);
    else
      ++hidden;
  if (hidden)
    addLeftOut(counted(hidden, "other kernel"), 0);
  return std::move(lines);
}

std::vector<ProgramLine> tessera::linesOf(ModuleOp module) {
  return LineCollector(module).collect();
}
