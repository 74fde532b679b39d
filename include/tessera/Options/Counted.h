//===- Counted.h - numbers of things, in messages ---------------*- C++ -*-===//
#ifndef TESSERA_OPTIONS_COUNTED_H
#define TESSERA_OPTIONS_COUNTED_H

#include <cstdint>
#include <string>

namespace tessera {

/// Returns "1 step", "2 steps", "1 micro-batch", "2 micro-batches".
inline std::string counted(int64_t count, const std::string &noun) {
  bool hisses = noun.size() > 1 && noun.compare(noun.size() - 2, 2, "ch") == 0;
  return std::to_string(count) + " " + noun +
         (count == 1 ? ""
          : hisses   ? "es"
                     : "s");
}

} // namespace tessera

#endif // TESSERA_OPTIONS_COUNTED_H
