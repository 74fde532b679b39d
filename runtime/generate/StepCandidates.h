//===- StepCandidates.h - what steps leave of logits ------------*- C++ -*-===//
// Some artifacts have steps that return the best logits alone. These classes
// hold what such steps read to make them, and read them back.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_STEPCANDIDATES_H
#define TESSERA_RUNTIME_GENERATE_STEPCANDIDATES_H

#include "runtime/generate/Sampler.h"
#include "runtime/session/Session.h"

#include <string>

namespace tessera {

/// Settings for the choice of the token after each slot's row. Unless they are
/// set, logits stay as they are, and nothing is drawn.
class SamplingInputs {
public:
  explicit SamplingInputs(const Generation &sizes);

  void set(int64_t lane, int64_t slot, const Sampling &sampling,
           const std::vector<int32_t> &text);
  void write(const Rank &rank, const std::string &program) const;

private:
  int64_t slots, places;
  std::vector<double> penalties, sharpness; ///< Indexed by lane and slot.
  std::vector<int32_t> draws; ///< Seed low, seed high, position of each.
  /// The tokens of each slot's text, then -1; empty where no text is penalized:
  /// the step then reads none.
  std::vector<int32_t> tokens;
};

/// The candidates that a step made.
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
