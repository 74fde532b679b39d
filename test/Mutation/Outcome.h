//===- Outcome.h - what two training steps leave ----------------*- C++ -*-===//

#ifndef TESSERA_TEST_MUTATION_OUTCOME_H
#define TESSERA_TEST_MUTATION_OUTCOME_H

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

/// Loss and gradient norm of each step; parameters and moments after the last.
using Outcome = std::map<std::string, std::vector<double>>;

/// Trains from a fixed seed on fixed tokens, all ranks as threads, memory
/// poisoned; a masked model with labels and token types of its own. Nullopt if
/// the program cannot be loaded or fails.
std::optional<Outcome> train(const std::string &artifactPath, bool isMasked);

/// Returns the largest difference of any tensor, relative to its largest
/// element.
double difference(const Outcome &found, const Outcome &wanted);

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_OUTCOME_H
