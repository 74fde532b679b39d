#include "test/Fuzz/AttributeText.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <set>

namespace tessera::test {

namespace {

struct Span {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

/// An entry `name = value` of a dictionary.
struct Entry {
  Span all, value;
};

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$' || c == '-';
}

/// Returns where a string begins that is closed at `end`, or goes over one that
/// begins at `at`.
size_t afterString(const std::string &text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\')
      ++at;
  return std::min(at + 1, text.size());
}

/// Returns the end of a value: the comma or bracket after it.
size_t endOfValue(const std::string &text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    char c = text[at];
    if (c == '"') {
      at = afterString(text, at);
      continue;
    }
    bool isArrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (std::strchr("([{<", c))
      ++depth;
    else if (std::strchr(")]}>", c) && !isArrow && --depth < 0)
      return at;
    else if ((c == ',' && depth == 0) || c == '\n')
      return at;
    ++at;
  }
  return at;
}

std::vector<Entry> entriesOf(const std::string &text) {
  std::vector<Entry> entries;
  for (size_t at = text.find(" = "); at != std::string::npos;
       at = text.find(" = ", at + 3)) {
    size_t begin = at;
    while (begin > 0 && isWord(text[begin - 1]))
      --begin;
    size_t before =
        begin > 0 ? text.find_last_not_of(' ', begin - 1) : std::string::npos;
    if (begin == at || before == std::string::npos ||
        (text[before] != '{' && text[before] != ','))
      continue;
    Span value{at + 3, endOfValue(text, at + 3)};
    entries.push_back({{begin, value.end}, value});
  }
  return entries;
}

std::vector<Span> typesOf(const std::string &text) {
  std::vector<Span> types;
  for (size_t at = text.find("tensor<"); at != std::string::npos;
       at = text.find("tensor<", at + 1)) {
    size_t end = endOfValue(text, at + 7);
    if (end < text.size() && text[end] == '>')
      types.push_back({at, end + 1});
  }
  return types;
}

/// Values of every kind, among them some that are near what passes expect.
const char *const kValues[] = {
    "0 : i64",
    "1 : i64",
    "-1 : i64",
    "2 : i64",
    "7 : i64",
    "9223372036854775807 : i64",
    "-9223372036854775808 : i64",
    "4294967296 : i64",
    "2147483648 : i64",
    "7 : i32",
    "7 : i8",
    "true",
    "1 : index",
    "7 : si64",
    "7 : ui64",
    "340282366920938463463374607431768211455 : i128",
    "0x7FF8000000000000 : f64",
    "0x7FF0000000000000 : f64",
    "0xFFF0000000000000 : f64",
    "-0.0 : f64",
    "1.0e-320 : f64",
    "1.0e+300 : f64",
    "0x7FC00000 : f32",
    "1.0 : f32",
    "0x7FFF : f16",
    "1.0 : f8E4M3FN",
    "\"\"",
    "\"x\"",
    "\"tp\"",
    "\"bs\"",
    "\"\\00\"",
    "\"\\FF\\FE\"",
    "\"\\1B[2J\"",
    "\"ab,bc->ac\"",
    "\",->\"",
    "\"a->\"",
    "\"->a\"",
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "[]",
    "[[]]",
    "[1, \"a\", 2.0]",
    "[0 : i64, -1 : i64]",
    "[4611686018427387904 : i64, 4611686018427387904 : i64]",
    "[unit]",
    "[{}]",
    "[{}, {}, {}]",
    "[\"dp\", \"dp\"]",
    "[\"tp\"]",
    "{}",
    "{a = 1 : i64}",
    "{name = 7 : i64}",
    "{name = \"x\", global = f32}",
    "{kind = \"normal\", std = 0x7FF8000000000000 : f64}",
    "{kind = 1 : i64}",
    "{of = 1 : i64}",
    "{of = \"x\", results = 9223372036854775807 : i64}",
    "{batch = -1 : i64, sequence = 9223372036854775807 : i64}",
    "f32",
    "i64",
    "none",
    "tensor<*xf32>",
    "tensor<?xf32>",
    "tensor<0xf32>",
    "tensor<4xf32>",
    "tensor<4x4xf32, \"enc\">",
    "tensor<4x4xf32, #dist<xx: S(0)>>",
    "tensor<4611686018427387904x4611686018427387904xf32>",
    "memref<4xf32>",
    "vector<4xf32>",
    "tuple<>",
    "(i32) -> (f32)",
    "@loss",
    "@step",
    "@nothing",
    "@step::@loss",
    "unit",
    "dense<1> : tensor<4xi64>",
    "dense<[1, -1]> : tensor<2xi64>",
    "dense<1.0> : tensor<4611686018427387904xf32>",
    "dense<> : tensor<0xf32>",
    "dense<0> : tensor<i64>",
    "dense<\"a\"> : tensor<2x!llvm.ptr>",
    "array<i64>",
    "array<i64: 0>",
    "array<i64: 0, 1>",
    "array<i64: 1, 0>",
    "array<i64: -1>",
    "array<i64: 9223372036854775807, 9223372036854775807>",
    "array<i64: 1125899906842624>",
    "array<i32: 1>",
    "array<i8: 1, 2, 3>",
    "array<f64: 0x7FF8000000000000, 1.0>",
    "array<f64>",
    "array<i1: true>",
    "affine_map<(d0) -> (d0)>",
    "affine_map<(d0, d1)[s0] -> (d1 floordiv 0, s0 mod 0)>",
    "affine_set<(d0) : (d0 >= 0)>",
    "#dist.mesh<tp = 2>",
    "#dist.mesh<dp = 1048576>",
    "#dist.mesh<dp = 3, tp = 5, pp = 7>",
    "#dist<tp: S(0)>",
    "#dist<dp: A(1), tp: P>",
    "#dist<zz: L>",
    "#nn.attention<scale = 1.0>",
    "#nn.attention<causal, scale = -0.0, window = 1>",
    "#nn.attention<causal, scale = 1.0e+300, window = 9223372036854775807>",
    "#nn.attention<scale = 1.0e-320, max_distance = 9223372036854775807>",
    "#nn.phase<backward>",
    "#nn.phase<forward>",
    "#nn.tag<stream>",
    "#nn.tag<attention>",
    "#nn.tag<memory>",
    "#rt.row_stride<64>",
    "loc(\"x\")",
    "loc(fused[\"a\", unknown])",
    "strided<[1, 1]>",
    "dense_resource<x> : tensor<4xf32>",
    "sparse<[[0]], [1.0]> : tensor<4xf32>",
    "distinct[0]<unit>",
};

const char *const kTypes[] = {
    "tensor<f32>",
    "tensor<0xf32>",
    "tensor<1xf32>",
    "tensor<4xi1>",
    "tensor<4xindex>",
    "tensor<4xcomplex<f32>>",
    "tensor<4xf8E5M2>",
    "tensor<4xi128>",
    "tensor<4xi7>",
    "tensor<4xui32>",
    "tensor<*xf32>",
    "tensor<?x4xf32>",
    "tensor<4x4xf32, \"x\">",
    "tensor<4x4xf32, #rt.row_stride<64>>",
    "tensor<4x4xf32, #rt.row_stride<9223372036854775807>>",
    "tensor<4x4xf32, #dist<zz: S(1)>>",
    "tensor<4x4xf32, #dist<dp: S(0), tp: S(0:1)>>",
    "tensor<4x4xf32, #dist<dp: S(0:7)>>",
    "tensor<4x4xf32, #dist<dp: L, tp: C>>",
    "tensor<4x4xf32, #dist<tp: A(1048575)>>",
    "tensor<4611686018427387904x4611686018427387904xf32>",
    "tensor<9223372036854775807xf32>",
    "tensor<2147483648x2147483648xf32>",
    "tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>",
    "memref<4xf32>",
    "vector<4xf32>",
    "!llvm.ptr",
    "i64",
    "i1",
    "f32",
    "index",
    "none",
    "tuple<tensor<4xf32>>",
    "() -> ()",
};

const char *const kSizes[] = {"0",
                              "1",
                              "2",
                              "3",
                              "5",
                              "7",
                              "64",
                              "1000003",
                              "2147483648",
                              "4611686018427387904",
                              "9223372036854775807",
                              "?"};

const char *const kElements[] = {"f64",  "bf16", "f16",    "i1",
                                 "i8",   "i32",  "i64",    "index",
                                 "i128", "i7",   "f8E5M2", "complex<f32>"};

/// Functions of other dialects, and some that passes do not expect.
const char *const kFunctions[] = {
    R"("func.func"() <{function_type = (i32) -> (), sym_name = "d", sym_visibility = "private"}> ({}) : () -> ())",
    R"("func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "step", sym_visibility = "private"}> ({}) : () -> ())",
    R"("func.func"() <{function_type = () -> (), sym_name = "r"}> ({ "func.call"() <{callee = @r}> : () -> () "func.return"() : () -> () }) : () -> ())",
    R"("func.func"() <{function_type = () -> (), sym_name = "b"}> ({ "cf.br"()[^bb1] : () -> () ^bb1: "cf.br"()[^bb1] : () -> () }) : () -> ())",
    R"("func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "loss"}> ({ ^bb0(%zq: tensor<4xf32>): "func.return"(%zq) : (tensor<4xf32>) -> () }) : () -> ())",
    R"("func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "step"}> ({ ^bb0(%zq: tensor<4xf32>): "func.return"(%zq) : (tensor<4xf32>) -> () }) : () -> ())",
    R"("func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "evaluation"}> ({ ^bb0(%zq: tensor<4xf32>): "func.return"(%zq) : (tensor<4xf32>) -> () }) {nn.evaluation} : () -> ())",
    R"("func.func"() <{function_type = () -> (), sym_name = "decode"}> ({ "func.return"() : () -> () }) {nn.generation = "decode"} : () -> ())",
    R"("func.func"() <{function_type = () -> (), sym_name = "step_0"}> ({ "func.return"() : () -> () }) {rt.stage = 0 : i64} : () -> ())",
    R"("func.func"() <{function_type = () -> (), sym_name = "step_9"}> ({ "func.return"() : () -> () }) {rt.stage = 9 : i64} : () -> ())",
    R"("func.func"() <{function_type = (tensor<4xf32>, memref<4xf32>, index) -> (), sym_name = "m"}> ({ ^bb0(%zq: tensor<4xf32>, %zm: memref<4xf32>, %zi: index): %zv = "memref.load"(%zm, %zi) : (memref<4xf32>, index) -> f32 %zt = "tensor.extract"(%zq, %zi) : (tensor<4xf32>, index) -> f32 %zs = "arith.addf"(%zv, %zt) : (f32, f32) -> f32 "func.return"() : () -> () }) : () -> ())",
    R"("func.func"() <{function_type = () -> (), sym_name = "k", sym_visibility = "private"}> ({ "func.return"() : () -> () }) {rt.schedule = "row"} : () -> ())",
    R"("func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>) -> (), sym_name = "k2", sym_visibility = "private"}> ({ ^bb0(%zq: tensor<4xf32>, %zr: tensor<4xf32>): "func.return"() : () -> () }) {rt.schedule = "column", rt.may_share = [array<i64: 0, 9>]} : () -> ())",
    R"("builtin.module"() ({ "func.func"() <{function_type = () -> (), sym_name = "step"}> ({ "func.return"() : () -> () }) : () -> () }) : () -> ())",
    R"("builtin.module"() ({}) {dist.mesh = #dist.mesh<dp = 7>} : () -> ())",
    R"("llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void ()>, linkage = #llvm.linkage<external>, sym_name = "l", visibility_ = 0 : i64}> ({}) : () -> ())",
    R"("llvm.mlir.global"() <{addr_space = 0 : i32, global_type = i32, linkage = #llvm.linkage<external>, sym_name = "tsr_calls_0", visibility_ = 0 : i64}> ({}) : () -> ())",
    R"("test.unknown"() ({ ^bb0: }) {nn.phase = #nn.phase<forward>} : () -> ())",
    R"("memref.global"() <{sym_name = "kernel", type = memref<4xf32>, sym_visibility = "private"}> : () -> ())",
};

const char *const kOps[] = {
    R"("test.unknown"() : () -> ())",
    R"(%zz = "test.made"() : () -> tensor<4xf32>)",
    R"(%zz = "arith.constant"() <{value = 1.0 : f32}> : () -> f32)",
    R"(%zz = "tensor.empty"() : () -> tensor<4xf32>)",
    R"(%zz = "arith.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>)",
    R"(%zz = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>)",
    R"("scf.execute_region"() ({ "scf.yield"() : () -> () }) : () -> ())",
    R"("func.call"() <{callee = @step}> : () -> ())",
    R"("func.call"() <{callee = @loss}> : () -> ())",
    R"("rt.task"() <{kind = "F", number = 3 : i64}> : () -> ())",
    R"("rt.tasks_end"() : () -> ())",
    R"(%zz = "rt.coord"() <{axis = "zz"}> : () -> i64)",
    R"(%zz = "rt.step"() : () -> i64)",
};

class AttributeMutator {
public:
  AttributeMutator(std::string program, const AttributePool &pool,
                   std::mt19937 &rng)
      : text(std::move(program)), pool(pool), rng(rng) {}

  std::string run() {
    do
      change();
    while (below(3) == 0);
    return std::move(text);
  }

private:
  size_t below(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(rng);
  }
  template <class Words> std::string anyOf(const Words &words) {
    return words[below(std::size(words))];
  }
  void change();
  std::string value();
  void replaceEntry();
  void replaceInside();
  void removeEntry();
  void addEntry();
  void replaceType();
  void replaceEverywhere(const std::string &from, const std::string &to);
  void replaceNumber();
  void replaceElement();
  void renameSymbol();
  void addFunction();
  void addOp();
  void dropBody();
  void nest();

  std::string text;
  const AttributePool &pool;
  std::mt19937 &rng;
};

std::string AttributeMutator::value() {
  if (below(4) == 0) {
    const std::string &entry = pool.entry(rng);
    return entry.substr(entry.find(" = ") + 3);
  }
  if (below(40) == 0) {
    size_t depth = 1 + below(200);
    return std::string(depth, '[') + anyOf(kValues) + std::string(depth, ']');
  }
  return anyOf(kValues);
}

void AttributeMutator::replaceEntry() {
  std::vector<Entry> entries = entriesOf(text);
  if (entries.empty())
    return addEntry();
  Span span = entries[below(entries.size())].value;
  text.replace(span.begin, span.size(), value());
}

/// Replaces a number, a string or an element within an attribute's value.
void AttributeMutator::replaceInside() {
  std::vector<Entry> entries = entriesOf(text);
  if (entries.empty())
    return;
  Span whole = entries[below(entries.size())].value;
  std::vector<Span> parts;
  for (size_t at = whole.begin; at < whole.end;) {
    size_t end = at + 1;
    if (text[at] == '"')
      end = afterString(text, at);
    else if (isWord(text[at]))
      while (end < whole.end && isWord(text[end]))
        ++end;
    if (text[at] == '"' || isWord(text[at]))
      parts.push_back({at, end});
    at = end;
  }
  if (parts.empty())
    return;
  Span part = parts[below(parts.size())];
  std::string word = below(2) ? anyOf(kSizes) : value();
  if (size_t colon = word.find(" : "); colon != std::string::npos && below(2))
    word.resize(colon);
  text.replace(part.begin, part.size(), word);
}

void AttributeMutator::removeEntry() {
  std::vector<Entry> entries = entriesOf(text);
  if (entries.empty())
    return;
  Span span = entries[below(entries.size())].all;
  if (span.end + 1 < text.size() && text.compare(span.end, 2, ", ") == 0)
    span.end += 2;
  else if (span.begin > 1 && text.compare(span.begin - 2, 2, ", ") == 0)
    span.begin -= 2;
  text.erase(span.begin, span.size());
}

/// Adds an entry of another program, or one of another value, to a dictionary.
void AttributeMutator::addEntry() {
  std::vector<Entry> entries = entriesOf(text);
  std::string entry = pool.entry(rng);
  if (below(2))
    entry = entry.substr(0, entry.find(" = ") + 3) + value();
  if (!entries.empty() && below(3))
    return void(
        text.insert(entries[below(entries.size())].all.begin, entry + ", "));
  std::vector<size_t> ends; // Ops without attributes: `"op"(%x) : (`.
  for (size_t at = text.find(") : ("); at != std::string::npos;
       at = text.find(") : (", at + 1))
    ends.push_back(at + 1);
  if (!ends.empty())
    text.insert(ends[below(ends.size())], " {" + entry + "}");
}

void AttributeMutator::replaceEverywhere(const std::string &from,
                                         const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void AttributeMutator::replaceType() {
  std::vector<Span> types = typesOf(text);
  if (types.empty())
    return;
  Span span = types[below(types.size())];
  std::string from = text.substr(span.begin, span.size());
  std::string to = below(3) == 0 ? pool.type(rng) : anyOf(kTypes);
  if (below(3))
    return replaceEverywhere(from, to);
  text.replace(span.begin, span.size(), to);
}

/// Replaces a size of types everywhere, so that shapes still agree.
void AttributeMutator::replaceNumber() {
  std::vector<Span> types = typesOf(text);
  if (types.empty())
    return;
  Span span = types[below(types.size())];
  size_t begin = span.begin + 7, end = begin;
  std::vector<std::string> sizes;
  for (; end < span.end; ++end) {
    if (std::isdigit(static_cast<unsigned char>(text[end])))
      continue;
    if (text[end] != 'x' || end == begin)
      break;
    sizes.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (sizes.empty())
    return;
  std::string from = anyOf(sizes), to = anyOf(kSizes);
  replaceEverywhere("<" + from + "x", "<" + to + "x");
  replaceEverywhere("x" + from + "x", "x" + to + "x");
  if (below(2))
    replaceEverywhere(" " + from + " : i64", " " + to + " : i64");
}

void AttributeMutator::replaceElement() {
  const char *const known[] = {"f32", "f64", "bf16", "i32", "i8"};
  std::string from = anyOf(known), to = anyOf(kElements);
  if (below(2)) {
    replaceEverywhere("x" + from + ">", "x" + to + ">");
    return replaceEverywhere("x" + from + ",", "x" + to + ",");
  }
  std::vector<size_t> places;
  for (size_t at = text.find("x" + from); at != std::string::npos;
       at = text.find("x" + from, at + 1))
    places.push_back(at + 1);
  if (!places.empty())
    text.replace(places[below(places.size())], from.size(), to);
}

void AttributeMutator::renameSymbol() {
  const char *const names[] = {"loss",   "step",       "step_0", "step_1",
                               "decode", "evaluation", "encode", "",
                               "mixed",  "\\00",       "x y",    "kernel_0"};
  std::vector<Span> found;
  for (size_t at = text.find("sym_name = \""); at != std::string::npos;
       at = text.find("sym_name = \"", at + 1))
    found.push_back({at + 12, text.find('"', at + 12)});
  if (found.empty())
    return;
  Span span = found[below(found.size())];
  if (span.end != std::string::npos)
    text.replace(span.begin, span.size(), anyOf(names));
}

/// Adds a function, or another op, to the module.
void AttributeMutator::addFunction() {
  size_t at = text.find("({\n");
  if (at != std::string::npos)
    text.insert(at + 3, anyOf(kFunctions) + "\n");
}

/// Adds an op of another dialect, or without a place there, in some block.
void AttributeMutator::addOp() {
  std::vector<size_t> lines;
  for (size_t at = text.find("\n    "); at != std::string::npos;
       at = text.find("\n    ", at + 1))
    lines.push_back(at + 1);
  if (!lines.empty())
    text.insert(lines[below(lines.size())], anyOf(kOps) + "\n");
}

/// Removes the ops of a function, or all but its first block's name.
void AttributeMutator::dropBody() {
  std::vector<size_t> starts;
  for (size_t at = text.find("> ({\n"); at != std::string::npos;
       at = text.find("> ({\n", at + 1))
    starts.push_back(at + 5);
  if (starts.empty())
    return;
  size_t begin = starts[below(starts.size())], end = text.find("\n  })", begin);
  if (below(2))
    if (size_t block = text.find(":\n", begin); block < end)
      begin = block + 2;
  if (end != std::string::npos && begin < end)
    text.erase(begin, end - begin);
}

void AttributeMutator::nest() {
  text = "\"builtin.module\"() ({\n" + text + "}) : () -> ()\n";
}

void AttributeMutator::change() {
  switch (below(20)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return replaceEntry();
  case 4:
  case 5:
  case 6:
    return replaceInside();
  case 7:
  case 8:
    return removeEntry();
  case 9:
  case 10:
  case 11:
    return addEntry();
  case 12:
    return replaceType();
  case 13:
  case 14:
    return replaceNumber();
  case 15:
    return replaceElement();
  case 16:
    return renameSymbol();
  case 17:
    return below(4) == 0 ? nest() : addFunction();
  case 18:
    return dropBody();
  default:
    return addOp();
  }
}

} // namespace

AttributePool::AttributePool(const std::vector<ProgramText> &programs) {
  std::set<std::string> knownEntries, knownTypes;
  for (const ProgramText &program : programs) {
    for (const Entry &entry : entriesOf(program.text))
      if (entry.all.size() < 200)
        knownEntries.insert(
            program.text.substr(entry.all.begin, entry.all.size()));
    for (const Span &type : typesOf(program.text))
      knownTypes.insert(program.text.substr(type.begin, type.size()));
  }
  entries.assign(knownEntries.begin(), knownEntries.end());
  types.assign(knownTypes.begin(), knownTypes.end());
}

const std::string &AttributePool::entry(std::mt19937 &rng) const {
  return entries[rng() % entries.size()];
}

const std::string &AttributePool::type(std::mt19937 &rng) const {
  return types[rng() % types.size()];
}

std::string withOtherAttributes(const std::string &program,
                                const AttributePool &pool, std::mt19937 &rng) {
  return AttributeMutator(program, pool, rng).run();
}

} // namespace tessera::test
