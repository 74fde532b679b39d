//===- DataHashing.h - hashes of data, beside the training ------*- C++ -*-===//
// A run that begins has nothing to compare its data with, but its checkpoints
// hold their hashes. Hashing terabytes takes long, so the run trains meanwhile.
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
  /// Stops the thread and waits for its end.
  ~DataHashing();

  /// Returns the hash of each file, or "" for one that cannot be read: training
  /// reports that error, and checkpoints are saved without the hash.
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
