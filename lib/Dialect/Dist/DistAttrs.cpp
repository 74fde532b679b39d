//===- DistAttrs.cpp - mesh and sharding attributes -----------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::dist;

// TableGen defines these; the dialect has a parser and a printer of its own.
[[maybe_unused]] static OptionalParseResult
generatedAttributeParser(AsmParser &parser, StringRef *mnemonic, Type type,
                         Attribute &value);
[[maybe_unused]] static LogicalResult
generatedAttributePrinter(Attribute def, AsmPrinter &printer);

#define GET_ATTRDEF_CLASSES
#include "tessera/Dialect/Dist/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tessera/Dialect/Dist/DistAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    int64_t size;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    sizes.push_back(size);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), axes, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer, [&](auto p) {
    printer << std::get<0>(p).getValue() << " = " << std::get<1>(p);
  });
  printer << ">";
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emit,
                               ArrayRef<StringAttr> axes,
                               ArrayRef<int64_t> sizes) {
  int64_t ranks = 1;
  for (auto [k, axis] : llvm::enumerate(axes)) {
    if (sizes[k] < 1)
      return emit() << "mesh axis '" << axis.getValue() << "' has size "
                    << sizes[k] << "; it must be at least 1";
    if (sizes[k] > DistDialect::kMostRanks / ranks)
      return emit() << "mesh axis '" << axis.getValue() << "' of size "
                    << sizes[k] << " makes more than "
                    << DistDialect::kMostRanks << " ranks";
    ranks *= sizes[k];
    if (llvm::is_contained(axes.take_front(k), axis))
      return emit() << "mesh axis '" << axis.getValue() << "' is named twice";
  }
  return success();
}

int64_t MeshAttr::getRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getSizes())
    ranks *= size;
  return ranks;
}

int64_t MeshAttr::getIndex(StringRef axis) const {
  for (auto [k, name] : llvm::enumerate(getAxes()))
    if (name.getValue() == axis)
      return k;
  return -1;
}

int64_t MeshAttr::getSize(StringRef axis) const {
  int64_t index = getIndex(axis);
  return index < 0 ? 1 : getSizes()[index];
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

static ParseResult parseState(AsmParser &parser, State &state) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<State::Kind> kind =
      llvm::StringSwitch<std::optional<State::Kind>>(name)
          .Case("I", State::I)
          .Case("R", State::R)
          .Case("S", State::S)
          .Case("P", State::P)
          .Case("M", State::M)
          .Case("A", State::A)
          .Case("L", State::L)
          .Case("C", State::C)
          .Default(std::nullopt);
  if (!kind)
    return parser.emitError(loc) << "expected a state I, R, S(dimension), P, "
                                    "M, L, C or A(stage), found '"
                                 << name << "'";
  state = {*kind};
  if (*kind != State::S && *kind != State::A)
    return success();
  if (parser.parseLParen() || parser.parseInteger(state.where))
    return failure();
  if (*kind == State::S && succeeded(parser.parseOptionalColon()) &&
      parser.parseInteger(state.level))
    return failure();
  if (state.where >= DistDialect::kMostRanks ||
      state.level >= DistDialect::kMostRanks)
    return parser.emitError(loc)
           << "state " << state.str() << " has a number above "
           << DistDialect::kMostRanks - 1;
  if (state.where < 0 || state.level < 0)
    return parser.emitError(loc) << "state " << state.str()
                                 << " has a negative number; dimensions, "
                                    "levels and stages count from 0";
  return parser.parseRParen();
}

/// Returns the letter after the innermost axis of a dimension, if there is one.
static ParseResult parsePadding(AsmParser &parser, State state,
                                DimPaddings &paddings) {
  StringRef letter;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&letter)))
    return success();
  std::optional<Padding> padding = symbolizePadding(letter);
  if (!padding || *padding == Padding::Any)
    return parser.emitError(loc)
           << "expected what padding holds, Z, N or F, or "
              "nothing; found '"
           << letter << "'";
  if (!state.isSharded())
    return parser.emitError(loc)
           << "state " << state.str() << " has no padding; only S has";
  paddings.push_back({state.where, *padding});
  return success();
}

/// Parses `dp: S(0) Z, tp: P` between `#dist<` and `>`.
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisState> states;
  DimPaddings paddings;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef axis;
    State state;
    if (parser.parseKeyword(&axis) || parser.parseColon() ||
        parseState(parser, state) || parsePadding(parser, state, paddings))
      return failure();
    for (const AxisState &other : states)
      if (other.axis == axis)
        return parser.emitError(loc) << "axis '" << axis << "' is named twice";
    if (state.kind != State::I)
      states.push_back({parser.getBuilder().getStringAttr(axis), state});
    return success();
  };
  if (parser.parseCommaSeparatedList(parseAxis))
    return {};
  if (states.empty())
    return parser.emitError(loc) << "every axis is I; leave the encoding out",
           Attribute();
  llvm::sort(states, [](const AxisState &a, const AxisState &b) {
    return a.axis.getValue() < b.axis.getValue();
  });
  llvm::sort(paddings, [](const DimPadding &a, const DimPadding &b) {
    return a.dim < b.dim;
  });
  return parser.getChecked<ShardingAttr>(loc, parser.getContext(), states,
                                         paddings);
}

static bool isInnermost(ArrayRef<AxisState> states, State state) {
  return llvm::none_of(states, [&](const AxisState &other) {
    return other.state.isSharded() && other.state.where == state.where &&
           other.state.level > state.level;
  });
}

void ShardingAttr::print(AsmPrinter &printer) const {
  llvm::interleaveComma(getStates(), printer, [&](const AxisState &s) {
    printer << s.axis.getValue() << ": " << s.state.str();
    if (s.state.isSharded() && isInnermost(getStates(), s.state))
      for (const DimPadding &p : getPaddings())
        if (p.dim == s.state.where)
          printer << " " << stringifyPadding(p.padding);
  });
}

LogicalResult
ShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emit,
                     ArrayRef<AxisState> states,
                     ArrayRef<DimPadding> paddings) {
  for (auto [k, p] : llvm::enumerate(paddings)) {
    if (k > 0 && paddings[k - 1].dim == p.dim)
      return emit() << "the padding of dimension " << p.dim
                    << " is stated twice";
    if (llvm::none_of(states, [&](const AxisState &s) {
          return s.state.isSharded() && s.state.where == p.dim;
        }))
      return emit() << "dimension " << p.dim
                    << " has no padding: no axis shards it";
  }
  return success();
}

LogicalResult ShardingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type elementType,
    function_ref<InFlightDiagnostic()> emitError) const {
  for (const AxisState &s : getStates()) {
    if (s.state.isSharded() &&
        s.state.where >= static_cast<int64_t>(shape.size()))
      return emitError() << "axis '" << s.axis.getValue()
                         << "' shards dimension " << s.state.where
                         << " of a tensor of rank " << shape.size();
    if (s.state.kind == State::L &&
        (shape.empty() || !isa<FloatType>(elementType)))
      return emitError() << "axis '" << s.axis.getValue()
                         << "' has partial means of " << elementType
                         << " in a tensor of rank " << shape.size()
                         << "; they are vectors of floating-point numbers";
    if (s.state.kind == State::C &&
        (shape.size() < 2 || shape.back() < 2 || !isa<FloatType>(elementType)))
      return emitError() << "axis '" << s.axis.getValue()
                         << "' has candidates of " << elementType
                         << " in a tensor of rank " << shape.size()
                         << "; they are lists of floating-point numbers, each "
                            "a value and an index";
  }
  return success();
}

Attribute DistDialect::parseAttribute(DialectAsmParser &parser,
                                      Type type) const {
  StringRef body = parser.getFullSymbolSpec();
  StringRef kind = ConversionKindAttr::getMnemonic();
  if (body.starts_with(kind))
    return parser.parseKeyword(kind) ? Attribute()
                                     : ConversionKindAttr::parse(parser, type);
  StringRef padding = PaddingAttr::getMnemonic();
  if (body.starts_with(padding))
    return parser.parseKeyword(padding) ? Attribute()
                                        : PaddingAttr::parse(parser, type);
  if (body.starts_with("mesh"))
    return parser.parseKeyword("mesh") ? Attribute()
                                       : MeshAttr::parse(parser, type);
  return ShardingAttr::parse(parser, type);
}

void DistDialect::printAttribute(Attribute attr,
                                 DialectAsmPrinter &printer) const {
  if (auto mesh = dyn_cast<MeshAttr>(attr)) {
    printer << "mesh";
    return mesh.print(printer);
  }
  if (auto kind = dyn_cast<ConversionKindAttr>(attr)) {
    printer << ConversionKindAttr::getMnemonic() << " ";
    return kind.print(printer);
  }
  if (auto padding = dyn_cast<PaddingAttr>(attr)) {
    printer << PaddingAttr::getMnemonic() << " ";
    return padding.print(printer);
  }
  cast<ShardingAttr>(attr).print(printer);
}
