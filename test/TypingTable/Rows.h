//===- Rows.h - the specification's typing table ----------------*- C++ -*-===//
// Reads rows.txt, which make_rows.py wrote from the executable specification;
// the script says what its lines mean.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_TYPINGTABLE_ROWS_H
#define TESSERA_TEST_TYPINGTABLE_ROWS_H

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// States as text, as in the IR.
using States = std::vector<std::string>;

struct SharedOp {
  std::string kind, spec;
  std::map<States, std::string> rows; ///< Operands to result.
};

struct TypingTable {
  std::vector<SharedOp> ops;
  /// Kinds of states to the collective.
  std::map<std::pair<std::string, std::string>, std::string> conversions;
  std::map<std::pair<std::string, std::string>, States> routes;
  std::map<std::string, std::string> duals;
  std::map<std::pair<std::string, int>, double> shares;
};

/// Reads the table; empty, with a failed expectation, if the file is missing or
/// odd.
TypingTable readTypingTable(const std::string &path);

} // namespace tessera::test

#endif // TESSERA_TEST_TYPINGTABLE_ROWS_H
