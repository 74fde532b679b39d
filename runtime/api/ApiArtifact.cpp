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

tsr_status tsr_artifact_load_trusted(const char *path, const char *const *keys,
                                     size_t count,
                                     tsr_artifact **out_artifact) {
  return guarded([&] {
    requirePointer(path, "path");
    requirePointer(keys, "keys");
    requirePointer(out_artifact, "out_artifact");
    if (count == 0)
      fail(TSR_INVALID_ARGUMENT, "there are no keys to trust for '", path,
           "'; give one, or take any artifact with tsr_artifact_load");
    std::vector<PublicKey> trusted;
    for (size_t i = 0; i < count; ++i) {
      requirePointer(keys[i], "a name in keys");
      trusted.push_back(readPublicKey(keys[i]));
    }
    *out_artifact = new tsr_artifact{loadArtifact(path, trusted)};
  });
}

tsr_status tsr_artifact_signer(const tsr_artifact *artifact,
                               const char **out_fingerprint) {
  thread_local std::string text;
  return guarded([&] {
    requirePointer(artifact, "artifact");
    requirePointer(out_fingerprint, "out_fingerprint");
    const std::optional<PublicKey> &signer = artifact->content.signer;
    text = signer ? signer->fingerprint() : "";
    *out_fingerprint = text.c_str();
  });
}

tsr_status tsr_artifact_sign(const char *path, const char *key,
                             const void **out_bytes, size_t *out_count) {
  thread_local std::string bytes;
  return guarded([&] {
    requirePointer(path, "path");
    requirePointer(key, "key");
    requirePointer(out_bytes, "out_bytes");
    requirePointer(out_count, "out_count");
    bytes = signArtifact(path, PrivateKey(key));
    *out_bytes = bytes.data();
    *out_count = bytes.size();
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
