//===- WeightsTest.cpp - loading `transformers` weights -------------------===//
#include "test/Runtime/checkpoint/WeightFiles.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace fixture;
using nlohmann::json;

namespace {

tsr_status load(Training &training, const std::vector<Entry> &entries) {
  std::string path = training.directory / "model.safetensors";
  writeFile(path, safetensorsOf(entries));
  return tsr_session_load_weights(training.session, path.c_str());
}

std::string notes(const Training &training) {
  return tsr_session_notes(training.session);
}

TEST(Weights, WithAndWithoutPrefixAndExtras) {
  for (const char *name : {"w", "transformer.w"}) {
    Training training(1, 4);
    Entry mask = {"h.0.attn.bias", "BOOL", {1, 3}, "abc"};
    Entry head = {
        "lm_head.weight", "F32", {1}, bytesOf(std::vector<float>{NAN})};
    ASSERT_EQ(load(training, {mask, weight(name), bias, head}), TSR_OK)
        << tsr_last_error();
    EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
    EXPECT_EQ(training.read("parameter", "transformer.bias", 1)[0], 2);
  }
}

TEST(Weights, FromADirectoryWithoutInit) {
  TemporaryDirectory directory;
  writeFile(directory / "model.safetensors",
            safetensorsOf({weight("w"), bias}));
  std::string path = writeArtifact(directory / "model.tsr", 1, 1);
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
  tsr_session_options options = {};
  options.size = sizeof options;
  options.poison = 1;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  ASSERT_EQ(tsr_session_create(artifact, &options, &session), TSR_OK);
  ASSERT_EQ(tsr_session_load_weights(session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  double moment = 1;
  ASSERT_EQ(
      tsr_session_read(session, "moment1", "transformer.bias", &moment, 1),
      TSR_OK);
  EXPECT_EQ(moment, 0);
  EXPECT_EQ(tsr_session_next_step(session), 0);
  EXPECT_EQ(tsr_session_save(session, (directory / "runs").c_str()), TSR_OK)
      << tsr_last_error(); // all is defined
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
}

TEST(Weights, KeepWhereTheTrainingIs) {
  Training training(1, 1);
  for (int64_t i = 0; i < 2; ++i)
    ASSERT_EQ(training.step(i), TSR_OK) << tsr_last_error();
  std::vector<double> moments = training.read("moment1", "transformer.w", V);
  ASSERT_NE(moments, std::vector<double>(V, 0));
  ASSERT_EQ(load(training, {weight("w"), bias}), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
  EXPECT_EQ(training.read("moment1", "transformer.w", V), moments);
  EXPECT_EQ(tsr_session_next_step(training.session), 2);
}

/// A tensor whose first dimension is cut into tensors of the file.
TEST(Weights, StackedTensorsAreSlicesInTheFile) {
  Training training(1, 1, {}, renamed("transformer.w", "transformer.h.*.w"));
  auto slice = [](int64_t k, std::vector<int64_t> shape) {
    std::vector<float> all = ramp();
    return Entry{"h." + std::to_string(k) + ".w", "F32", std::move(shape),
                 bytesOf(std::vector<float>{all[2 * k], all[2 * k + 1]})};
  };
  std::vector<Entry> entries = {bias};
  for (int64_t k = 0; k < V / 2; ++k)
    entries.push_back(slice(k, {2}));
  ASSERT_EQ(load(training, entries), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.h.*.w", V), expected());
  TemporaryDirectory directory;
  ASSERT_EQ(tsr_session_save(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(tsr_session_load(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.h.*.w", V), expected());
  std::string file = directory / "step-00000000/model.safetensors";
  ASSERT_EQ(tsr_session_load_weights(training.session, file.c_str()), TSR_OK)
      << tsr_last_error();
  entries.back() = slice(V / 2 - 1, {1, 2});
  EXPECT_EQ(load(training, entries), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "has shape [1, 2], the artifact has [2]");
  entries.pop_back();
  EXPECT_EQ(load(training, entries), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "has no tensor 'transformer.h.4.w'");
}

TEST(Weights, HalfTypesAreWidened) {
  std::vector<uint16_t> bf16, f16;
  for (float value : ramp()) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bf16.push_back(static_cast<uint16_t>(bits >> 16)); // exact
    int exponent;
    float mantissa = std::frexp(std::fabs(value), &exponent);
    f16.push_back(static_cast<uint16_t>(
        (value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) |
        static_cast<int>(mantissa * 2048 - 1024)));
  }
  Training training(1, 4);
  ASSERT_EQ(load(training, {{"w", "BF16", {V / 2, 2}, bytesOf(bf16)}, bias}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(load(training, {{"w", "F16", {V / 2, 2}, bytesOf(f16)}, bias}),
            TSR_OK);
  EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
}

TEST(Weights, MismatchesAreNamedAndChangeNothing) {
  Training training(1, 4);
  std::vector<double> before = training.state();
  EXPECT_EQ(load(training, {weight("w")}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "no tensor 'transformer.bias'");
  Entry flat = weight("w");
  flat.shape = {V};
  EXPECT_EQ(load(training, {flat, bias}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "[10], the artifact has [5, 2]");
  Entry integers = weight("w");
  integers.dtype = "I32";
  EXPECT_EQ(load(training, {integers, bias}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "is I32");
  Entry nan = bias;
  nan.data = bytesOf(std::vector<float>{NAN});
  EXPECT_EQ(load(training, {weight("w"), nan}), TSR_CORRUPT);
  EXPECT_EQ(training.state(), before);
}

TEST(Weights, DamagedFilesAreRefused) {
  Training training(1, 1);
  std::string good = safetensorsOf({weight("w"), bias});
  std::string path = training.directory / "weights";
  auto status = [&](const std::string &content) {
    writeFile(path, content);
    return tsr_session_load_weights(training.session, path.c_str());
  };
  ASSERT_EQ(status(good), TSR_OK);
  for (size_t length = 0; length < good.size(); ++length)
    ASSERT_NE(status(good.substr(0, length)), TSR_OK) << length;
  for (size_t position = 0; position < 160; ++position) {
    std::string changed = good;
    changed[position] ^= 1;
    status(changed); // any answer but a crash
  }
  EXPECT_EQ(status(std::string(8, '\xFF') + good), TSR_CORRUPT);
}

/// Gives the fixture's w a bf16 parameter and an f32 master.
void withMaster(json &m) {
  json master = m["tensors"][0];
  master["role"] = "master";
  master["offset"] = m["arena"]["bytes"];
  m["tensors"][0]["dtype"] = "bf16";
  m["tensors"].push_back(master);
  m["arena"]["bytes"] = m["arena"]["bytes"].get<int>() + 64;
}

TEST(Weights, ParameterIsTheRoundingOfItsMaster) {
  Training training(1, 1, {}, withMaster);
  // f32 makes this the tie 257, which goes to the even 256; rounding it at once
  // would give 258.
  training.write("parameter", "transformer.w",
                 std::vector<double>(V, 257 + 1e-9));
  EXPECT_EQ(training.read("master", "transformer.w", V)[0], 257);
  EXPECT_EQ(training.read("parameter", "transformer.w", V)[0], 256);
}

TEST(Weights, MasterKeepsWhatBf16Rounds) {
  Training training(1, 1, {}, withMaster);
  std::vector<float> values(V, 1.001f);
  Entry precise = {"w", "F32", {V / 2, 2}, bytesOf(values)};
  ASSERT_EQ(load(training, {precise, bias}), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V)[0], 1.0);
  EXPECT_EQ(training.read("master", "transformer.w", V)[0], 1.001f);
  // A checkpoint holds both.
  TemporaryDirectory directory;
  ASSERT_EQ(tsr_session_save(training.session, directory.path.c_str()), TSR_OK);
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(tsr_session_load(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V)[0], 1.0);
  EXPECT_EQ(training.read("master", "transformer.w", V)[0], 1.001f);
}

/// Powers of two and halves, the largest and the smallest numbers of f16.
TEST(Weights, F16IsExact) {
  std::vector<uint16_t> bits = {0x0000, 0x8000, 0x0001, 0x03FF, 0x0400,
                                0x3C00, 0x3C01, 0xC100, 0x7BFF, 0xFBFF};
  ASSERT_EQ(bits.size(), size_t(V));
  Training training(1, 4);
  ASSERT_EQ(load(training, {{"w", "F16", {V / 2, 2}, bytesOf(bits)}, bias}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V),
            (std::vector<double>{0.0, -0.0, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, 1,
                                 1 + 0x1p-10, -2.5, 65504, -65504}));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST(WeightNames, OldNamesOfNorms) {
  const std::string norm = "bert.encoder.layer.0.output.LayerNorm.";
  Training training(1, 4, {}, [&](json &m) {
    renamed("transformer.w", norm + "weight")(m);
    renamed("transformer.bias", norm + "bias")(m);
  });
  ASSERT_EQ(load(training, {weight("encoder.layer.0.output.LayerNorm.gamma"),
                            number(norm + "beta", 3)}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", (norm + "weight").c_str(), V),
            expected());
  EXPECT_EQ(training.read("parameter", (norm + "bias").c_str(), 1)[0], 3);
  EXPECT_EQ(notes(training), "");
}

TEST(WeightNames, PrefixesOfEachFamily) {
  for (std::string prefix : {"transformer.", "model.", "bert."})
    for (std::string given : {"", prefix.c_str()}) {
      Training training(1, 1, {}, renamed("transformer.w", prefix + "w"));
      ASSERT_EQ(load(training, {weight(given + "w"), bias}), TSR_OK)
          << tsr_last_error();
      EXPECT_EQ(training.read("parameter", (prefix + "w").c_str(), V),
                expected());
    }
}

TEST(WeightNames, TwoNamesOfOneTensorAreRefused) {
  Training training(1, 1);
  std::vector<double> before = training.state();
  EXPECT_EQ(load(training, {weight("w"), weight("transformer.w"), bias}),
            TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "has both 'transformer.w' and 'w'");
  EXPECT_EQ(training.state(), before);
}

TEST(WeightNames, BuffersAreIgnoredSilently) {
  Training training(1, 1);
  std::vector<Entry> entries = {weight("w"), bias};
  for (const char *name :
       {"h.0.attn.bias", "transformer.h.11.attn.masked_bias",
        "bert.embeddings.position_ids", "embeddings.token_type_ids",
        "model.layers.3.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq",
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias."
        "weight"})
    entries.push_back({name, "BOOL", {1, 3}, "abc"});
  ASSERT_EQ(load(training, entries), TSR_OK) << tsr_last_error();
  EXPECT_EQ(notes(training), "");
}

TEST(WeightNames, WhatTheArtifactHasNotIsNamed) {
  Training training(1, 1);
  ASSERT_EQ(load(training,
                 {weight("w"), bias, number("cls.seq.bias", 1),
                  number("bert.pooler.dense.bias", 1),
                  number("layers.0.q_proj.bias", 1),
                  number("layers.1.q_proj.bias", 1), number("odd.bias", 1)}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_CONTAINS(notes(training),
                  "'cls.seq.bias', 'bert.pooler.dense.bias' ignored: the "
                  "model has no such head");
  EXPECT_CONTAINS(notes(training),
                  "'layers.*.q_proj.bias' (2 tensors), 'odd.bias' ignored: "
                  "the artifact has no such parameter");
  ASSERT_EQ(load(training, {weight("w"), bias}), TSR_OK);
  EXPECT_EQ(notes(training), "") << "of the last call alone";
}

/// Buffers and heads change no model, so a file with them is loaded.
TEST(WeightNames, UnknownKeysRefuseUnknownTensors) {
  Training training(1, 1, {}, [](json &m) {
    m["model"]["unknown_keys"] = {"norm_kind", "shape"};
  });
  ASSERT_EQ(load(training, {weight("w"), bias, number("cls.seq.bias", 1)}),
            TSR_OK)
      << tsr_last_error();
  std::vector<Entry> more = {weight("w"), bias,
                             number("layers.0.self_attn.q_norm.weight", 1),
                             number("layers.1.self_attn.q_norm.weight", 1)};
  EXPECT_EQ(load(training, more), TSR_MISMATCH);
  EXPECT_CONTAINS(std::string(tsr_last_error()),
                  "holds 'layers.*.self_attn.q_norm.weight' (2 tensors), which "
                  "the model lacks, and its config.json has 'norm_kind', "
                  "'shape', which Tessera does not know");
}

/// The same values as tsr_session_init draws, on any mesh.
TEST(WeightNames, MissingHeadIsDrawn) {
  for (int tp : {1, 4}) {
    Training training(1, tp, {}, renamed("transformer.w", "lm_head.weight"));
    std::vector<double> drawn = training.read("parameter", "lm_head.weight", V);
    training.write("parameter", "lm_head.weight", std::vector<double>(V, 7));
    ASSERT_EQ(load(training, {bias}), TSR_OK) << tsr_last_error();
    EXPECT_EQ(training.read("parameter", "lm_head.weight", V), drawn);
    EXPECT_EQ(training.read("parameter", "transformer.bias", 1)[0], 2);
    EXPECT_CONTAINS(notes(training), "has no 'lm_head.weight'; the head starts "
                                     "from its initial values");
  }
}

TEST(WeightNames, MissingParameterIsAnError) {
  Training training(1, 1, {}, [](json &m) {
    renamed("transformer.w", "transformer.h.*.w")(m);
    renamed("transformer.bias", "lm_head.weight")(m);
  });
  std::vector<double> before = training.read("parameter", "lm_head.weight", 1);
  EXPECT_EQ(load(training, {number("lm_head.weight", 1)}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(),
                  "has no tensor 'transformer.h.*.w' (5 tensors)");
  EXPECT_EQ(training.read("parameter", "lm_head.weight", 1), before);
}

TEST(WeightNames, HeadWithoutInitialValuesIsMissing) {
  TemporaryDirectory directory;
  std::string path = writeArtifact(directory / "model.tsr", 1, 1, [](json &m) {
    renamed("transformer.w", "lm_head.weight")(m);
    m["tensors"][0].erase("init");
  });
  writeFile(directory / "model.safetensors", safetensorsOf({bias}));
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  ASSERT_EQ(tsr_session_create(artifact, nullptr, &session), TSR_OK);
  EXPECT_EQ(tsr_session_load_weights(session, directory.path.c_str()),
            TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "has no tensor 'lm_head.weight'");
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
}

TEST(WeightNames, TiedTensorMayBeStoredTwice) {
  Training training(1, 4, {}, renamed("transformer.w", "shared.weight"));
  ASSERT_EQ(load(training, {weight("shared.weight"), weight("lm_head.weight"),
                            weight("encoder.embed_tokens.weight"), bias}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "shared.weight", V), expected());
  EXPECT_EQ(notes(training), "");
}

TEST(WeightNames, TiedTensorMayHaveItsOtherName) {
  Training training(1, 4, {},
                    renamed("transformer.w", "model.embed_tokens.weight"));
  ASSERT_EQ(load(training, {weight("lm_head.weight"), bias}), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "model.embed_tokens.weight", V),
            expected());
}

/// Version 5 of transformers writes an untied T5 this way.
TEST(WeightNames, HeadOfAnUntiedModelIsNotTakenForATiedOne) {
  Training training(1, 1, {}, renamed("transformer.w", "shared.weight"));
  std::vector<double> before = training.read("parameter", "shared.weight", V);
  Entry head = weight("lm_head.weight");
  std::vector<float> values = ramp();
  values[V - 1] = 8;
  head.data = bytesOf(values);
  EXPECT_EQ(load(training, {weight("shared.weight"), head, bias}),
            TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(),
                  "'lm_head.weight' differs from 'shared.weight' (element 9: 8 "
                  "and 6.5)");
  EXPECT_CONTAINS(tsr_last_error(), "set \"tie_word_embeddings\" to false");
  EXPECT_EQ(training.read("parameter", "shared.weight", V), before);
  head.shape = {V};
  EXPECT_EQ(load(training, {weight("shared.weight"), head, bias}),
            TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "'lm_head.weight' has shape [10]");
}

TEST(WeightNames, UntiedHeadIsItsOwn) {
  Training training(1, 1, {}, [](json &m) {
    renamed("transformer.w", "lm_head.weight")(m);
    renamed("transformer.bias", "shared.weight")(m);
  });
  ASSERT_EQ(
      load(training, {number("shared.weight", 4), weight("lm_head.weight"),
                      number("decoder.embed_tokens.weight", 4)}),
      TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "lm_head.weight", V), expected());
  EXPECT_EQ(training.read("parameter", "shared.weight", 1)[0], 4);
}

/// BERT's files hold both biases; only a tied model reads the head's own.
TEST(WeightNames, UntiedDecoderHasItsOwnBias) {
  const char *own = "cls.predictions.decoder.bias";
  const char *ofHead = "cls.predictions.bias";
  Training untied(1, 1, {}, renamed("transformer.bias", own));
  ASSERT_EQ(load(untied, {weight("w"), number(own, 3), number(ofHead, 4)}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(untied.read("parameter", own, 1)[0], 3);
  EXPECT_CONTAINS(notes(untied), "'cls.predictions.bias' ignored");
  Training tied(1, 1, {}, renamed("transformer.bias", ofHead));
  EXPECT_EQ(load(tied, {weight("w"), number(own, 3), number(ofHead, 4)}),
            TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "'cls.predictions.decoder.bias' differs "
                                    "from 'cls.predictions.bias'");
}

} // namespace
