//===- RequestChecks.h - refusals of what a step cannot run -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_GENERATE_REQUESTCHECKS_H
#define TESSERA_RUNTIME_GENERATE_REQUESTCHECKS_H

#include "runtime/artifact/Metadata.h"
#include "runtime/generate/Request.h"
#include "runtime/generate/StepRows.h"

namespace tessera {

/// Throws TSR_INVALID_ARGUMENT, with what the programs of an artifact take.
class RequestChecks {
public:
  RequestChecks(const Generation &sizes, int64_t vocabulary)
      : sizes(sizes), vocabulary(vocabulary) {}

  void checkRequest(const int32_t *prompt, size_t count,
                    const RequestOptions &options) const;
  /// Nothing follows the last token, so it needs no place.
  void checkScored(const int32_t *tokens, size_t count, size_t given) const;
  void checkSource(const int32_t *source, size_t count) const;
  void checkTokens(const char *what, const int32_t *tokens, size_t count) const;
  void checkSampling(const Sampling &sampling) const;
  /// Checks what the guard of slots does not know of rows that are placed.
  void checkRows(const StepRows &step) const;
  void checkPlace(int64_t lane, int64_t slot) const;

private:
  const Generation &sizes;
  int64_t vocabulary;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_REQUESTCHECKS_H
