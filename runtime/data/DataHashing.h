//===- DataHashing.h - hashes of data, beside the training ------*- C++ -*-===//
// A run that begins has nothing to compare its data with, but its checkpoints
// name them. To hash terabytes takes a while, in which the run trains.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_DATAHASHING_H
#define TESSERA_RUNTIME_DATA_DATAHASHING_H

#include "runtime/data/TokenFile.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tessera {

class DataHashing {
public:
  /// Starts a thread that hashes all tokens of the files.
  explicit DataHashing(std::vector<std::shared_ptr<const TokenFile>> files);
  DataHashing(const DataHashing &) = delete;
  DataHashing &operator=(const DataHashing &) = delete;
  /// Ends the thread.
  ~DataHashing();

  /// The hash of each file. A file that cannot be read has "": whoever trains
  /// on it gets the error, and what was trained is saved without it.
  std::vector<std::string> wait();

private:
  void run();

  bool isDone = false;
  std::vector<std::shared_ptr<const TokenFile>> files;
  std::vector<std::string> hashes;
  std::atomic<bool> stops = false;
  std::thread thread;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATAHASHING_H
