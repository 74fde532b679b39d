//===- Adapter.h - adapters of low rank in files ----------------*- C++ -*-===//
// A LoRA adapter (Hu et al. 2021) as Hugging Face's peft has it: a directory
// with adapter_model.safetensors, "base_model.model.MODULE.lora_A.weight"
// [r, in] and lora_B [out, r] of each adapted layer, and adapter_config.json.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_ADAPTER_H
#define TESSERA_RUNTIME_CHECKPOINT_ADAPTER_H

#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/session/Session.h"

#include <string>

namespace tessera {

constexpr const char *adapterFile = "adapter_model.safetensors";
constexpr const char *adapterConfigFile = "adapter_config.json";
/// Before the name of a module of the model.
constexpr const char *adapterPrefix = "base_model.model.";

/// Returns whether a parameter belongs to an adapter, by its name in files.
bool isOfAdapter(const std::string &name);
bool hasAdapters(const Metadata &metadata);

/// The part of an adapter_config.json that says what the adapter computes.
struct AdapterConfig {
  int64_t rank;
  double alpha;
  bool transposed; ///< True if files hold the model's matrices as [in, out].

  double scale() const { return alpha / static_cast<double>(rank); }
};

/// Reads an adapter_config.json. TSR_CORRUPT; TSR_UNSUPPORTED names what makes
/// it another kind of adapter.
AdapterConfig readAdapterConfig(const std::string &source,
                                const std::string &text);

/// A directory's two files. TSR_NOT_FOUND, and as of both.
struct AdapterFiles {
  explicit AdapterFiles(const std::string &directory);

  AdapterConfig config;
  TensorFiles tensors;
};

/// Checks a directory's config. TSR_MISMATCH: the artifact has no adapters, or
/// of another rank or scale; else the errors of reading it.
void checkAdapterConfig(const Metadata &metadata, const std::string &directory);

/// Checks what loadAdapter would read of a directory, but not the model that it
/// was trained beside. TSR_MISMATCH, as there.
void checkAdapter(const Metadata &metadata, const std::string &directory);

/// Loads parameters of the session's adapters. TSR_MISMATCH: it has none, of
/// another rank or scale, or beside other layers; TSR_INVALID_ARGUMENT: the
/// model's own parameters are undefined. Nothing is written before all is
/// checked.
void loadAdapter(Session &session, const std::string &directory);

/// Writes a directory with the weights of a model, each with what its adapter
/// adds to it, and what lies beside them. It must not exist. TSR_MISMATCH: the
/// adapter is of another model.
void mergeAdapter(const std::string &model, const std::string &adapter,
                  const std::string &output);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_ADAPTER_H
