//===- SessionProcesses.cpp - what the processes of a session agree on ----===//
#include "runtime/session/Session.h"

#include <cstring>

namespace tessera {

namespace {
/// A call between the steps: the rank is in it, so that nobody thinks that it
/// has left for good.
class Between {
public:
  explicit Between(Communicator &communicator) : communicator(communicator) {
    communicator.entered();
  }
  ~Between() { communicator.left(); }

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

Collective Session::overAll(int64_t count, int dtype) const {
  Collective call;
  call.axes = (int64_t(1) << metadata().mesh.axes.size()) - 1;
  call.count = count;
  call.dtype = dtype;
  return call;
}

/// The first failure by rank; OK if no process has one.
Status Session::gatherFailure(const Status &own) const {
  int64_t ranks = metadata().mesh.ranks();
  Note note{};
  note.code = own.code;
  std::strncpy(note.text, own.message.c_str(), sizeof note.text - 1);
  std::vector<Note> notes(ranks);
  check(core->communicator().allGather(
      overAll(sizeof(Note) / sizeof(int32_t), TSR_DTYPE_I32), &note,
      notes.data()));
  for (int64_t rank = 0; own.ok() && rank < ranks; ++rank)
    if (notes[rank].code != TSR_OK)
      return {static_cast<tsr_status>(notes[rank].code),
              concat("rank ", rank, ": ", notes[rank].text)};
  return own;
}

void Session::together(const std::function<void()> &body) const {
  if (hasAllRanks())
    return body();
  Between between(core->communicator());
  Status status;
  try {
    body();
  } catch (...) {
    status = currentStatus();
  }
  check(core->failed() && !status.ok() ? status : gatherFailure(status));
}

int32_t Session::largest(int32_t value) const {
  checkAlive();
  if (hasAllRanks())
    return value;
  Collective call = overAll(1, TSR_DTYPE_I32);
  call.reduction = TSR_REDUCE_MAX;
  Between between(core->communicator());
  check(core->communicator().allReduce(call, &value));
  return value;
}

void Session::checkSame(const std::string &what, int64_t value) const {
  if (hasAllRanks())
    return;
  std::vector<int64_t> values(metadata().mesh.ranks());
  Between between(core->communicator());
  check(core->communicator().allGather(overAll(2, TSR_DTYPE_I32), &value,
                                       values.data()));
  for (size_t rank = 1; rank < values.size(); ++rank)
    if (values[rank] != values[0])
      fail(TSR_MISMATCH, what, " is ", values[0], " for rank 0 and ",
           values[rank], " for rank ", rank,
           "; all processes must see the same files");
}

/// What the first process has gathered goes to all.
void Session::read(const TensorInfo &tensor, double *values) const {
  checkAlive();
  if (hasAllRanks())
    return readGlobal(core->ranks, tensor, values);
  Between between(core->communicator());
  readGlobal(core->ranks, tensor, values);
  Collective call = overAll(tensor.elements(), TSR_DTYPE_F64);
  check(core->communicator().broadcast(call, 0, values));
}

} // namespace tessera
