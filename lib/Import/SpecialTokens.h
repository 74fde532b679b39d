//===- SpecialTokens.h - tokens that are never hidden -----------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_SPECIALTOKENS_H
#define TESSERA_LIB_IMPORT_SPECIALTOKENS_H

#include "lib/Import/ConfigFile.h"
#include <algorithm>
#include <optional>
#include <vector>

namespace tessera {

/// Ids in ascending order.
using SpecialTokens = std::vector<int64_t>;

/// Adds an id in its place, unless it is there.
inline void addSpecial(SpecialTokens &ids, int64_t id) {
  auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (place == ids.end() || *place != id)
    ids.insert(place, id);
}

/// Tokens such as [CLS], [SEP] and [PAD], in this order of precedence: those
/// that are `given` ("0,2,3", or "none"); those of the tokenizer beside the
/// config; those that the config's ids tell, by its keys or because they are
/// those of a published vocabulary, or of a new one of BERT's tokenizer, which
/// is said in a remark if `explains`. None: they are not known.
mlir::FailureOr<std::optional<SpecialTokens>>
readSpecialTokens(const ConfigFile &file, llvm::StringRef given,
                  int64_t vocabulary, bool explains);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_SPECIALTOKENS_H
