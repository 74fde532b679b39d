//===- JsonLimits.h - JSON of strangers, read within limits -----*- C++ -*-===//
// Text that arrives over a connection, or lies in a file that anybody may have
// written, is refused before it costs more than it may: `Json.h` then checks
// what it says. The limits by kind of text are in json_kinds.def.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_JSONLIMITS_H
#define TESSERA_RUNTIME_SUPPORT_JSONLIMITS_H

#include "runtime/support/File.h"
#include "runtime/support/Json.h"
#include "tessera/json_reader.hpp"

#include <string_view>

namespace tessera {

/// Parses a text by the rules of readJson; `source` names it in errors.
/// TSR_CORRUPT: it is no JSON, or passes a limit.
JsonTree parseJson(const std::string &source, std::string_view text,
                   const JsonLimits &limits);

/// Reads a file that is to be parsed within `limits`. TSR_CORRUPT: it has more
/// bytes than that.
std::string readJsonText(const InputFile &file, const JsonLimits &limits);

/// Writes JSON on one line, in ASCII; bytes that are no UTF-8 are replaced.
std::string writeJson(const nlohmann::json &value);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_JSONLIMITS_H
