//===- JsonList.h - a long list of a JSON object, entry by entry ----------===//
// An artifact lists the calls of all programs, some hundred thousand. Parsed at
// once they would take gigabytes, as llvm::json::Object is a hash table.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_JSONLIST_H
#define TESSERA_TOOLS_TESSERA_REPORT_JSONLIST_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tessera {

struct JsonList {
  /// Text of the entries, in the given text. Not parsed, so not checked.
  std::vector<llvm::StringRef> entries;
  /// The object with an empty list.
  std::string rest;
};

/// Takes the list of that name out of an object. What is no such object, or has
/// no such list, is all in `rest`.
JsonList takeList(llvm::StringRef object, llvm::StringRef name);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_JSONLIST_H
