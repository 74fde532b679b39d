//===- ApiCheckpoint.cpp - tsr_checkpoint_* of the C API ------------------===//
#include "runtime/api/Api.h"
#include "runtime/checkpoint/Checkpoint.h"

using namespace tessera;

struct tsr_checkpoint {
  std::string path, manifest;
};

tsr_status tsr_checkpoint_open(const char *directory,
                               tsr_checkpoint **out_checkpoint) {
  return guarded([&] {
    requirePointer(directory, "directory");
    requirePointer(out_checkpoint, "out_checkpoint");
    const std::string path = findCheckpoint(directory);
    const InputFile file(concat(path, "/", manifestFile));
    readManifest(file); // checks it
    *out_checkpoint = new tsr_checkpoint{path, file.readAll()};
  });
}

void tsr_checkpoint_destroy(tsr_checkpoint *checkpoint) { delete checkpoint; }

const char *tsr_checkpoint_path(const tsr_checkpoint *checkpoint) {
  return checkpoint->path.c_str();
}

const char *tsr_checkpoint_manifest(const tsr_checkpoint *checkpoint) {
  return checkpoint->manifest.c_str();
}
