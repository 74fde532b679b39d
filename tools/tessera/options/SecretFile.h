//===- SecretFile.h - what processes know, from a file ----------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_SECRETFILE_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_SECRETFILE_H

#include <string>

namespace tessera {

/// Reads a secret; line breaks at the end are no part of it. `note` warns of a
/// file that other users may read or change. Returns why it cannot be used, or
/// "".
std::string readSecretFile(const std::string &path, std::string *secret,
                           std::string *note);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_SECRETFILE_H
