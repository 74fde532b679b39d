//===- ParseProgram.cpp - what of a .mlir text may be parsed --------------===//

#include "tessera/Import/ParseProgram.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "tessera/Json/ReadText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Goes over a text once and follows brackets, outside of strings and comments.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}
  std::string run();

private:
  void step();
  void skipString();
  void skipLine();
  void openBracket();
  void closeBracket();
  void readName();
  void readWord();
  bool isDefined(size_t from) const;

  StringRef wordAt(size_t begin) const {
    return text.substr(begin).take_while([](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '-';
    });
  }
  char peek(size_t ahead) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }

  StringRef text;
  size_t at = 0;
  int64_t line = 1;
  std::string brackets; ///< The brackets that are open.
  int64_t signs = 0;    ///< Signs without a number between them.
  int64_t deepest = 0;  ///< The depth of what is defined, or of all.
  size_t affine = 0;    ///< The begin of an affine expression, or 0.
  size_t affineDepth = 0;
  StringRef alias; ///< The type or attribute that got a name last.
  llvm::StringMap<int64_t> depths; ///< Keys: names of types and attributes.
};

void NestingScanner::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
}

void NestingScanner::skipLine() {
  size_t end = text.find('\n', at);
  at = end == StringRef::npos ? text.size() : end - 1;
}

void NestingScanner::openBracket() { brackets.push_back(text[at]); }

/// A `>` may be a sign of an affine constraint, so it closes only what `<`
/// opened.
void NestingScanner::closeBracket() {
  if (text[at] == '>' && (brackets.empty() || brackets.back() != '<'))
    return;
  if (text[at] != '>')
    while (!brackets.empty() && brackets.back() == '<')
      brackets.pop_back();
  if (!brackets.empty())
    brackets.pop_back();
  if (brackets.size() <= affineDepth)
    affine = 0;
}

/// Returns whether what follows is an equals sign, after spaces and comments.
bool NestingScanner::isDefined(size_t from) const {
  StringRef rest = text.substr(from).ltrim();
  while (rest.starts_with("//"))
    rest = rest.drop_while([](char c) { return c != '\n'; }).ltrim();
  return rest.starts_with("=");
}

/// A name stands for as many brackets as its definition has.
void NestingScanner::readName() {
  StringRef name = text.substr(at, 1 + wordAt(at + 1).size());
  if (isDefined(at + name.size())) {
    if (!alias.empty())
      depths[alias] = deepest;
    alias = name;
    deepest = 0;
    brackets.clear();
  } else if (auto known = depths.find(name); known != depths.end()) {
    deepest = std::max(deepest, static_cast<int64_t>(brackets.size()) + 1 +
                                    known->second);
  }
  at += name.size() - 1;
}

void NestingScanner::readWord() {
  StringRef word = wordAt(at);
  if (word.starts_with("affine_") && !affine) {
    affine = at;
    affineDepth = brackets.size();
  }
  at += std::max<size_t>(word.size(), 1) - 1;
}

void NestingScanner::step() {
  char c = text[at];
  if (c == '"')
    return skipString();
  if (c == '/' && peek(1) == '/')
    return skipLine();
  if (c == '-' && peek(1) == '>')
    return void(++at);
  if (c == '-')
    ++signs;
  else if (c != ' ' && c != '\n')
    signs = 0;
  if (c == '(' || c == '[' || c == '{' || c == '<')
    openBracket();
  else if (c == ')' || c == ']' || c == '}' || c == '>')
    closeBracket();
  else if (c == '!' || c == '#')
    readName();
  else if (llvm::isAlpha(c))
    readWord();
}

std::string NestingScanner::run() {
  for (; at < text.size(); ++at) {
    char c = text[at];
    step();
    line += c == '\n';
    deepest = std::max(deepest, static_cast<int64_t>(brackets.size()) + signs);
    if (deepest > kDeepestProgram)
      return "line " + std::to_string(line) + " nests more than " +
             std::to_string(kDeepestProgram) +
             " brackets in one another, names of types and attributes counted "
             "as what they stand for";
    if (affine && at - affine > kLongestAffine)
      return "line " + std::to_string(line) +
             " has an affine expression of more than " +
             std::to_string(kLongestAffine) + " characters";
  }
  return "";
}

} // namespace

std::string tessera::refusalOf(StringRef text) {
  if (text.size() > kLongestProgram)
    return "it has " + std::to_string(text.size()) +
           " bytes; a program has at most " + std::to_string(kLongestProgram);
  return NestingScanner(text).run();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
tessera::readProgramText(StringRef path) {
  auto buffer = readText(path, kLongestProgram, "a program");
  if (!buffer)
    return buffer;
  auto refuse = [&](const Twine &why) {
    return llvm::createStringError("'" + path + "' " + why);
  };
  // MLIR's reader of bytecode trusts what it reads.
  if (isBytecode((*buffer)->getMemBufferRef()))
    return refuse("is bytecode of MLIR; give the program as text");
  if (std::string why = refusalOf((*buffer)->getBuffer()); !why.empty())
    return refuse("is no program for the compiler: " + why);
  return buffer;
}

OwningOpRef<ModuleOp> tessera::readProgram(MLIRContext *context,
                                           StringRef path) {
  auto buffer = readProgramText(path);
  if (!buffer) {
    // A location in the file would show its line, of any length.
    emitError(UnknownLoc::get(context)) << llvm::toString(buffer.takeError());
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, context);
}
