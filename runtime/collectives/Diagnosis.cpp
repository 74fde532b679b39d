#include "runtime/collectives/Diagnosis.h"

#include "runtime/support/DType.h"

#include <cstring>

namespace tessera {

bool isKnown(const Collective &call) {
  return dtypeBytes(call.dtype) != 0 && call.count >= 0 && call.outer >= 0 &&
         (call.reduction == TSR_REDUCE_SUM || call.reduction == TSR_REDUCE_MAX);
}

/// Stages number the ops of programs of their own.
static bool sameOp(const Mesh &mesh, const Collective &a, const Collective &b) {
  bool betweenStages = mesh.stageAxis >= 0 && ((a.axes >> mesh.stageAxis) & 1);
  return betweenStages || a.op == b.op;
}

/// Returns whether an all_to_all turns the two forms into each other.
static bool sameForm(const Offer &a, const Offer &b) {
  return std::strcmp(a.kind, "all_to_all") != 0 ||
         (a.call.rows == b.call.rows &&
          a.call.gathersOuter == b.call.gathersOuter);
}

bool sameCall(const Mesh &mesh, const Offer &a, const Offer &b) {
  return std::strcmp(a.kind, b.kind) == 0 && sameOp(mesh, a.call, b.call) &&
         a.call.count == b.call.count && a.call.dtype == b.call.dtype &&
         a.call.reduction == b.call.reduction && a.call.outer == b.call.outer &&
         a.root == b.root && sameForm(a, b);
}

std::string describeOffer(const Offer &offer) {
  bool hasForm = std::strcmp(offer.kind, "all_to_all") == 0;
  std::string form =
      concat(", ", offer.call.rows, " rows, gathers the ",
             offer.call.gathersOuter ? "outer" : "inner", " dimension");
  return concat(
      offer.kind, " of op ", offer.call.op, " with ", offer.call.outer, " x ",
      offer.call.count, " ", dtypeName(offer.call.dtype), ", reduction ",
      offer.call.reduction, ", root ", offer.root, hasForm ? form : "");
}

/// An op of the artifact is named after its collective already.
std::string describeCall(const Offer &offer, const DescribeOp &describeOp) {
  std::string op = describeOp(offer.call.op);
  bool named = op.rfind(concat(offer.kind, " "), 0) == 0;
  return named ? op : concat(offer.kind, " of ", op);
}

std::string describeDisagreement(const std::string &axes, int64_t rank,
                                 const Offer &own, int64_t other,
                                 const Offer &theirs) {
  return concat("ranks disagree over ", axes, ": rank ", rank, " called ",
                describeOffer(own), ", rank ", other, " called ",
                describeOffer(theirs));
}

std::string describeWay(int64_t sender, int64_t receiver) {
  return concat("from rank ", sender, " to rank ", receiver);
}

std::string describeLengths(const std::string &way, const Offer &own,
                            const Offer &other) {
  return concat("message ", way, ": ", own.kind, " of ", own.call.count,
                " bytes is matched by ", other.kind, " of ", other.call.count,
                " bytes");
}

Status checkMessage(const Mesh &mesh, int64_t rank, const Message &message) {
  const int64_t ranks = mesh.ranks();
  if (message.peer >= 0 && message.peer < ranks && message.peer != rank &&
      message.bytes >= 0)
    return {};
  return {TSR_INTERNAL,
          concat("rank ", rank, " exchanges ", message.bytes,
                 " bytes with rank ", message.peer, " of ", ranks)};
}

std::string describePlace(const RankPlace &place,
                          const DescribeOp &describeOp) {
  return !place.inside  ? "has left the program"
         : place.op < 0 ? "has not reached an op"
                        : "is in " + describeOp(place.op);
}

std::string describeMissing(int64_t rank, const RankPlace &place,
                            const DescribeOp &describeOp) {
  return concat("rank ", rank, " is missing, it ",
                describePlace(place, describeOp));
}

std::string describeRanks(const std::vector<int64_t> &ranks) {
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    list += concat(i == 0                  ? ""
                   : i + 1 == ranks.size() ? " and "
                                           : ", ",
                   ranks[i]);
  return list;
}

std::string describeArrived(const std::vector<int64_t> &ranks) {
  return concat(describeRanks(ranks),
                ranks.size() == 1 ? " has arrived" : " have arrived");
}

} // namespace tessera
