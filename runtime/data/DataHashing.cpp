//===- DataHashing.cpp - hashes of data, beside the training --------------===//
#include "runtime/data/DataHashing.h"

#include "runtime/support/SignalsBlocked.h"
#include "runtime/support/Status.h"

#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace tessera {

/// Lets the ranks have the core whenever they want it.
static void yieldToOthers() {
  sched_param none = {};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
}

DataHashing::DataHashing(std::vector<std::shared_ptr<const TokenFile>> given)
    : files(std::move(given)), hashes(files.size()) {
  SignalsBlocked blocked;
  try {
    thread = std::thread([this] {
      yieldToOthers();
      run();
    });
  } catch (const std::system_error &) { // `wait` does the work
  }
}

DataHashing::~DataHashing() {
  stops = true;
  if (thread.joinable())
    thread.join();
}

void DataHashing::run() {
  isDone = true;
  for (size_t i = 0; i < files.size(); ++i)
    try {
      hashes[i] = hashText(files[i]->contentHash(HashThreads::One, stops));
    } catch (...) {
      hashes[i].clear();
    }
}

std::vector<std::string> DataHashing::wait() {
  if (thread.joinable())
    thread.join();
  if (!isDone)
    run();
  return hashes;
}

} // namespace tessera
