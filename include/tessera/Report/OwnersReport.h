//===- OwnersReport.h - a parameter server over dp, in numbers --*- C++ -*-===//
// Compares what each rank of `dp` owns, sends and receives with an all-reduce
// of the same gradients.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_REPORT_OWNERSREPORT_H
#define TESSERA_REPORT_OWNERSREPORT_H

#include "tessera/Program/Program.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera {

struct OwnersReport {
  /// The parameters of one rank, and what they take; bytes are per optimizer
  /// step.
  struct Owner {
    int64_t tensors = 0, elements = 0, stateBytes = 0;
    int64_t sent = 0, received = 0, arenaBytes = 0;
  };

  /// Returns nothing where the program has no owners.
  static std::optional<OwnersReport> of(const program::Program &program);
  std::string text(size_t width) const;
  llvm::json::Object json() const;

  std::vector<Owner> owners;
  int64_t busiest = 0; ///< The owner that sends and receives most.
  /// The bytes of all parameters of a rank, and of their moments.
  int64_t parameterBytes = 0, stateBytes = 0;

private:
  void addTensor(const program::Tensor &tensor);
  /// A ring sends, and receives, 2 (n - 1) / n of the gradients.
  int64_t ringBytes() const;
};

} // namespace tessera

#endif // TESSERA_REPORT_OWNERSREPORT_H
