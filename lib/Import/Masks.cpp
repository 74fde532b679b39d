//===- Masks.cpp - what attention does not see of a batch -----------------===//
// Documents of packed sequences, of causal models; padding, of the others. The
// tokens that tell are the config's.
//===----------------------------------------------------------------------===//

#include "lib/Import/ConfigKeys.h"
#include "lib/Import/Family.h"
#include "tessera/Options/SpecialIds.h"

using namespace mlir;
using namespace tessera;

static bool isCausal(StringRef family) {
  return family != "bert" && family != "t5";
}

/// Errors about a key that is not there point at the family.
static InFlightDiagnostic errorAt(const ConfigFile &file, StringRef key) {
  return file.error(file.find(key) ? key : "model_type");
}

static LogicalResult checkFamily(const ConfigFile &file,
                                 const SizeOptions &options) {
  std::string family;
  if (failed(file.read("model_type", family)))
    return failure();
  if (options.documentMask && !isCausal(family))
    return file.error("model_type")
           << "--document-mask keeps documents apart that are packed into "
              "sequences of a causal model, which '"
           << family << "' is not; leave it out, or use --padding-mask";
  if (options.paddingMask && isCausal(family))
    return file.error("model_type")
           << "--padding-mask hides padding of BERT and T5; in '" << family
           << "' nothing sees what comes after it, so pad at the end, give "
              "padding the label -100 and use --ignore-labels";
  if (!options.specialIds.empty() && family != "bert")
    return file.error("model_type")
           << "--special-ids names tokens that a masked language model does "
              "not hide, but '"
           << family << "' is none; leave it out";
  return success();
}

/// Returns the separator, which may also be one of several tokens that end a
/// text.
static FailureOr<int64_t> separatorOf(const ConfigFile &file, int64_t wanted,
                                      int64_t vocabulary) {
  constexpr StringRef key = "eos_token_id";
  const llvm::json::Value *own = file.find(key);
  if (wanted < 0 && (!own || own->getAsArray()))
    return errorAt(file, key)
           << "--document-mask needs the token that ends a document, but the "
              "config has "
           << (own ? "several in" : "no") << " 'eos_token_id'; give one with "
           << "--separator";
  if (wanted < 0 && failed(file.read(key, wanted, {0, vocabulary - 1})))
    return failure();
  if (wanted >= vocabulary)
    return file.error("vocab_size")
           << "the separator " << wanted << " is outside of the vocabulary of "
           << vocabulary << "; give --separator a token of the model";
  return wanted;
}

/// Chooses the tokens of BERT that training never hides.
static LogicalResult chooseSpecial(const ConfigFile &file,
                                   const ImportOptions &options,
                                   int64_t vocabulary, ProgramSizes &sizes) {
  std::string family;
  if (failed(file.read("model_type", family)))
    return failure();
  if (family != "bert")
    return success();
  FailureOr<std::optional<SpecialTokens>> special = readSpecialTokens(
      file, options.sizes.specialIds, vocabulary, options.explains);
  if (failed(special))
    return failure();
  sizes.special = *special;
  if (sizes.special) // They change what a run masks.
    file.note("special_tokens", llvm::json::Array(*sizes.special));
  return success();
}

LogicalResult tessera::chooseMasks(const ConfigFile &file,
                                   const ImportOptions &imported,
                                   ProgramSizes &sizes) {
  const SizeOptions &options = imported.sizes;
  if (failed(checkFamily(file, options)))
    return failure();
  int64_t vocabulary = kMaximalSize;
  if (failed(file.read("vocab_size", vocabulary, {1, kMaximalSize})))
    return failure();
  if (options.documentMask) {
    FailureOr<int64_t> separator =
        separatorOf(file, options.separator, vocabulary);
    if (failed(separator))
      return failure();
    sizes.separator = *separator;
  }
  if (options.paddingMask) {
    std::optional<int64_t> padding = 0; // transformers' default of both
    if (failed(readPadding(file, vocabulary, padding)))
      return failure();
    if (!padding)
      return file.error("pad_token_id")
             << "--padding-mask hides the padding token, but 'pad_token_id' is "
                "null; give the token that is padding";
    sizes.padding = *padding;
  }
  return chooseSpecial(file, imported, vocabulary, sizes);
}

LogicalResult tessera::checkMasks(ModuleOp module, const SizeOptions &options) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto separator = model.getAs<IntegerAttr>("separator");
  if (options.documentMask && !separator)
    return module.emitError()
           << "the .mlir program's attention sees all documents of a sequence, "
              "but --document-mask is given; import the config.json again with "
              "it";
  if (options.separator >= 0 && separator &&
      separator.getInt() != options.separator)
    return module.emitError()
           << "the .mlir program's documents end with token "
           << separator.getInt() << ", but --separator " << options.separator
           << " is given; import the config.json again instead";
  auto special = model.getAs<DenseI64ArrayAttr>("special_tokens");
  std::optional<SpecialTokens> wanted;
  if (!options.specialIds.empty())
    wanted = parseSpecialIds(options.specialIds);
  if (auto mask = model.getAs<IntegerAttr>("mask_token"); mask && wanted)
    addSpecial(*wanted, mask.getInt());
  if (wanted && (!special || special.asArrayRef() != ArrayRef(*wanted)))
    return module.emitError()
           << "the .mlir program has other special tokens than --special-ids "
           << options.specialIds << "; import the config.json again with it";
  if (options.paddingMask && !model.get("padding"))
    return module.emitError()
           << "the .mlir program's attention sees padding, but --padding-mask "
              "is given; import the config.json again with it";
  return success();
}
