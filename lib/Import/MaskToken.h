//===- MaskToken.h - the mask of a masked language model --------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_MASKTOKEN_H
#define TESSERA_LIB_IMPORT_MASKTOKEN_H

#include "lib/Import/ConfigFile.h"

namespace tessera {

/// Returns the token that stands for those to be predicted: `mask_token_id` of
/// the config, else that of the tokenizer beside it, else that of a published
/// vocabulary. None if neither says; an error if one is no token of the model.
mlir::FailureOr<std::optional<int64_t>> readMaskToken(const ConfigFile &file,
                                                      int64_t vocabulary);

/// Returns the mask token of a published vocabulary: those of BERT (uncased,
/// cased, multilingual cased and uncased, Chinese) all number [MASK] 103, after
/// [UNK], [CLS] and [SEP].
std::optional<int64_t> publishedMask(int64_t vocabulary);

/// Says how the token is given.
mlir::LogicalResult refuseMissingMask(const ConfigFile &file);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_MASKTOKEN_H
