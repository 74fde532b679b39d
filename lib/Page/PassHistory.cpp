//===- PassHistory.cpp - the program after each pass ----------------------===//

#include "tessera/Page/PassHistory.h"
#include "lib/Page/AlignLines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace tessera;

namespace {

/// Names of the values of one function.
struct FunctionNames {
  StringMap<std::string> shown; ///< Keyed by the name that was printed.
  StringSet<> taken;
};

/// Numbers of texts, the same for the same text.
class TextNumbers {
public:
  uint32_t of(const std::string &text) {
    return numbers.try_emplace(text, numbers.size()).first->second;
  }

private:
  StringMap<uint32_t> numbers;
};

const char *nameOf(LineFacts::Kind kind) {
  switch (kind) {
  case LineFacts::Kind::Function:
    return "function";
  case LineFacts::Kind::Argument:
    return "argument";
  case LineFacts::Kind::Op:
    return "op";
  case LineFacts::Kind::Kernel:
    return "kernel";
  case LineFacts::Kind::LeftOut:
    return "left out";
  case LineFacts::Kind::End:
    return "end";
  }
  llvm_unreachable("no such kind");
}

/// Returns the text that a line has in common with another version of itself.
std::string looseText(const ProgramLine &line) {
  const LineFacts &facts = line.facts;
  std::string text = std::string(nameOf(facts.kind)) + "|" + facts.op + "|" +
                     facts.place + "|" + std::to_string(facts.layer) + "|" +
                     facts.phase + "|" + line.argument;
  // Lines of kernels have nothing but their text.
  bool isText = facts.kind == LineFacts::Kind::Kernel || facts.op == "kernel";
  return isText ? text + "|" + line.text : text;
}

LineKey keyOf(const ProgramLine &line, TextNumbers &numbers) {
  std::string loose = looseText(line);
  return {numbers.of(loose + "|" + line.text), numbers.of(loose)};
}

} // namespace

int64_t PassHistory::numberOf(const LineFacts &facts) {
  auto [known, isNew] =
      factsNumbers.try_emplace(facts, static_cast<int64_t>(factsJson.size()));
  if (isNew) {
    json::Object object{{"kind", nameOf(facts.kind)},
                        {"depth", static_cast<int64_t>(facts.depth)}};
    if (facts.layer >= 0)
      object["layer"] = facts.layer;
    for (auto [key, text] : {std::pair("op", &facts.op),
                             {"place", &facts.place},
                             {"phase", &facts.phase},
                             {"reason", &facts.reason}})
      if (!text->empty())
        object[key] = json::fixUTF8(*text);
    factsJson.push_back(std::move(object));
  }
  return known->second;
}

/// Puts the names back into a text, where it has a bare "%" for each.
static std::string withNames(const ProgramLine &line,
                             const std::vector<std::string> &names) {
  std::string text;
  bool isQuoted = false;
  size_t next = 0;
  for (size_t i = 0; i < line.text.size(); ++i) {
    char c = line.text[i];
    text += c;
    if (isQuoted && c == '\\' && i + 1 < line.text.size())
      text += line.text[++i];
    else if (c == '"')
      isQuoted = !isQuoted;
    else if (c == '%' && !isQuoted && next < names.size())
      text += names[next++];
  }
  return text;
}

/// A value is called what it was called in the line that its line continues.
void PassHistory::nameValues(std::vector<Line> &now,
                             const std::vector<int64_t> &continued) {
  FunctionNames function;
  for (auto [number, line] : llvm::enumerate(now)) {
    const ProgramLine &source = line.source;
    if (source.facts.kind == LineFacts::Kind::Function)
      function = {};
    const Line *old =
        continued[number] < 0 ? nullptr : &lines[continued[number]];
    for (auto [place, printed] : llvm::enumerate(source.names)) {
      std::string &shown = function.shown[printed];
      if (shown.empty()) {
        std::string wanted = source.argument;
        if (wanted.empty() && old && place < old->names.size())
          wanted = old->names[place];
        bool isFree = !wanted.empty() && !function.taken.contains(wanted);
        shown = isFree ? wanted : freshName();
        function.taken.insert(shown);
      }
      line.names.push_back(shown);
    }
    line.text = withNames(source, line.names);
    line.facts = numberOf(source.facts);
  }
}

namespace {

/// Collects what changed, as runs of lines that stay, go and come.
class Edits {
public:
  void keep() {
    if (gone || !come.empty())
      end();
    ++kept;
  }
  /// Begins a pair: the next line that comes is another version of the next
  /// line that goes.
  void beginVersion() {
    if (!come.empty())
      end();
  }
  void drop() { ++gone; }
  void add(int64_t facts, const std::string &text) {
    come.push_back(json::Array{facts, json::fixUTF8(text)});
  }
  json::Array take() {
    if (gone || !come.empty())
      end();
    return std::move(edits);
  }
  int64_t removed = 0, added = 0;

private:
  void end() {
    removed += gone;
    added += static_cast<int64_t>(come.size());
    edits.push_back(json::Array{kept, gone, std::move(come)});
    kept = gone = 0;
    come = {};
  }

  json::Array edits, come;
  int64_t kept = 0, gone = 0;
};

} // namespace

void PassHistory::add(StringRef pass, StringRef what, mlir::ModuleOp module) {
  std::vector<Line> now;
  TextNumbers numbers;
  std::vector<LineKey> before, after;
  for (const Line &line : lines)
    before.push_back(keyOf(line.source, numbers));
  for (ProgramLine &line : linesOf(module)) {
    after.push_back(keyOf(line, numbers));
    now.push_back({std::move(line), {}, "", 0});
  }
  std::vector<int64_t> continued = alignLines(before, after);
  nameValues(now, continued);
  Edits edits;
  int64_t old = 0, count = static_cast<int64_t>(lines.size());
  for (auto [number, line] : llvm::enumerate(now)) {
    int64_t from = continued[number];
    bool isSame = from >= 0 && lines[from].text == line.text &&
                  lines[from].facts == line.facts;
    if (from >= 0 && !isSame)
      edits.beginVersion();
    for (; old < (isSame ? from : std::min(from + 1, count)); ++old)
      edits.drop();
    if (isSame) {
      edits.keep();
      ++old;
    } else {
      edits.add(line.facts, line.text);
    }
  }
  for (; old < count; ++old)
    edits.drop();
  lines = std::move(now);
  int64_t number = nextPass++;
  json::Array list = edits.take();
  if (!list.empty())
    passes.push_back(json::Object{{"number", number},
                                  {"name", pass},
                                  {"what", what},
                                  {"added", edits.added},
                                  {"removed", edits.removed},
                                  {"edits", std::move(list)}});
}

json::Value PassHistory::json() {
  return json::Object{{"facts", std::move(factsJson)},
                      {"passes", std::move(passes)}};
}
