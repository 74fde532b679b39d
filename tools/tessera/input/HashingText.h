//===- HashingText.h - what a start waits for -------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_HASHINGTEXT_H
#define TESSERA_TOOLS_TESSERA_INPUT_HASHINGTEXT_H

#include <string>
#include <vector>

namespace tessera {

/// Returns "hashing 3 files of 12.3 GiB ..." for files, or directories of
/// weights, that are read before the first step; "" if that takes no time.
std::string hashingText(const std::vector<std::string> &paths);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_HASHINGTEXT_H
