//===- AttributeText.h - programs with other attributes ---------*- C++ -*-===//
// Works on the generic form, where every attribute is an entry `name = value`
// of a dictionary, so that most mutants still parse and reach verifiers and
// passes.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_FUZZ_ATTRIBUTETEXT_H
#define TESSERA_TEST_FUZZ_ATTRIBUTETEXT_H

#include "test/Fuzz/ProgramText.h"

namespace tessera::test {

/// Entries of the dictionaries of some programs: mutants take theirs.
class AttributePool {
public:
  explicit AttributePool(const std::vector<ProgramText> &programs);

  /// Returns `name = value`, as some program has it.
  const std::string &entry(std::mt19937 &rng) const;
  const std::string &type(std::mt19937 &rng) const;

private:
  std::vector<std::string> entries, types;
};

/// Returns a program with attributes replaced, removed, added and moved, with
/// other types, sizes and names of functions, or with functions that it lacked.
std::string withOtherAttributes(const std::string &program,
                                const AttributePool &pool, std::mt19937 &rng);

} // namespace tessera::test

#endif // TESSERA_TEST_FUZZ_ATTRIBUTETEXT_H
