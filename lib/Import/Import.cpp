//===- Import.cpp - model descriptions to nn modules ----------------------===//

#include "tessera/Import/Import.h"
#include "lib/Import/ConfigKeys.h"
#include "lib/Import/Family.h"
#include "lib/Import/ModelKeys.h"
#include "lib/Import/Widen.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Import/ParseProgram.h"
#include "tessera/Options/Counted.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

/// Returns the first multiple that is not below `least`.
static int64_t multipleFrom(int64_t least, int64_t factor) {
  return static_cast<int64_t>(llvm::alignTo(least, factor));
}

/// Names the batches next to the one given that fill all micro-batches and the
/// ranks that split them.
static InFlightDiagnostic
refuseBatch(const ConfigFile &file, const ProgramSizes &sizes, int64_t parts) {
  int64_t below = sizes.batch / parts * parts;
  InFlightDiagnostic error = file.error();
  error << "a batch of " << counted(sizes.batch, "sequence")
        << " cannot be cut into " << sizes.microBatches
        << " equal micro-batches";
  if (parts != sizes.microBatches)
    error << " on " << counted(parts / sizes.microBatches, "rank")
          << " of dp and ep";
  error << "; use --batch ";
  if (below > 0)
    error << below << " or ";
  error << static_cast<uint64_t>(below) + static_cast<uint64_t>(parts);
  return error;
}

/// Says what is chosen and may surprise.
static void explain(const ConfigFile &file, const ProgramSizes &sizes,
                    const SizeOptions &wanted, int64_t own, int64_t parts) {
  Location nowhere = UnknownLoc::get(file.getContext());
  if (!wanted.sequence && sizes.sequence < own)
    emitRemark(nowhere) << "sequences have " << sizes.sequence
                        << " tokens, though the model's own length is " << own
                        << "; --seq-length sets another";
  if (!wanted.batch && sizes.batch != kLeastBatch)
    emitRemark(nowhere) << "a step has " << sizes.batch
                        << " sequences, the first multiple of " << parts
                        << " (micro-batches x dp x ep) from " << kLeastBatch
                        << " on; --batch sets another number";
}

FailureOr<ProgramSizes> tessera::chooseSizes(const ConfigFile &file,
                                             Longest longest,
                                             const ImportOptions &options) {
  ProgramSizes sizes;
  const SizeOptions &wanted = options.sizes;
  const int64_t own = longest.usual ? longest.usual : longest.positions;
  sizes.sequence =
      wanted.sequence ? wanted.sequence : std::min(own, kLongestDefault);
  sizes.microBatches = wanted.microBatches ? wanted.microBatches : 1;
  if (sizes.microBatches > kMaximalSize)
    return file.error() << sizes.microBatches << " micro-batches are more than "
                        << kMaximalSize << ", the most that a step has";
  const int64_t parts = sizes.microBatches * options.batchRanks;
  sizes.batch = wanted.batch ? wanted.batch : multipleFrom(kLeastBatch, parts);
  Builder builder(file.getContext());
  sizes.elementType = builder.getF32Type();
  if (options.precision == Precision::F64)
    sizes.elementType = builder.getF64Type();
  if (sizes.sequence < 1 || sizes.sequence > longest.positions)
    return (file.find(longest.key) ? file.error(longest.key) : file.error())
           << "a sequence of " << sizes.sequence << " tokens does not fit "
           << (longest.usual ? "the largest size"
                             : "'" + longest.key.str() + "'")
           << " = " << longest.positions << "; use a sequence length from 1 to "
           << longest.positions;
  sizes.ignoresLabels = wanted.ignoresLabels;
  if (failed(chooseMasks(file, options, sizes)))
    return failure();
  if (sizes.batch < 1 || sizes.microBatches < 1 ||
      sizes.batch % sizes.microBatches)
    return refuseBatch(file, sizes, parts);
  if (options.explains)
    explain(file, sizes, wanted, own, parts);
  return sizes;
}

/// Returns a size of at least `least`, with the same remainder, and no larger
/// than before.
static int64_t shrunkTo(int64_t size, int64_t least, int64_t ranks) {
  int64_t rest = size % ranks;
  int64_t parts = llvm::divideCeil(std::max<int64_t>(1, least - rest), ranks);
  return std::min(size, rest + parts * ranks);
}

/// Returns a size with which every rank has some elements: at least ranks
/// (ranks - 1).
int64_t tessera::shrunkSize(int64_t size, int64_t limit, int64_t ranks) {
  return shrunkTo(size, std::max(limit, ranks * (ranks - 1)), ranks);
}

/// Rotary positions need an even size.
int64_t tessera::shrunkHeadSize(int64_t headSize,
                                const ShrinkOptions &options) {
  constexpr int64_t limit = 8;
  return shrunkSize(headSize, limit, std::lcm<int64_t>(2, options.dataRanks));
}

/// Returns a number of heads with which no rank is without: ranks that do not
/// divide them are refused.
int64_t tessera::shrunkHeads(int64_t heads, const ShrinkOptions &options) {
  constexpr int64_t limit = 8;
  return shrunkTo(heads, limit, options.headRanks);
}

static constexpr KeyAlias kGPT2Aliases[] = {
    {"hidden_size", "n_embd"},
    {"max_position_embeddings", "n_positions"},
    {"num_attention_heads", "n_head"},
    {"num_hidden_layers", "n_layer"}};
static constexpr KeyAlias kT5Aliases[] = {{"hidden_size", "d_model"},
                                          {"num_attention_heads", "num_heads"},
                                          {"num_hidden_layers", "num_layers"},
                                          {"head_dim", "d_kv"}};

/// The families that are no decoders of LLaMA's kind.
static constexpr struct {
  llvm::StringLiteral type;
  Imported (*import)(const ConfigFile &, const ImportOptions &);
  ArrayRef<KeyAlias> aliases = {};
} kFamilies[] = {{"gpt2", importGPT2, kGPT2Aliases},
                 {"bert", importBert},
                 {"t5", importT5, kT5Aliases}};

static LogicalResult rename(ConfigFile &file, ArrayRef<KeyAlias> aliases) {
  for (const KeyAlias &name : aliases)
    if (failed(file.rename(name.alias, name.key)))
      return failure();
  return success();
}

static std::string supportedTypes() {
  std::vector<std::string> names;
  for (const auto &family : kFamilies)
    names.push_back("'" + family.type.str() + "'");
  for (const DecoderFamily &family : decoderFamilies())
    names.push_back("'" + family.type.str() + "'");
  llvm::sort(names);
  return llvm::join(names, ", ");
}

static Imported importFamily(ConfigFile &file, const ImportOptions &options) {
  std::string type;
  if (failed(file.require({"model_type"})) ||
      failed(file.read("model_type", type)))
    return failure();
  if (options.sizes.targetSequence && type != "t5")
    return file.error("model_type")
           << "a target of " << options.sizes.targetSequence
           << " tokens is asked for, but '" << type
           << "' has no decoder beside an encoder; leave out "
           << "--decoder-seq-length";
  for (const auto &family : kFamilies) {
    if (type != family.type)
      continue;
    if (failed(rename(file, family.aliases)))
      return failure();
    return family.import(file, options);
  }
  if (const DecoderFamily *family = findDecoderFamily(type)) {
    if (failed(rename(file, family->aliases)))
      return failure();
    return importDecoder(file, *family, options);
  }
  return file.error("model_type")
         << "model type '" << type << "' is not supported; use one of "
         << supportedTypes();
}

/// Attaches the files beside a config.json that belong to the model, such as
/// generation_config.json, though no program depends on them.
static LogicalResult attachConfigFiles(ModuleOp module, StringRef path,
                                       const ConfigFile &file) {
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> files = {builder.getNamedAttr(
      nn::kConfigFile, builder.getStringAttr(file.text()))};
  SmallString<128> beside = llvm::sys::path::parent_path(path);
  llvm::sys::path::append(beside, nn::kGenerationConfigFile);
  if (llvm::sys::path::filename(path) == nn::kConfigFile &&
      llvm::sys::fs::exists(beside)) {
    FailureOr<ConfigFile> generation =
        ConfigFile::read(module.getContext(), beside);
    if (failed(generation))
      return failure();
    files.push_back(builder.getNamedAttr(
        nn::kGenerationConfigFile, builder.getStringAttr(generation->text())));
  }
  module->setAttr(nn::kConfigFilesAttr, builder.getDictionaryAttr(files));
  return success();
}

/// Weights that hold more than the model has are refused if a key of the config
/// may be about them.
static void noteLeftKeys(ModuleOp module, const ConfigFile &file) {
  if (file.leftKeys().empty())
    return;
  Builder builder(module.getContext());
  SmallVector<StringRef> keys(file.leftKeys().begin(), file.leftKeys().end());
  NamedAttrList model(
      module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr));
  model.set("unknown_keys", builder.getStrArrayAttr(keys));
  module->setAttr(nn::NNDialect::kModelAttr,
                  model.getDictionary(module.getContext()));
}

static Imported importConfig(MLIRContext *context, StringRef path,
                             const ImportOptions &options) {
  FailureOr<ConfigFile> file = ConfigFile::read(context, path);
  if (failed(file))
    return failure();
  Imported module = importFamily(*file, options);
  if (succeeded(module))
    noteLeftKeys(**module, *file);
  // A shrunk model is another one than the file says.
  if (succeeded(module) && !options.shrink) {
    attachModelKeys(**module, *file);
    if (failed(attachConfigFiles(**module, path, *file)))
      return failure();
  }
  return module;
}

//===----------------------------------------------------------------------===//
// .mlir
//===----------------------------------------------------------------------===//

static LogicalResult checkSize(ModuleOp module, StringRef name,
                               int64_t wanted) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto size = model.getAs<IntegerAttr>(name);
  if (!size)
    return module.emitError() << "nn.model lacks the integer '" << name << "'";
  if (wanted && wanted != size.getInt())
    return module.emitError()
           << "the .mlir program has " << name << " = " << size.getInt()
           << ", but " << wanted
           << " is asked for; import the config.json again instead";
  return success();
}

/// Checks that the loss of a .mlir program ignores labels if the options ask
/// for it.
static LogicalResult checkLabels(ModuleOp module, bool ignoresLabels) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  if (!ignoresLabels || model.get("ignores_labels") ||
      model.get("mask_token") || model.get("target"))
    return success();
  return module.emitError()
         << "the .mlir program counts all labels, but --ignore-labels is "
            "given; import the config.json again with it";
}

/// A program in f32 can be had in f64; the other way round it would silently be
/// another program.
static LogicalResult chooseElements(ModuleOp module, func::FuncOp loss,
                                    Precision precision) {
  StringRef wanted =
      nameOf(precision == Precision::F64 ? precision : Precision::F32);
  std::string element;
  llvm::raw_string_ostream(element)
      << getElementTypeOrSelf(loss.getResultTypes().front());
  if (wanted == element)
    return success();
  if (precision != Precision::F64)
    return loss.emitError()
           << "the .mlir program computes in " << element << ", but " << wanted
           << " is asked for; give --precision " << element
           << " or import the config.json again";
  widenToF64(module);
  return verify(module);
}

static FailureOr<OwningOpRef<ModuleOp>>
importMlir(MLIRContext *context, StringRef path, const ImportOptions &options) {
  auto module = readProgram(context, path);
  if (!module)
    return failure();
  auto loss = module->lookupSymbol<func::FuncOp>("loss");
  if (!(*module)->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr) ||
      !loss || loss.getNumResults() != 1)
    return module->emitError()
           << "is not a model: it needs the attribute nn.model and a function "
              "@loss; tessera import writes both";
  if (failed(checkLabels(*module, options.sizes.ignoresLabels)) ||
      failed(checkMasks(*module, options.sizes)) ||
      failed(checkSize(*module, "sequence", options.sizes.sequence)) ||
      failed(checkSize(*module, "batch", options.sizes.batch)) ||
      failed(checkSize(*module, "micro_batches", options.sizes.microBatches)) ||
      (options.sizes.targetSequence &&
       failed(checkSize(*module, "target", options.sizes.targetSequence))))
    return failure();
  if (!loss.isDeclaration())
    attachProgramHash(*module);
  if (failed(chooseElements(*module, loss, options.precision)))
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>>
tessera::importModel(MLIRContext *context, StringRef path,
                     const ImportOptions &options) {
  context->loadDialect<func::FuncDialect, nn::NNDialect, dist::DistDialect>();
  SmallString<128> file = path;
  if (llvm::sys::fs::is_directory(path))
    llvm::sys::path::append(file, "config.json");
  if (!llvm::sys::fs::exists(file))
    return emitError(UnknownLoc::get(context))
           << "'" << file << "' does not exist; name a config.json, a "
           << "directory that holds one, or a .mlir file";
  StringRef extension = llvm::sys::path::extension(file);
  if (extension == ".mlir" || extension == ".mlirbc")
    return importMlir(context, file, options);
  FailureOr<OwningOpRef<ModuleOp>> module =
      importConfig(context, file, options);
  if (succeeded(module) && failed(verify(**module)))
    return failure();
  return module;
}
