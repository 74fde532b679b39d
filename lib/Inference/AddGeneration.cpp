//===- AddGeneration.cpp - programs that run a model for requests ---------===//
// They are made of the serial model, op by op, so that distribution, typing and
// erasure treat them like the training step: attention becomes appends and
// attention over what was appended, and positions are data.
//===----------------------------------------------------------------------===//

#include "lib/Inference/Candidates.h"
#include "lib/Inference/GenerationModel.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/TokenScores.h"
#include "tessera/Inference/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera {
#define GEN_PASS_DEF_ADDGENERATIONPASS
#include "tessera/Inference/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// The rows of a lane in a step of a program.
struct RowCount {
  StringRef program;
  int64_t rows;

  /// Returns whether all rows meet the vocabulary and their labels; else some
  /// are taken.
  bool scores() const { return program == nn::kScoreName; }
  /// Returns whether rows are the tokens of a source.
  bool encodes() const { return program == nn::kEncodeName; }
};

/// Sizes that all programs share.
struct GenerationSizes {
  int64_t lanes, slots, places;
  int64_t source; ///< Most tokens of one; 0: the model has no encoder.
  int64_t contextRanks, tensorRanks; ///< Ranks of cp and tp.
  int64_t candidates; ///< Those that a step returns per slot; 0: the logits.
};

/// The shares of ranks in a cache's places.
struct Deal {
  int64_t parts, places; ///< All parts have as many.
};

/// Builds one program.
class GenerationBuilder {
public:
  GenerationBuilder(GenerationModel &model, const GenerationSizes &sizes)
      : model(model), sizes(sizes), b(model.loss.getContext()) {}

  /// `all` are the programs of the module, whose data each has.
  LogicalResult build(const RowCount &own, ArrayRef<RowCount> all);

private:
  void addModelArguments();
  void addCaches();
  Deal dealOf(nn::AttentionOp op) const;
  void addData(const RowCount &of, const RowCount &own);
  Value argument(Type type, ArrayRef<NamedAttribute> attrs);
  Value data(const Twine &name, ArrayRef<int64_t> shape, Type element,
             StringRef dims);
  Value rowData(const Twine &name, int64_t count) {
    return data(name, {sizes.lanes, count}, b.getI32Type(), "bs");
  }
  SamplingData samplingData(StringRef program);
  NamedAttribute text(StringRef name, const Twine &value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  }

  LogicalResult make(Operation *op);
  LogicalResult rewrite(Operation *op);
  LogicalResult clone(Operation *op);
  LogicalResult attend(nn::AttentionOp op);
  void attendToSource(nn::AttentionOp op);
  LogicalResult attendWithin(nn::AttentionOp op);
  Value append(Value cache, Value rows, StringRef role, int64_t deal,
               Location loc);
  void appendSource();
  void rotate(nn::RopeOp op);
  bool addPositions(nn::AddOp op);
  Value ofRows(Value table, Location loc);
  void addScores(const RowCount &own);
  void addCandidates(const RowCount &own);
  void addOutput(Value value, const Twine &role, StringRef dims);
  void removeUnused();
  LogicalResult checkComplete();
  void finish(const RowCount &own);

  GenerationModel &model;
  GenerationSizes sizes;
  OpBuilder b;
  func::FuncOp func;
  IRMapping map;
  SmallVector<DictionaryAttr> attributes; ///< One for each argument.
  Value slots, positions;
  Value taken, labels;   ///< A program has one of them.
  SamplingData sampling; ///< If candidates are returned.
  Value lastOfSource;    ///< For each row, the last position of its source.
  llvm::DenseMap<Operation *, std::pair<Value, Value>> caches;
  llvm::DenseMap<Value, Value> rowsOfTables;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
};

Value GenerationBuilder::argument(Type type, ArrayRef<NamedAttribute> attrs) {
  attributes.push_back(b.getDictionaryAttr(attrs));
  return func.getBody().front().addArgument(type, func.getLoc());
}

/// The program has the model's parameters and tables.
void GenerationBuilder::addModelArguments() {
  for (BlockArgument old : model.loss.getArguments()) {
    DictionaryAttr attrs = model.loss.getArgAttrDict(old.getArgNumber());
    if (attrs.get(nn::NNDialect::kParamAttr) ||
        attrs.get(nn::NNDialect::kTableAttr))
      map.map(old, argument(old.getType(), attrs.getValue()));
  }
}

bool isGrouped(nn::AttentionOp op) {
  return cast<RankedTensorType>(op.getQuery().getType()).getRank() == 5;
}

/// If ranks of tp do not divide the key heads, each has all heads of its
/// places, as ShardingPlan::resting places them.
Deal GenerationBuilder::dealOf(nn::AttentionOp op) const {
  int64_t heads = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
  bool sharesPlaces = isGrouped(op) && heads % sizes.tensorRanks != 0;
  int64_t parts = sizes.contextRanks * (sharesPlaces ? sizes.tensorRanks : 1);
  int64_t least = model.isCross(op) ? sizes.source : sizes.places;
  return {parts, (least + parts - 1) / parts * parts};
}

/// Each attention has caches of keys and values, in order of layers.
void GenerationBuilder::addCaches() {
  int64_t layer = 0;
  for (Operation *op : model.ops) {
    auto attention = dyn_cast<nn::AttentionOp>(op);
    if (!attention)
      continue;
    auto key = cast<RankedTensorType>(attention.getKey().getType());
    auto type = RankedTensorType::get({sizes.lanes, sizes.slots,
                                       dealOf(attention).places,
                                       key.getDimSize(2), key.getDimSize(3)},
                                      key.getElementType());
    auto cache = [&](StringRef role) {
      std::string name = std::to_string(layer / (model.sourceIds ? 2 : 1)) +
                         (model.isCross(attention) ? ".source" : "");
      return argument(type, {text("nn.of", name),
                             text(nn::NNDialect::kRoleAttr, role),
                             text(nn::NNDialect::kDimsAttr,
                                  isGrouped(attention) ? "btlgd" : "btlnd")});
    };
    Value keys = cache(nn::kKeyCache);
    caches[op] = {keys, cache(nn::kValueCache)};
    ++layer;
  }
}

Value GenerationBuilder::data(const Twine &name, ArrayRef<int64_t> shape,
                              Type element, StringRef dims) {
  return argument(RankedTensorType::get(shape, element),
                  {text(nn::NNDialect::kDataAttr, name),
                   text(nn::NNDialect::kDimsAttr, dims)});
}

/// A text has at most as many tokens as a slot has places.
SamplingData GenerationBuilder::samplingData(StringRef program) {
  Type i32 = b.getI32Type(), number = getElementTypeOrSelf(model.logits);
  SmallVector<int64_t> slots = {sizes.lanes, sizes.slots};
  auto ofSlots = [&](StringRef name, int64_t size, StringRef dims) {
    return data(program + name, {slots[0], slots[1], size}, i32, dims);
  };
  SamplingData made;
  made.tokens = ofSlots(nn::kSampledTokens, sizes.places, "bmw");
  made.penalties = data(program + nn::kPenalties, slots, number, "bm");
  made.sharpness = data(program + nn::kSharpness, slots, number, "bm");
  made.draws = ofSlots(nn::kDraws, 3, "bmq");
  return made;
}

void GenerationBuilder::addData(const RowCount &of, const RowCount &own) {
  Value ids = rowData(of.program + "_ids", of.rows);
  Value slot = rowData(of.program + "_slots", of.rows);
  Value position = rowData(of.program + "_positions", of.rows);
  StringRef last = of.encodes()  ? "_segments"
                   : of.scores() ? "_labels"
                                 : "_last";
  bool isOfSlots = !of.encodes() && !of.scores();
  Value read = rowData(of.program + last, isOfSlots ? sizes.slots : of.rows);
  Value sources = model.sourceIds && !of.encodes()
                      ? rowData(of.program + "_sources", of.rows)
                      : Value();
  SamplingData chosen;
  if (sizes.candidates && isOfSlots)
    chosen = samplingData(of.program);
  if (of.program != own.program)
    return;
  sampling = chosen;
  slots = slot;
  positions = position;
  lastOfSource = sources;
  map.map(of.encodes() ? model.sourceIds : model.ids, ids);
  if (of.encodes())
    map.map(model.sourceSegments, read);
  else
    (of.scores() ? labels : taken) = read;
}

/// Returns the entry of a table of positions for each row.
Value GenerationBuilder::ofRows(Value table, Location loc) {
  if (auto prefix = table.getDefiningOp<nn::PrefixOp>())
    table = prefix.getInput();
  Value &rows = rowsOfTables[table];
  if (!rows)
    rows = nn::create<nn::EmbeddingOp>(
        b, loc, positions, map.lookupOrDefault(table), IntegerAttr());
  return rows;
}

LogicalResult GenerationBuilder::clone(Operation *op) {
  return dist::setResultTypes(b.clone(*op, map));
}

/// Positions that all sequences share are those of rows: an operand "sh" of a
/// sum "bsh". Returns whether the sum has one.
bool GenerationBuilder::addPositions(nn::AddOp op) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  SmallVector<Value> inputs;
  bool isRewritten = false;
  for (auto [letters, input] : llvm::zip(sig.ins, op.getInputs())) {
    bool isTable =
        StringRef(letters).starts_with("s") && sig.out == "b" + letters;
    inputs.push_back(isTable ? ofRows(input, op.getLoc())
                             : map.lookupOrDefault(Value(input)));
    letters = isTable ? sig.out : letters;
    isRewritten |= isTable;
  }
  if (!isRewritten)
    return false;
  std::string spec = llvm::join(sig.ins, ",") + "->" + sig.out;
  auto sum = nn::create<nn::AddOp>(b, op.getLoc(), b.getStringAttr(spec),
                                   inputs, op.getCoefsAttr());
  sum->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  map.map(op.getOutput(), sum.getOutput());
  return true;
}

void GenerationBuilder::rotate(nn::RopeOp op) {
  Value cosines = ofRows(op.getCosines(), op.getLoc());
  Value sines = ofRows(op.getSines(), op.getLoc());
  auto rotated =
      nn::create<nn::RopeOp>(b, op.getLoc(), map.lookupOrDefault(op.getInput()),
                             cosines, sines, op.getInverseAttr());
  rotated->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  map.map(op.getOutput(), rotated.getOutput());
}

/// Returns the cache from now on.
Value GenerationBuilder::append(Value cache, Value rows, StringRef role,
                                int64_t deal, Location loc) {
  Value made =
      nn::create<nn::AppendOp>(b, loc, cache, map.lookupOrDefault(rows), slots,
                               positions, b.getI64IntegerAttr(deal));
  auto attrs = attributes[cast<BlockArgument>(cache).getArgNumber()];
  results.push_back(made);
  resultAttributes.push_back(b.getDictionaryAttr(
      {text(nn::NNDialect::kRoleAttr, role),
       b.getNamedAttr(nn::NNDialect::kParamAttr, attrs.get("nn.of")),
       b.getNamedAttr(nn::NNDialect::kDimsAttr,
                      attrs.get(nn::NNDialect::kDimsAttr))}));
  return made;
}

LogicalResult GenerationBuilder::attend(nn::AttentionOp op) {
  if (model.sourceIds && llvm::is_contained(model.sourceOps, op))
    return attendWithin(op);
  if (model.isCross(op))
    return attendToSource(op), success();
  if (!op.getAttention().getMask().causal)
    return op.emitOpError() << "is not causal; generation needs a decoder";
  if (op.getQuerySegments() && !model.sourceIds)
    return op.emitOpError() << "stays within segments, which requests do not "
                               "have; leave out --document-mask";
  int64_t deal = dealOf(op).parts;
  auto [keyCache, valueCache] = caches.lookup(op);
  Value keys = append(keyCache, op.getKey(), nn::kKeyCache, deal, op.getLoc());
  Value values =
      append(valueCache, op.getValue(), nn::kValueCache, deal, op.getLoc());
  Value table = op.getBiasTable();
  auto attention = nn::create<nn::CachedAttentionOp>(
      b, op.getLoc(), map.lookupOrDefault(op.getQuery()), keys, values, slots,
      positions, table ? map.lookupOrDefault(table) : Value(),
      op.getAttentionAttr(), b.getI64IntegerAttr(deal), UnitAttr());
  attention->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  map.map(op.getOutput(), attention.getOutput());
  return success();
}

/// Attention reads all of a source, as if each row stood at its last position.
void GenerationBuilder::attendToSource(nn::AttentionOp op) {
  auto [keys, values] = caches.lookup(op);
  auto attention = nn::create<nn::CachedAttentionOp>(
      b, op.getLoc(), map.lookupOrDefault(op.getQuery()), keys, values, slots,
      lastOfSource, Value(), op.getAttentionAttr(),
      b.getI64IntegerAttr(dealOf(op).parts), UnitAttr());
  attention->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  map.map(op.getOutput(), attention.getOutput());
}

/// An encoder looks ahead: a source comes as a whole, and nothing is cached of
/// its own attention.
LogicalResult GenerationBuilder::attendWithin(nn::AttentionOp op) {
  Operation *made = b.clone(*op, map);
  cast<nn::AttentionOp>(made).setDropoutAttr(b.getF64FloatAttr(0.0));
  return dist::setResultTypes(made);
}

/// Keys and values of a source are kept for each cross-attention of the
/// decoder, at the stage of its layer.
void GenerationBuilder::appendSource() {
  for (Operation *op : model.ops) {
    auto attention = dyn_cast<nn::AttentionOp>(op);
    if (!attention || !model.isCross(attention))
      continue;
    int64_t deal = dealOf(attention).parts;
    auto [keys, values] = caches.lookup(op);
    for (Value made :
         {append(keys, attention.getKey(), nn::kKeyCache, deal, op->getLoc()),
          append(values, attention.getValue(), nn::kValueCache, deal,
                 op->getLoc())})
      inheritChunk(made.getDefiningOp(), op);
  }
}

/// Ops that an op of the model becomes live at the stage of its chunk.
LogicalResult GenerationBuilder::make(Operation *op) {
  Block &body = func.getBody().front();
  Operation *before = body.empty() ? nullptr : &body.back();
  if (failed(rewrite(op)))
    return failure();
  if (op == model.lastOfStream && taken) {
    Value stream = map.lookupOrDefault(op->getResult(0));
    map.map(op->getResult(0),
            Value(nn::create<nn::TakeOp>(b, op->getLoc(), stream, taken)));
  }
  auto made = before ? std::next(before->getIterator()) : body.begin();
  if (Attribute chunk = op->getAttr(dist::DistDialect::kChunkAttr))
    for (Operation &each : llvm::make_range(made, body.end()))
      each.setAttr(dist::DistDialect::kChunkAttr, chunk);
  return success();
}

LogicalResult GenerationBuilder::rewrite(Operation *op) {
  if (isa<nn::PrefixOp>(op))
    return success(); // `ofRows` reads the table behind it
  if (auto dropout = dyn_cast<nn::DropoutOp>(op))
    return map.map(dropout.getOutput(),
                   map.lookupOrDefault(dropout.getInput())),
           success();
  if (auto attention = dyn_cast<nn::AttentionOp>(op))
    return attend(attention);
  if (auto rope = dyn_cast<nn::RopeOp>(op))
    return rotate(rope), success();
  auto add = dyn_cast<nn::AddOp>(op);
  return add && addPositions(add) ? success() : clone(op);
}

void GenerationBuilder::addOutput(Value value, const Twine &role,
                                  StringRef dims) {
  results.push_back(value);
  resultAttributes.push_back(
      b.getDictionaryAttr({text(nn::NNDialect::kRoleAttr, role),
                           text(nn::NNDialect::kDimsAttr, dims)}));
}

/// Ops behind `last` live where the logits do, which stay on their ranks.
void placeBehind(Operation *last, Value logits) {
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    inheritChunk(op, logits.getDefiningOp());
}

void GenerationBuilder::addScores(const RowCount &own) {
  Value logits = map.lookupOrDefault(model.logits);
  Operation *last = &func.getBody().front().back();
  TokenScores scores = scoreLabels(b, model.logits.getLoc(), logits, labels);
  placeBehind(last, logits);
  addOutput(scores.logProbability, own.program + nn::kLogProbabilities, "bs");
  addOutput(scores.rank, own.program + nn::kLabelRanks, "bs");
}

void GenerationBuilder::addCandidates(const RowCount &own) {
  Value logits = map.lookupOrDefault(model.logits);
  Operation *last = &func.getBody().front().back();
  Candidates found = findCandidates(b, model.logits.getLoc(), logits, sampling,
                                    sizes.candidates);
  placeBehind(last, logits);
  addOutput(found.best, own.program + nn::kCandidates, "bmkz");
  addOutput(found.drawn, own.program + nn::kDrawn, "bmkz");
  addOutput(found.total, own.program + nn::kTotals, "bm");
}

/// An encoder's parameters, and a decoder's with its caches, have no memory at
/// stages whose programs do not read them.
void GenerationBuilder::removeUnused() {
  Block &body = func.getBody().front();
  for (unsigned k = body.getNumArguments(); k-- > 0;) {
    if (!body.getArgument(k).use_empty() ||
        attributes[k].get(nn::NNDialect::kDataAttr))
      continue;
    body.eraseArgument(k);
    attributes.erase(attributes.begin() + k);
  }
}

/// Refuses a model that reads more than parameters, tables, tokens and what a
/// program for generation has in their place, such as segments of documents.
LogicalResult GenerationBuilder::checkComplete() {
  Block &body = func.getBody().front();
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body)
        return op.emitOpError()
               << "reads a value of type " << operand.getType()
               << " that programs for generation do not have; a model reads "
                  "parameters, tables and tokens";
  return success();
}

void GenerationBuilder::finish(const RowCount &own) {
  if (own.scores())
    addScores(own);
  else if (sizes.candidates && !own.encodes())
    addCandidates(own);
  else if (!own.encodes())
    addOutput(map.lookupOrDefault(model.logits), own.program + nn::kLogits,
              "bmv");
  func::ReturnOp::create(b, func.getLoc(), results);
  removeUnused();
  func.setType(b.getFunctionType(func.getBody().front().getArgumentTypes(),
                                 ValueRange(results).getTypes()));
  func.setAllArgAttrs(attributes);
  func.setAllResultAttrs(resultAttributes);
}

LogicalResult GenerationBuilder::build(const RowCount &own,
                                       ArrayRef<RowCount> all) {
  b.setInsertionPoint(model.loss);
  func = func::FuncOp::create(b, model.loss.getLoc(), own.program,
                              b.getFunctionType({}, {}));
  func->setAttr(nn::kGenerationAttr, b.getStringAttr(own.program));
  b.setInsertionPointToStart(func.addEntryBlock());
  addModelArguments();
  addCaches();
  for (const RowCount &each : all)
    addData(each, own);
  for (Operation *op : own.encodes() ? model.sourceOps : model.ops)
    if (failed(make(op)))
      return failure();
  if (own.encodes())
    appendSource();
  if (failed(checkComplete()))
    return failure();
  finish(own);
  return success();
}

struct AddGenerationPass
    : tessera::impl::AddGenerationPassBase<AddGenerationPass> {
  using AddGenerationPassBase::AddGenerationPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findSerialLoss(getOperation());
    if (failed(loss) || failed(addPrograms(*loss)))
      return signalPassFailure();
    if (!besideTraining)
      return loss->erase();
    for (func::FuncOp program : nn::findGenerations(getOperation()))
      program->setAttr(nn::kBesideAttr, UnitAttr::get(&getContext()));
  }

  LogicalResult addPrograms(func::FuncOp loss);
  void describe(const GenerationSizes &sizes);
};

LogicalResult AddGenerationPass::addPrograms(func::FuncOp loss) {
  GenerationModel model;
  model.loss = loss;
  if (slots < 1 || chunk < 1 || lanes < 1 || contextRanks < 1 ||
      tensorRanks < 1)
    return loss.emitError() << "has slots = " << slots.getValue()
                            << ", chunk = " << chunk.getValue()
                            << ", lanes = " << lanes.getValue()
                            << ", context-ranks = " << contextRanks.getValue()
                            << ", tensor-ranks = " << tensorRanks.getValue()
                            << "; each must be at least 1";
  if (failed(model.find()))
    return failure();
  auto tokens = [](Value ids) {
    return ids ? cast<RankedTensorType>(ids.getType()).getDimSize(1) : 0;
  };
  int64_t vocabulary =
      cast<RankedTensorType>(model.logits.getType()).getShape().back();
  if (candidates < 0 || candidates > vocabulary)
    return loss.emitError() << "has candidates = " << candidates.getValue()
                            << "; it must be from 0 (none: the logits are "
                               "returned) to the size of the vocabulary, "
                            << vocabulary;
  GenerationSizes sizes{
      lanes,        slots,       tokens(model.ids), tokens(model.sourceIds),
      contextRanks, tensorRanks, candidates};
  SmallVector<RowCount> programs = {{nn::kDecodeName, slots},
                                    {nn::kMixedName, slots + chunk},
                                    {nn::kScoreName, slots + chunk}};
  if (sizes.source)
    programs.push_back({nn::kEncodeName, sizes.source});
  for (const RowCount &program : programs)
    if (failed(GenerationBuilder(model, sizes).build(program, programs)))
      return failure();
  if (sizes.source)
    getOperation()
        .lookupSymbol<func::FuncOp>(nn::kEncodeName)
        ->setAttr(nn::kBesideAttr, UnitAttr::get(&getContext()));
  describe(sizes);
  return success();
}

/// Tells the runtime the sizes.
void AddGenerationPass::describe(const GenerationSizes &sizes) {
  Builder b(&getContext());
  NamedAttrList attrs(
      getOperation()->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr));
  attrs.set("lanes", b.getI64IntegerAttr(sizes.lanes));
  attrs.set("slots", b.getI64IntegerAttr(sizes.slots));
  attrs.set("places", b.getI64IntegerAttr(sizes.places));
  attrs.set("prefill_chunk", b.getI64IntegerAttr(chunk));
  if (sizes.source)
    attrs.set("source", b.getI64IntegerAttr(sizes.source));
  if (sizes.candidates)
    attrs.set("candidates", b.getI64IntegerAttr(sizes.candidates));
  getOperation()->setAttr(nn::NNDialect::kModelAttr,
                          attrs.getDictionary(&getContext()));
}

} // namespace
