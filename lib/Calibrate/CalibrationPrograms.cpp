//===- CalibrationPrograms.cpp - what calibrate runs ----------------------===//

#include "lib/Calibrate/CalibrationPrograms.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace tessera;
namespace json = llvm::json;

using Family = CalibrationFamily;
using ModelSize = CalibrationModel;

static json::Object gpt2Config(const ModelSize &size) {
  return json::Object{{"model_type", "gpt2"},   {"n_positions", size.sequence},
                      {"n_embd", size.hidden},  {"n_inner", size.inner},
                      {"n_layer", size.layers}, {"n_head", size.heads},
                      {"resid_pdrop", 0.0},     {"embd_pdrop", 0.0},
                      {"attn_pdrop", 0.0}};
}

static json::Object otherConfig(const ModelSize &size) {
  json::Object config{{"max_position_embeddings", size.sequence},
                      {"hidden_size", size.hidden},
                      {"intermediate_size", size.inner},
                      {"num_hidden_layers", size.layers},
                      {"num_attention_heads", size.heads}};
  if (size.family == Family::Bert) {
    config["model_type"] = "bert";
    config["mask_token_id"] = size.vocabulary - 1;
    config["hidden_dropout_prob"] = 0.0;
    config["attention_probs_dropout_prob"] = 0.0;
    return config;
  }
  config["model_type"] = "llama";
  config["num_key_value_heads"] = size.heads / 2;
  config["rms_norm_eps"] = 1e-5;
  if (size.family == Family::Mixtral) {
    config["model_type"] = "mixtral";
    config["num_local_experts"] = size.experts;
    config["num_experts_per_tok"] = 2;
  }
  return config;
}

static std::string configOf(const ModelSize &size) {
  json::Object config =
      size.family == Family::Gpt2 ? gpt2Config(size) : otherConfig(size);
  config["vocab_size"] = size.vocabulary;
  return llvm::formatv("{0}", json::Value(std::move(config)));
}

CalibrationProgram tessera::programOf(const ModelSize &size,
                                      Precision precision, MeshAxis axis,
                                      int64_t ranks) {
  CalibrationProgram program;
  program.config = configOf(size);
  PlanOptions &plan = program.plan;
  plan.precision = precision;
  plan.evaluation = false;
  plan.sizes.sequence = size.sequence;
  bool splitsBatch = axis == MeshAxis::Data || axis == MeshAxis::Expert;
  plan.sizes.batch = size.batch * (splitsBatch ? ranks : 1);
  if (ranks > 1)
    plan.mesh.axes = {{axis, ranks}};
  plan.learningRate.totalSteps = 1000;
  plan.communication.overlap = false; // so that transfers are timed alone
  return program;
}

static std::vector<ModelSize> computedSizes(bool isQuick) {
  if (isQuick)
    return {{Family::Llama, 64, 160, 2, 128, 32, 2}};
  return {
      {Family::Gpt2, 96, 384, 3, 192, 64, 2},
      {Family::Gpt2, 192, 768, 6, 384, 96, 4},
      {Family::Gpt2, 192, 768, 3, 384, 256, 16}, // kernels beyond the caches
      {Family::Llama, 288, 800, 8, 1000, 256, 2},
      {Family::Bert, 320, 1280, 5, 600, 160, 3}, // attention without a mask
      {Family::Bert, 256, 640, 8, 300, 256, 2},
      {Family::Gpt2, 384, 1536, 6, 1200, 192, 3},
      {Family::Llama, 480, 1280, 10, 640, 96, 8},
      {Family::Gpt2, 576, 2304, 9, 500, 320, 1},
      {Family::Llama, 896, 2432, 14, 700, 128, 2},
      {Family::Gpt2, 320, 1280, 5, 300, 128, 1}, // short sums of gradients
      {Family::Llama, 448, 1216, 8, 400, 96, 1},
      {Family::Mixtral, 192, 416, 6, 384, 256, 2},
      {Family::Mixtral, 480, 800, 8, 500, 160, 2},
      {Family::Mixtral, 320, 352, 8, 500, 192, 5, 1, 8},
      {Family::Mixtral, 160, 224, 4, 300, 96, 3, 1, 8},
  };
}

static std::vector<ModelSize> linkSizes(bool isQuick) {
  if (isQuick)
    return {{Family::Gpt2, 64, 160, 2, 128, 32, 2, 2}};
  return {{Family::Gpt2, 32, 128, 2, 128, 16, 2, 2},
          {Family::Gpt2, 96, 384, 6, 192, 96, 4, 2},
          {Family::Gpt2, 352, 1408, 4, 500, 160, 6, 2},
          {Family::Gpt2, 768, 3072, 12, 2000, 192, 2, 2}};
}

static std::vector<ModelSize> exchangeSizes(bool isQuick) {
  if (isQuick)
    return {{Family::Mixtral, 64, 96, 2, 128, 32, 2}};
  return {{Family::Mixtral, 96, 128, 6, 192, 96, 3},
          {Family::Mixtral, 352, 256, 4, 500, 160, 4, 1, 8}};
}

static void addLinkPrograms(std::vector<CalibrationProgram> &programs,
                            bool isQuick) {
  for (const ModelSize &size : linkSizes(isQuick)) {
    auto add = [&](MeshAxis axis) -> PlanOptions & {
      programs.push_back(programOf(size, Precision::F32, axis, kLinkRanks));
      programs.back().isForLink = true;
      return programs.back().plan;
    };
    add(MeshAxis::Tensor);
    add(MeshAxis::Data).communication.bucketBytes = 0;
    add(MeshAxis::Data).strategies.zero = ZeroStage::Parameters;
    add(MeshAxis::Pipeline).sizes.microBatches = 2;
  }
  for (const ModelSize &size : exchangeSizes(isQuick)) {
    programs.push_back(
        programOf(size, Precision::F32, MeshAxis::Expert, kLinkRanks));
    programs.back().isForLink = true;
  }
}

std::vector<CalibrationProgram> tessera::calibrationPrograms(int64_t cores,
                                                             bool isQuick) {
  std::vector<CalibrationProgram> programs;
  // Each number of ranks that a power of two of threads leaves cores for.
  for (int64_t threads = 1; threads <= cores; threads *= 2)
    for (Precision precision : {Precision::F32, Precision::BF16})
      for (const ModelSize &size : computedSizes(isQuick))
        programs.push_back(
            programOf(size, precision, MeshAxis::Data, cores / threads));
  addLinkPrograms(programs, isQuick);
  return programs;
}
