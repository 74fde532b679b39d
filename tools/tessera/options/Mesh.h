//===- Mesh.h - the mesh that the command line asks for ---------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_MESH_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_MESH_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Axes from the outermost to the one that varies fastest.
struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;

  /// Parses "dp=2,tp=4". Returns what is wrong, or "".
  std::string parse(const std::string &text);
  /// Adds an axis that an alias names. Returns what is wrong, or "".
  std::string add(const std::string &axis, int64_t size);
  std::string str() const;
  int64_t ranks() const;
  /// 1 for an axis that the mesh does not have.
  int64_t sizeOf(const std::string &axis) const;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_MESH_H
