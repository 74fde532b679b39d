#include "runtime/collectives/process/HostSums.h"

#include "runtime/support/DType.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>

namespace tessera {

// A piece is long enough that its stages' waits do not count, and there are
// enough of them that the first and the last one do not.
static constexpr int64_t pieceBytes = 1 << 18, mostPieces = 16;

void reduceOn(int threads, const Reduction &what, int64_t count,
              const std::vector<void *> &targets) {
  int64_t bytes = count * dtypeBytes(what.dtype) * what.sources.size();
  int64_t pieces =
      std::clamp<int64_t>(bytes / threadBytes, 1, std::max(threads, 1));
  inParallel(static_cast<int>(pieces), [&](int64_t piece) {
    reduceRange(what, count * piece / pieces, count * (piece + 1) / pieces,
                targets, 0);
  });
}

MemberPart partOf(int64_t count, int64_t size, int64_t member) {
  int64_t part = (count + size - 1) / size;
  part = (part + partElements - 1) / partElements * partElements;
  int64_t begin = std::min(member * part, count);
  return {begin, std::min(begin + part, count)};
}

/// Returns the members of other hosts whose parts a member sums, or spreads,
/// for its own host.
static std::vector<int64_t> dutiesOf(const HostTree &tree, int64_t member) {
  const int64_t host = tree.hostOf(member);
  std::vector<int64_t> duties;
  for (int64_t other = 0; other < tree.size(); ++other)
    if (tree.hostOf(other) != host && tree.deputyOf(host, other) == member)
      duties.push_back(other);
  return duties;
}

namespace {
/// A source of a sum, and the nodes that it stands for.
struct Term {
  TreeNode node;
  const void *data;
};

/// Gathers a part of each member, in two stages: to one member of each host,
/// and from there to the others of the host.
class HostGather {
public:
  static constexpr int stages = 2;

  HostGather(GroupCall &call, OutBytes own, std::vector<InBytes> parts)
      : call(call), own(own), parts(std::move(parts)), tree(call.group.hosts),
        member(call.group.member), host(tree.hostOf(member)),
        duties(dutiesOf(tree, member)) {}

  void post(int stage) { stage == 0 ? postAcross() : postHere(); }
  void finish(int) {}

private:
  void receive(int64_t from, int64_t part) {
    const InBytes &room = parts[static_cast<size_t>(part)];
    call.receive(from, room.data, room.bytes);
  }
  void postAcross();
  void postHere();

  GroupCall &call;
  OutBytes own;
  std::vector<InBytes> parts;
  const HostTree &tree;
  int64_t member, host;
  std::vector<int64_t> duties;
};

void HostGather::postAcross() {
  for (int64_t other = 0; other < tree.hosts(); ++other)
    if (other != host)
      call.send(tree.deputyOf(other, member), own.data, own.bytes);
  for (int64_t part : duties)
    receive(part, part);
  for (int64_t peer : tree.membersOf(host))
    if (peer != member) {
      call.send(peer, own.data, own.bytes);
      receive(peer, peer);
    }
}

void HostGather::postHere() {
  for (int64_t peer : tree.membersOf(host)) {
    if (peer == member)
      continue;
    call.meet(peer);
    for (int64_t part : duties)
      call.send(peer, parts[static_cast<size_t>(part)].data,
                parts[static_cast<size_t>(part)].bytes);
    for (int64_t part : dutiesOf(tree, peer))
      receive(peer, part);
  }
}

/// Sums what belongs to each member, in two stages: on the hosts, and of their
/// sums.
class HostSums {
public:
  static constexpr int stages = 2;

  HostSums(GroupCall &call, const SumOptions &options,
           std::vector<Addend> addends, Scratch &scratch, void *result)
      : call(call), options(options), addends(std::move(addends)),
        scratch(scratch), result(result), tree(call.group.hosts),
        own(call.group.member), host(tree.hostOf(own)),
        duties(dutiesOf(tree, own)) {}

  void post(int stage) { stage == 0 ? postAddends() : postSums(); }
  void finish(int stage) { stage == 0 ? addHere() : addAll(); }

private:
  int64_t countOf(int64_t member) const {
    return addends[static_cast<size_t>(member)].count;
  }
  int64_t bytesOf(int64_t member) const {
    return countOf(member) * dtypeBytes(options.dtype);
  }
  const unsigned char *addendOf(int64_t member) const {
    return addends[static_cast<size_t>(member)].data;
  }
  void postAddends();
  void addHere();
  void postSums();
  void receiveTerms();
  void addAll();
  void reduce(const std::vector<Term> &sources, TreeNode node, bool isPartial,
              int64_t count, void *to) const;

  GroupCall &call;
  SumOptions options;
  std::vector<Addend> addends;
  Scratch &scratch;
  void *result;
  const HostTree &tree;
  int64_t own, host;
  std::vector<int64_t> duties;
  std::vector<std::vector<Term>> leaves;   ///< this host's, for each duty
  std::vector<std::vector<OutBytes>> sums; ///< this host's, for each duty
  std::vector<Term> terms;                 ///< sources of this member's part
};

/// Brings this host's addends of other hosts' parts to those who add them.
void HostSums::postAddends() {
  leaves.resize(duties.size());
  for (int64_t peer : tree.membersOf(host)) {
    for (size_t i = 0; i < duties.size(); ++i) {
      const unsigned char *data = addendOf(duties[i]);
      if (peer != own) {
        unsigned char *room = scratch.take(bytesOf(duties[i]));
        call.receive(peer, room, bytesOf(duties[i]));
        data = room;
      }
      leaves[i].push_back({{peer, 1}, data});
    }
    if (peer == own)
      continue;
    call.meet(peer);
    for (int64_t part : dutiesOf(tree, peer))
      call.send(peer, addendOf(part), bytesOf(part));
  }
}

/// Makes the sums of this host's largest subtrees. A leaf is sent as it is.
void HostSums::addHere() {
  sums.resize(duties.size());
  for (size_t i = 0; i < duties.size(); ++i) {
    const int64_t part = duties[i];
    auto next = leaves[i].begin();
    for (const TreeNode &node : tree.nodesOf(host)) {
      const std::vector<Term> below(next, next + node.size);
      next += node.size;
      if (!node.isSum()) {
        sums[i].push_back({below[0].data, bytesOf(part)});
        continue;
      }
      const int64_t bytes = countOf(part) * partialBytes(options.dtype);
      unsigned char *sum = scratch.take(bytes);
      reduce(below, node, true, countOf(part), sum);
      sums[i].push_back({sum, bytes});
    }
  }
}

void HostSums::postSums() {
  for (size_t i = 0; i < duties.size(); ++i)
    for (const OutBytes &sum : sums[i])
      call.send(duties[i], sum.data, sum.bytes);
  receiveTerms();
}

/// The members of this host send their addends, a deputy of each other host
/// sends its sums.
void HostSums::receiveTerms() {
  for (int64_t peer : tree.membersOf(host)) {
    const unsigned char *data = addendOf(own);
    if (peer != own) {
      unsigned char *room = scratch.take(bytesOf(own));
      call.send(peer, addendOf(peer), bytesOf(peer));
      call.receive(peer, room, bytesOf(own));
      data = room;
    }
    terms.push_back({{peer, 1}, data});
  }
  for (int64_t other = 0; other < tree.hosts(); ++other) {
    if (other == host)
      continue;
    for (const TreeNode &node : tree.nodesOf(other)) {
      const int64_t bytes =
          countOf(own) * (node.isSum() ? partialBytes(options.dtype)
                                       : dtypeBytes(options.dtype));
      unsigned char *room = scratch.take(bytes);
      call.receive(tree.deputyOf(other, own), room, bytes);
      terms.push_back({node, room});
    }
  }
}

void HostSums::addAll() {
  std::sort(terms.begin(), terms.end(), [](const Term &a, const Term &b) {
    return a.node.begin < b.node.begin;
  });
  reduce(terms, {0, tree.size()}, false, countOf(own), result);
}

void HostSums::reduce(const std::vector<Term> &sources, TreeNode node,
                      bool isPartial, int64_t count, void *to) const {
  std::vector<TreeNode> cover;
  std::vector<const void *> data;
  for (const Term &term : sources) {
    cover.push_back(term.node);
    data.push_back(term.data);
  }
  const PartialSums partial{sumsOf(cover, node), isPartial};
  reduceOn(options.threads, {options.dtype, options.reduction, data, &partial},
           count, {to});
}

/// One piece of an all-reduce: it is summed, then gathered.
class HostPiece {
public:
  static constexpr int stages = HostSums::stages + HostGather::stages;

  HostPiece(GroupCall &call, const SumOptions &options, Scratch &scratch,
            unsigned char *data, int64_t count)
      : sums(call, options, addendsOf(call, options, data, count), scratch,
             partsOf(call, options, data, count)[call.group.member].data),
        whole(call, ownOf(call, options, data, count),
              partsOf(call, options, data, count)) {}

  void post(int stage) {
    stage < HostSums::stages ? sums.post(stage)
                             : whole.post(stage - HostSums::stages);
  }
  void finish(int stage) {
    if (stage < HostSums::stages)
      sums.finish(stage);
  }

private:
  static std::vector<InBytes> partsOf(const GroupCall &call,
                                      const SumOptions &options,
                                      unsigned char *data, int64_t count) {
    const int64_t element = dtypeBytes(options.dtype);
    std::vector<InBytes> parts;
    for (int64_t i = 0; i < call.group.size(); ++i) {
      const MemberPart part = partOf(count, call.group.size(), i);
      parts.push_back(
          {data + part.begin * element, (part.end - part.begin) * element});
    }
    return parts;
  }
  static OutBytes ownOf(const GroupCall &call, const SumOptions &options,
                        unsigned char *data, int64_t count) {
    const InBytes own = partsOf(call, options, data, count)[call.group.member];
    return {own.data, own.bytes};
  }
  static std::vector<Addend> addendsOf(const GroupCall &call,
                                       const SumOptions &options,
                                       unsigned char *data, int64_t count) {
    std::vector<Addend> addends;
    for (const InBytes &part : partsOf(call, options, data, count))
      addends.push_back({static_cast<unsigned char *>(part.data),
                         part.bytes / dtypeBytes(options.dtype)});
    return addends;
  }

  HostSums sums;
  HostGather whole;
};

/// Runs the stages of all pieces, each piece one stage behind the one before.
template <class Piece>
Status runStages(GroupCall &call, std::vector<Piece> &pieces) {
  const auto count = static_cast<int>(pieces.size());
  for (int step = 0; step < count + Piece::stages - 1; ++step) {
    const int first = std::max(step - Piece::stages + 1, 0),
              last = std::min(step, count - 1);
    for (int i = first; i <= last; ++i)
      pieces[i].post(step - i);
    if (Status status = call.exchange(); !status.ok())
      return status;
    for (int i = first; i <= last; ++i)
      pieces[i].finish(step - i);
  }
  return {};
}
} // namespace

Status scatterHostSums(GroupCall &call, const SumOptions &options,
                       const std::vector<Addend> &addends, Scratch &scratch,
                       void *result) {
  std::vector<HostSums> one;
  one.emplace_back(call, options, addends, scratch, result);
  return runStages(call, one);
}

Status reduceOverHosts(GroupCall &call, const SumOptions &options, void *data,
                       int64_t count, Scratch &scratch) {
  const int64_t element = dtypeBytes(options.dtype);
  const int64_t pieces =
      std::clamp<int64_t>(count * element / pieceBytes, 1, mostPieces);
  std::vector<HostPiece> all;
  for (int64_t i = 0; i < pieces; ++i) {
    const MemberPart piece = partOf(count, pieces, i);
    all.emplace_back(call, options, scratch,
                     static_cast<unsigned char *>(data) + piece.begin * element,
                     piece.end - piece.begin);
  }
  return runStages(call, all);
}

Status gatherOverHosts(GroupCall &call, OutBytes own,
                       const std::vector<InBytes> &parts) {
  std::vector<HostGather> one;
  one.emplace_back(call, own, parts);
  return runStages(call, one);
}

} // namespace tessera
