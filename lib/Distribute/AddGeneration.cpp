//===- AddGeneration.cpp - programs that run a model for requests ---------===//
// They are made of the serial model, op by op, so that distribution, typing and
// erasure treat them like the training step: attention becomes appends and
// attention over what was appended, and positions are data.
//===----------------------------------------------------------------------===//

#include "lib/Distribute/TokenScores.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Distribute/Stages.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_ADDGENERATIONPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Of a program: rows of a lane in a step.
struct RowCount {
  StringRef program;
  int64_t rows;

  /// Whether all rows meet the vocabulary and their labels, or some are taken.
  bool scores() const { return program == nn::kScoreName; }
};

/// Sizes that all programs share.
struct GenerationSizes {
  int64_t lanes, slots, places;
  int64_t contextRanks, tensorRanks; ///< Ranks of cp and tp.
};

/// How a cache's places are dealt to ranks.
struct Deal {
  int64_t parts, places; ///< All parts have as many.
};

/// What a generation is made of: the ops that make logits, in their order.
struct Model {
  func::FuncOp loss;
  Value logits, ids;
  SmallVector<Operation *> ops;
  Operation *lastOfStream = nullptr; ///< What is behind it reads its row alone.

  LogicalResult find();
};

LogicalResult Model::find() {
  nn::PickOp pick;
  for (auto op : loss.getOps<nn::PickOp>())
    pick = op;
  auto attrs = loss->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(
      nn::NNDialect::kModelAttr);
  for (StringRef key : {"mask_token", "target"})
    if (attrs && attrs.get(key))
      return loss.emitError()
             << "generation needs a causal decoder, such as gpt2, llama, "
                "mistral, qwen2 or mixtral; this model is none";
  if (!pick)
    return loss.emitError() << "has no nn.pick, from whose logits a program "
                               "for generation is made";
  logits = pick.getLogits();
  SetVector<Operation *> needed;
  SmallVector<Value> todo = {logits};
  while (!todo.empty())
    if (Operation *op = todo.pop_back_val().getDefiningOp())
      if (needed.insert(op))
        llvm::append_range(todo, op->getOperands());
  for (Operation &op : loss.getBody().front().without_terminator())
    if (needed.contains(&op)) {
      ops.push_back(&op);
      if (nn::hasTag(&op, nn::Tag::Stream))
        lastOfStream = &op;
    }
  for (BlockArgument argument : loss.getArguments()) {
    auto data = loss.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  nn::NNDialect::kDataAttr);
    if (data && data == "ids")
      ids = argument;
  }
  if (ids && lastOfStream)
    return success();
  return loss.emitError() << "has no data 'ids' or no residual stream";
}

/// Builds one program.
class GenerationBuilder {
public:
  GenerationBuilder(Model &model, const GenerationSizes &sizes)
      : model(model), sizes(sizes), b(model.loss.getContext()) {}

  /// `all`: the programs of the module, whose data each has.
  LogicalResult build(const RowCount &own, ArrayRef<RowCount> all);

private:
  void addModelArguments();
  void addCaches();
  Deal dealOf(nn::AttentionOp op) const;
  void addData(const RowCount &of, const RowCount &own);
  Value argument(Type type, ArrayRef<NamedAttribute> attrs);
  Value rowData(const Twine &name, int64_t count);
  NamedAttribute text(StringRef name, const Twine &value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  }

  LogicalResult make(Operation *op);
  LogicalResult rewrite(Operation *op);
  LogicalResult clone(Operation *op);
  LogicalResult attend(nn::AttentionOp op);
  void rotate(nn::RopeOp op);
  bool addPositions(nn::AddOp op);
  Value ofRows(Value table, Location loc);
  void addScores(const RowCount &own);
  void addOutput(Value value, const Twine &role, StringRef dims);
  void finish(const RowCount &own);

  Model &model;
  GenerationSizes sizes;
  OpBuilder b;
  func::FuncOp func;
  IRMapping map;
  SmallVector<DictionaryAttr> attributes; ///< Of arguments.
  Value slots, positions;
  Value taken, labels; ///< Of a program either.
  llvm::DenseMap<Operation *, std::pair<Value, Value>> caches;
  llvm::DenseMap<Value, Value> rowsOfTables;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
};

Value GenerationBuilder::argument(Type type, ArrayRef<NamedAttribute> attrs) {
  attributes.push_back(b.getDictionaryAttr(attrs));
  return func.getBody().front().addArgument(type, func.getLoc());
}

/// Parameters and tables.
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

/// Where ranks of tp do not divide the key heads, each has all heads of its
/// places, as ShardingPlan::resting places them.
Deal GenerationBuilder::dealOf(nn::AttentionOp op) const {
  int64_t heads = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
  bool sharesPlaces = isGrouped(op) && heads % sizes.tensorRanks != 0;
  int64_t parts = sizes.contextRanks * (sharesPlaces ? sizes.tensorRanks : 1);
  return {parts, llvm::divideCeil(sizes.places, parts) * parts};
}

/// Keys and values of each attention, in order of layers.
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
      return argument(type, {text("nn.of", Twine(layer)),
                             text(nn::NNDialect::kRoleAttr, role),
                             text(nn::NNDialect::kDimsAttr,
                                  isGrouped(attention) ? "btlgd" : "btlnd")});
    };
    Value keys = cache(nn::kKeyCache);
    caches[op] = {keys, cache(nn::kValueCache)};
    ++layer;
  }
}

Value GenerationBuilder::rowData(const Twine &name, int64_t count) {
  auto type = RankedTensorType::get({sizes.lanes, count}, b.getI32Type());
  return argument(type, {text(nn::NNDialect::kDataAttr, name),
                         text(nn::NNDialect::kDimsAttr, "bs")});
}

void GenerationBuilder::addData(const RowCount &of, const RowCount &own) {
  Value ids = rowData(of.program + "_ids", of.rows);
  Value slot = rowData(of.program + "_slots", of.rows);
  Value position = rowData(of.program + "_positions", of.rows);
  Value read = of.scores() ? rowData(of.program + "_labels", of.rows)
                           : rowData(of.program + "_last", sizes.slots);
  if (of.program != own.program)
    return;
  map.map(model.ids, ids);
  slots = slot;
  positions = position;
  (of.scores() ? labels : taken) = read;
}

/// What a table of positions holds for each row.
Value GenerationBuilder::ofRows(Value table, Location loc) {
  if (auto prefix = table.getDefiningOp<nn::PrefixOp>())
    table = prefix.getInput();
  Value &rows = rowsOfTables[table];
  if (!rows)
    rows = nn::create<nn::EmbeddingOp>(b, loc, positions, map.lookup(table));
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
    bool isTable = letters == sig.out.substr(1) && letters.front() == 's' &&
                   sig.out.front() == 'b';
    inputs.push_back(isTable ? ofRows(input, op.getLoc())
                             : map.lookup(Value(input)));
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
      nn::create<nn::RopeOp>(b, op.getLoc(), map.lookup(op.getInput()), cosines,
                             sines, op.getInverseAttr());
  rotated->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  map.map(op.getOutput(), rotated.getOutput());
}

LogicalResult GenerationBuilder::attend(nn::AttentionOp op) {
  if (!op.getCausal() || op.getBiasTable())
    return op.emitOpError() << "is not causal, or has a bias by distance; "
                               "generation supports neither";
  if (op.getQuerySegments())
    return op.emitOpError() << "stays within segments, which requests do not "
                               "have; leave out --document-mask";
  IntegerAttr deal = b.getI64IntegerAttr(dealOf(op).parts);
  auto append = [&](Value cache, Value rows, StringRef role) {
    Value made = nn::create<nn::AppendOp>(
        b, op.getLoc(), cache, map.lookup(rows), slots, positions, deal);
    auto attrs = attributes[cast<BlockArgument>(cache).getArgNumber()];
    results.push_back(made);
    resultAttributes.push_back(b.getDictionaryAttr(
        {text(nn::NNDialect::kRoleAttr, role),
         b.getNamedAttr(nn::NNDialect::kParamAttr, attrs.get("nn.of")),
         b.getNamedAttr(nn::NNDialect::kDimsAttr,
                        attrs.get(nn::NNDialect::kDimsAttr))}));
    return made;
  };
  auto [keyCache, valueCache] = caches.lookup(op);
  Value keys = append(keyCache, op.getKey(), nn::kKeyCache);
  Value values = append(valueCache, op.getValue(), nn::kValueCache);
  auto attention = nn::create<nn::CachedAttentionOp>(
      b, op.getLoc(), map.lookup(op.getQuery()), keys, values, slots, positions,
      op.getScaleAttr(), op.getWindowAttr(), deal, UnitAttr());
  attention->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  map.map(op.getOutput(), attention.getOutput());
  return success();
}

/// What an op of the model becomes lives at the stage of its chunk.
LogicalResult GenerationBuilder::make(Operation *op) {
  Block &body = func.getBody().front();
  Operation *before = body.empty() ? nullptr : &body.back();
  if (failed(rewrite(op)))
    return failure();
  if (op == model.lastOfStream && taken) {
    Value stream = map.lookup(op->getResult(0));
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
    return success(); // `ofRows` reads what it is a prefix of
  if (auto dropout = dyn_cast<nn::DropoutOp>(op))
    return map.map(dropout.getOutput(), map.lookup(dropout.getInput())),
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

/// They live where the logits do, which stay on their ranks.
void GenerationBuilder::addScores(const RowCount &own) {
  Value logits = map.lookup(model.logits);
  Operation *last = &func.getBody().front().back();
  TokenScores scores = scoreLabels(b, model.logits.getLoc(), logits, labels);
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    inheritChunk(op, logits.getDefiningOp());
  addOutput(scores.logProbability, own.program + nn::kLogProbabilities, "bs");
  addOutput(scores.rank, own.program + nn::kLabelRanks, "bs");
}

void GenerationBuilder::finish(const RowCount &own) {
  if (own.scores())
    addScores(own);
  else
    addOutput(map.lookup(model.logits), own.program + nn::kLogits, "bmv");
  func::ReturnOp::create(b, func.getLoc(), results);
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
  for (Operation *op : model.ops)
    if (failed(make(op)))
      return failure();
  finish(own);
  return success();
}

struct AddGenerationPass
    : tessera::impl::AddGenerationPassBase<AddGenerationPass> {
  using AddGenerationPassBase::AddGenerationPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findProgram(getOperation(), "loss");
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
  Model model;
  model.loss = loss;
  if (slots < 1 || chunk < 1 || lanes < 1 || contextRanks < 1 ||
      tensorRanks < 1)
    return loss.emitError()
           << "has slots = " << slots << ", chunk = " << chunk
           << ", lanes = " << lanes << ", context-ranks = " << contextRanks
           << ", tensor-ranks = " << tensorRanks << "; each must be at least 1";
  if (failed(model.find()))
    return failure();
  auto ids = cast<RankedTensorType>(model.ids.getType());
  GenerationSizes sizes{lanes, slots, ids.getDimSize(1), contextRanks,
                        tensorRanks};
  SmallVector<RowCount> programs = {{nn::kDecodeName, slots},
                                    {nn::kMixedName, slots + chunk},
                                    {nn::kScoreName, slots + chunk}};
  for (const RowCount &program : programs)
    if (failed(GenerationBuilder(model, sizes).build(program, programs)))
      return failure();
  describe(sizes);
  return success();
}

/// The sizes, for the runtime.
void AddGenerationPass::describe(const GenerationSizes &sizes) {
  Builder b(&getContext());
  NamedAttrList attrs(
      getOperation()->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr));
  attrs.set("lanes", b.getI64IntegerAttr(sizes.lanes));
  attrs.set("slots", b.getI64IntegerAttr(sizes.slots));
  attrs.set("places", b.getI64IntegerAttr(sizes.places));
  attrs.set("prefill_chunk", b.getI64IntegerAttr(chunk));
  getOperation()->setAttr(nn::NNDialect::kModelAttr,
                          attrs.getDictionary(&getContext()));
}

} // namespace
