//===- ProgramLevels.h - valid programs of every level ----------*- C++ -*-===//
// The generic forms of the tests' programs, and of small models before each
// pass of the compiler, with the pass that comes next.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_FUZZ_PROGRAMLEVELS_H
#define TESSERA_TEST_FUZZ_PROGRAMLEVELS_H

#include "test/Fuzz/ProgramText.h"

namespace tessera::test {

/// Returns the generic forms of those programs that parse and verify.
std::vector<ProgramText> genericForms(const std::vector<ProgramText> &programs);

/// Compiles small models below a folder of examples for several meshes. Returns
/// the generic form before each pass, and that pass with its options. Programs
/// of the same text come once.
std::vector<ProgramText> programLevels(const std::string &examples);

} // namespace tessera::test

#endif // TESSERA_TEST_FUZZ_PROGRAMLEVELS_H
