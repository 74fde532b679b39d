#include "runtime/session/ProcessGroup.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
/// Says that the rank is in a call between the steps, so that nobody thinks
/// that it has left for good.
class Between {
public:
  explicit Between(Communicator &communicator) : communicator(communicator) {
    communicator.entered();
  }
  ~Between() { communicator.left(); }

private:
  Communicator &communicator;
};

/// Says that a process works by itself, with files or its device.
class ByItself {
public:
  explicit ByItself(Communicator &communicator) : communicator(communicator) {
    communicator.worksOnFiles(true);
  }
  ~ByItself() { communicator.worksOnFiles(false); }

private:
  Communicator &communicator;
};

/// A process's failure on its way to the others.
struct Note {
  int32_t code;
  char text[1020];
};

void check(const Status &status) {
  if (!status.ok())
    throw Error(status);
}
} // namespace

Collective ProcessGroup::overAll(int64_t count, int dtype) const {
  Collective call;
  call.axes = (int64_t(1) << core.metadata->mesh.axes.size()) - 1;
  call.count = count;
  call.dtype = dtype;
  return call;
}

/// Returns the first failure by rank; OK if no process has one.
Status ProcessGroup::gatherFailure(const Status &own) const {
  int64_t ranks = core.metadata->mesh.ranks();
  Note note{};
  note.code = own.code;
  std::strncpy(note.text, own.message.c_str(), sizeof note.text - 1);
  std::vector<Note> notes(ranks);
  check(core.communicator().allGather(
      overAll(sizeof(Note) / sizeof(int32_t), TSR_DTYPE_I32), &note,
      notes.data()));
  for (int64_t rank = 0; own.ok() && rank < ranks; ++rank)
    if (notes[rank].code != TSR_OK)
      return {static_cast<tsr_status>(notes[rank].code),
              concat("rank ", rank, ": ", notes[rank].text)};
  return own;
}

void ProcessGroup::together(const std::function<void()> &body) const {
  if (isOne())
    return body();
  Between between(core.communicator());
  Status status;
  try {
    ByItself work(core.communicator());
    body();
  } catch (...) {
    status = currentStatus();
  }
  check(core.failed() && !status.ok() ? status : gatherFailure(status));
}

int32_t ProcessGroup::largest(int32_t value) const {
  if (isOne())
    return value;
  Collective call = overAll(1, TSR_DTYPE_I32);
  call.reduction = TSR_REDUCE_MAX;
  Between between(core.communicator());
  check(core.communicator().allReduce(call, &value));
  return value;
}

std::vector<int64_t> ProcessGroup::gatherAll(int64_t value) const {
  std::vector<int64_t> values(core.metadata->mesh.ranks());
  Between between(core.communicator());
  check(core.communicator().allGather(overAll(2, TSR_DTYPE_I32), &value,
                                      values.data()));
  return values;
}

std::vector<std::string>
ProcessGroup::gatherTexts(const std::string &text) const {
  std::vector<int64_t> lengths = gatherAll(static_cast<int64_t>(text.size()));
  // Each process sends as many words of 32 bits.
  int64_t words = *std::max_element(lengths.begin(), lengths.end()) / 4 + 1;
  std::string own = text, all(4 * words * lengths.size(), '\0');
  own.resize(4 * words);
  Between between(core.communicator());
  check(core.communicator().allGather(overAll(words, TSR_DTYPE_I32), own.data(),
                                      all.data()));
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < lengths.size(); ++rank)
    texts.push_back(all.substr(4 * words * rank, lengths[rank]));
  return texts;
}

void ProcessGroup::checkSame(const std::string &what, int64_t value) const {
  if (isOne())
    return;
  std::vector<int64_t> values = gatherAll(value);
  for (size_t rank = 1; rank < values.size(); ++rank)
    if (values[rank] != values[0])
      fail(TSR_MISMATCH, what, " is ", values[0], " for rank 0 and ",
           values[rank], " for rank ", rank,
           "; all processes must see the same files");
}

void ProcessGroup::gatherToAll(const std::function<void()> &gather,
                               void *values, int64_t count, int dtype) const {
  if (isOne())
    return gather();
  Between between(core.communicator());
  gather();
  check(core.communicator().broadcast(overAll(count, dtype), 0, values));
}

} // namespace tessera
