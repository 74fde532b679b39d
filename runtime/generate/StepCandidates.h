//===- StepCandidates.h - what steps leave of logits ------------*- C++ -*-===//
// Of artifacts whose steps return the best logits alone: what these steps read
// to make them, and how they are read back.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_STEPCANDIDATES_H
#define TESSERA_RUNTIME_GENERATE_STEPCANDIDATES_H

#include "runtime/generate/Sampler.h"
#include "runtime/session/Session.h"

#include <string>

namespace tessera {

/// How the token after each slot's row is chosen; by default from logits as
/// they are, and nothing is drawn.
class SamplingInputs {
public:
  explicit SamplingInputs(const Generation &sizes);

  void set(int64_t lane, int64_t slot, const Sampling &sampling,
           const std::vector<int32_t> &text);
  void write(const Rank &rank, const std::string &program) const;

private:
  int64_t slots, places;
  std::vector<double> penalties, sharpness; ///< By lane and slot.
  std::vector<int32_t> draws; ///< Seed low, seed high, position of each.
  /// Of each, -1 after its text; empty where no text is penalized: the step
  /// then reads none.
  std::vector<int32_t> tokens;
};

/// What a step made.
class StepCandidates {
public:
  StepCandidates(const Session &session, const std::string &program);

  BestLogits at(int64_t lane, int64_t slot) const;

private:
  int64_t slots, count;
  std::vector<double> best, drawn, totals;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_STEPCANDIDATES_H
