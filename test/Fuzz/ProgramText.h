//===- ProgramText.h - programs of the tests, and their mutants -*- C++ -*-===//
// Text in, text out: lines deleted, doubled and swapped, numbers, types, states
// and operands changed.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_FUZZ_PROGRAMTEXT_H
#define TESSERA_TEST_FUZZ_PROGRAMTEXT_H

#include <random>
#include <string>
#include <vector>

namespace tessera::test {

/// One program of a test, and the passes that the test runs on it.
struct ProgramText {
  std::string file, text;
  std::vector<std::string> passes; ///< pipelines, such as `rt-plan-memory`
};

/// Returns all programs of the .mlir files below a folder, cut at `// -----`.
std::vector<ProgramText> programsBelow(const std::string &folder);

/// Returns the names of the passes that the files Passes.td below a folder
/// define.
std::vector<std::string> passesBelow(const std::string &folder);

/// Returns a program with one change or a few.
std::string mutated(const ProgramText &program,
                    const std::vector<ProgramText> &others, std::mt19937 &rng);

} // namespace tessera::test

#endif // TESSERA_TEST_FUZZ_PROGRAMTEXT_H
