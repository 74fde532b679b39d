//===- Diagnosis.h - what is said of a collective that fails ----*- C++ -*-===//
// The same words for threads of one process and for processes.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_DIAGNOSIS_H
#define TESSERA_RUNTIME_COLLECTIVES_DIAGNOSIS_H

#include "runtime/artifact/Metadata.h"
#include "runtime/collectives/thread/GroupBarrier.h"

#include <functional>

namespace tessera {

/// Names an op of the program.
using DescribeOp = std::function<std::string(int64_t)>;

/// Types, sizes and reduction are such as exist.
bool isKnown(const Collective &call);
bool sameCall(const Mesh &mesh, const Offer &a, const Offer &b);
/// Returns "all_reduce of op 3 with 1 x 8 f32, reduction 0, root 0".
std::string describeOffer(const Offer &offer);
/// Names the collective by its op: "all_reduce 'h.3.mlp' of layer 3 (op 12)".
std::string describeCall(const Offer &offer, const DescribeOp &describeOp);
/// Returns "ranks disagree over axis 'tp': rank 0 called ..., rank 1 called
/// ...".
std::string describeDisagreement(const std::string &axes, int64_t rank,
                                 const Offer &own, int64_t other,
                                 const Offer &theirs);

/// Returns "from rank 0 to rank 1".
std::string describeWay(int64_t sender, int64_t receiver);
/// The sides of a message differ in their bytes.
std::string describeLengths(const std::string &way, const Offer &own,
                            const Offer &other);
/// Checks a message of a rank. OK: it may exchange it.
Status checkMessage(const Mesh &mesh, int64_t rank, const Message &message);

/// Describes where a rank is.
struct RankPlace {
  bool inside = true; ///< in the program
  int64_t op = -1;    ///< -1: it has not reached one
};
/// Returns "is in gemm ..." or "has left the program".
std::string describePlace(const RankPlace &place, const DescribeOp &describeOp);
/// Returns "rank 2 is missing, it is in ...".
std::string describeMissing(int64_t rank, const RankPlace &place,
                            const DescribeOp &describeOp);
/// Returns "rank 4" or "ranks 0, 1 and 3".
std::string describeRanks(const std::vector<int64_t> &ranks);
/// Returns "rank 4 has arrived" or "ranks 0, 1 and 3 have arrived".
std::string describeArrived(const std::vector<int64_t> &ranks);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_DIAGNOSIS_H
