//===- ApiArtifact.cpp - tsr_artifact_* of the C API ----------------------===//
#include "runtime/api/Api.h"

using namespace tessera;

tsr_status tsr_artifact_load(const char *path, tsr_artifact **out_artifact) {
  return guarded([&] {
    requirePointer(path, "path");
    requirePointer(out_artifact, "out_artifact");
    *out_artifact = new tsr_artifact{loadArtifact(path)};
  });
}

void tsr_artifact_destroy(tsr_artifact *artifact) { delete artifact; }

const char *tsr_artifact_metadata(const tsr_artifact *artifact) {
  return artifact->content.text.c_str();
}
int64_t tsr_artifact_ranks(const tsr_artifact *artifact) {
  return artifact->content.metadata->mesh.ranks();
}
int64_t tsr_artifact_batch(const tsr_artifact *artifact) {
  return artifact->content.metadata->model.batch;
}
int64_t tsr_artifact_sequence(const tsr_artifact *artifact) {
  return artifact->content.metadata->model.sequence;
}
int64_t tsr_artifact_target(const tsr_artifact *artifact) {
  const std::optional<Decoder> &decoder =
      artifact->content.metadata->model.decoder;
  return decoder ? decoder->target : 0;
}
int64_t tsr_artifact_columns(const tsr_artifact *artifact) {
  return artifact->content.metadata->model.columns();
}
int64_t tsr_artifact_vocabulary(const tsr_artifact *artifact) {
  return artifact->content.metadata->model.vocabulary;
}
