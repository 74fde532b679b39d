//===- ForeignKeys.h - keys by which models differ from ours ----*- C++ -*-===//
// Configs of other models, and of models whose code lies in their repository,
// have keys that make them compute something else. Such a key is refused unless
// its value asks for nothing.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_FOREIGNKEYS_H
#define TESSERA_LIB_IMPORT_FOREIGNKEYS_H

#include "lib/Import/ConfigKeys.h"

namespace tessera {

/// Returns whether a value of such a key asks for nothing: it is null, false,
/// empty, or what a model of the family does anyway. Returns none if the key
/// changes no model.
std::optional<bool> asksForNothing(const ConfigKeys &keys, llvm::StringRef key,
                                   const llvm::json::Value &value);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_FOREIGNKEYS_H
