//===- EventFile.h - curves for TensorBoard ---------------------*- C++ -*-===//
// A file of records, each an Event of TensorFlow's event.proto with one scalar.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_EVENTFILE_H
#define TESSERA_TOOLS_TESSERA_TRAIN_EVENTFILE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace tessera {

/// Errors are printed; one without a directory swallows everything.
class EventFile {
public:
  /// Starts a new file in the directory, which is made if there is none: a run
  /// that goes on writes beside its earlier file, and TensorBoard joins them.
  bool open(const std::string &directory);
  /// Writes a value after `step` steps; `tag` is "train/loss".
  bool write(const std::string &tag, int64_t step, double value);

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  bool writeRecord(const std::string &event);

  std::unique_ptr<std::FILE, Close> file;
  std::string path;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_EVENTFILE_H
