//===- StreamedOutput.cpp - a file that is written piece by piece ---------===//

#include "tessera/Target/StreamedOutput.h"
#include "lib/Target/NewFile.h"
#include <unistd.h>

using namespace llvm;

namespace tessera {

static constexpr size_t kBlockBytes = 1 << 20;

struct StreamedOutput::State {
  std::string path, block;
  bool isReplaced = true;
  NewFile fresh;
  HeldFile device;

  int descriptor() const {
    return isReplaced ? fresh.descriptor() : device.descriptor();
  }
};

StreamedOutput::StreamedOutput() : state(std::make_unique<State>()) {}
StreamedOutput::StreamedOutput(StreamedOutput &&) = default;
StreamedOutput::~StreamedOutput() = default;

std::error_code StreamedOutput::open(StringRef path) {
  state->path = path;
  Destination destination;
  if (std::error_code error = findDestination(path, destination))
    return error;
  state->isReplaced = destination.isReplaced;
  return destination.isReplaced ? state->fresh.open(destination.path)
                                : openInto(path, state->device);
}

std::error_code StreamedOutput::append(StringRef bytes) {
  state->block += bytes;
  return state->block.size() < kBlockBytes ? std::error_code() : flush();
}

std::error_code StreamedOutput::flush() {
  std::error_code error = writeBytes(state->descriptor(), state->block);
  state->block.clear();
  return error;
}

std::error_code StreamedOutput::overwrite(uint64_t offset, StringRef bytes) {
  if (std::error_code error = flush())
    return error;
  while (!bytes.empty()) {
    ssize_t done = pwrite(state->descriptor(), bytes.data(), bytes.size(),
                          static_cast<off_t>(offset));
    if (done < 0 && errno != EINTR)
      return lastError();
    offset += std::max<ssize_t>(done, 0);
    bytes = bytes.drop_front(std::max<ssize_t>(done, 0));
  }
  return {};
}

std::error_code StreamedOutput::read(uint64_t offset,
                                     MutableArrayRef<char> bytes) {
  if (std::error_code error = flush())
    return error;
  while (!bytes.empty()) {
    ssize_t done = pread(state->descriptor(), bytes.data(), bytes.size(),
                         static_cast<off_t>(offset));
    if (done < 0 && errno != EINTR)
      return lastError();
    if (done == 0)
      return std::error_code(EIO, std::generic_category()); // was truncated
    offset += std::max<ssize_t>(done, 0);
    bytes = bytes.drop_front(std::max<ssize_t>(done, 0));
  }
  return {};
}

std::string StreamedOutput::temporaryPath() const {
  return state->fresh.temporaryPath();
}

std::pair<std::error_code, std::string>
StreamedOutput::commit(ArrayRef<StreamedOutput *> files) {
  for (StreamedOutput *file : files) {
    std::error_code error = file->flush();
    if (!error)
      error = syncFile(file->state->descriptor());
    if (error)
      return {error, file->state->path};
  }
  for (StreamedOutput *file : files) {
    std::error_code error = file->state->isReplaced
                                ? file->state->fresh.rename()
                                : file->state->device.close();
    if (error)
      return {error, file->state->path};
  }
  return {};
}

} // namespace tessera
