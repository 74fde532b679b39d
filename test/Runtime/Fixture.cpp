#include "Fixture.h"
#include "FixtureLayout.h"
#include "tessera/abi.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using nlohmann::json;

namespace fixture {

TemporaryDirectory::TemporaryDirectory() {
  std::string name =
      (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX");
  if (!mkdtemp(name.data()))
    std::abort();
  path = name;
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void writeFile(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}

static json tensor(const char *role, const char *name, long offset, json shape,
                   json local, json sharding = json::array()) {
  return {{"role", role},
          {"name", name},
          {"dtype", "f32"},
          {"shape", shape},
          {"local_shape", local},
          {"offset", offset},
          {"partial", json::array()},
          {"sharding", sharding}};
}

static json tensorsOf(const fixture_layout &l, int dp) {
  json overTp = {{{"axis", "tp"}, {"dim", 0}}};
  json zero = {{{"axis", "tp"}, {"dim", 0}}, {{"axis", "dp"}, {"dim", 0}}};
  json batch = {{{"axis", "dp"}, {"dim", 1}}};
  json none = json::array();
  json tokens = {MICRO_BATCHES, BATCH / MICRO_BATCHES, SEQUENCE};
  json own = {MICRO_BATCHES, BATCH / MICRO_BATCHES / dp, SEQUENCE};
  json all = {tensor("parameter", "transformer.w", l.w, {V}, {l.rows}, overTp),
              tensor("parameter", "transformer.bias", l.bias, {1}, {1}),
              tensor("moment1", "transformer.w", l.m1, {V}, {l.part}, zero),
              tensor("moment2", "transformer.w", l.m2, {V}, {l.part}, zero),
              tensor("moment1", "transformer.bias", l.bias_m1, {1}, {1}),
              tensor("moment2", "transformer.bias", l.bias_m2, {1}, {1}),
              tensor("input", "lr", l.lr, none, none),
              tensor("input", "bias_correction1", l.bc1, none, none),
              tensor("input", "bias_correction2", l.bc2, none, none),
              tensor("output", "loss", l.loss, none, none),
              tensor("output", "grad_norm", l.norm, none, none),
              tensor("value", "fault", l.fault, {MAX_RANKS}, {MAX_RANKS}),
              tensor("input", "ids", l.ids, tokens, own, batch),
              tensor("input", "labels", l.labels, tokens, own, batch)};
  for (json &entry : all)
    if (entry["name"] == "transformer.w")
      entry["file_shape"] = {V / 2, 2};
  all[0]["init"] = {
      {"kind", "normal"}, {"mean", 0.0}, {"std", 0.5}, {"stream", 3}};
  all[1]["init"] = {{"kind", "ones"}};
  all[12]["dtype"] = all[13]["dtype"] = "i32";
  return all;
}

json metadataOf(int dp, int tp) {
  fixture_layout l = fixture_layout_of(dp, tp);
  const char *names[OP_COUNT] = {
      "fill",       "reduce_scatter", "all_reduce", "launch",
      "all_gather", "copy",           "all_reduce", "gemm"};
  json ops = json::array();
  for (int i = 0; i < OP_COUNT; ++i)
    ops.push_back({{"op", names[i]},
                   {"name", "h.0.step" + std::to_string(i)},
                   {"layer", 0}});
  return {{"format", 1},
          {"producer", "fixture"},
          {"target", {{"device", "cpu"}, {"features", json::array()}}},
          {"precision", "f32"},
          {"mesh",
           {{{"axis", "dp"}, {"size", dp}}, {{"axis", "tp"}, {"size", tp}}}},
          {"model",
           {{"family", "fixture"},
            {"layers", 1},
            {"vocabulary", V},
            {"sequence", SEQUENCE},
            {"batch", BATCH},
            {"micro_batches", MICRO_BATCHES}}},
          {"optimizer",
           {{"kind", "adamw"},
            {"beta1", 0.9},
            {"beta2", 0.95},
            {"lr", 0.1},
            {"min_lr", 0.01},
            {"warmup_steps", 2},
            {"total_steps", 20}}},
          {"arena", {{"bytes", l.bytes}}},
          {"tensors", tensorsOf(l, dp)},
          {"ops", ops},
          {"report", json::object()}};
}

std::string codeOf(int dp, int tp) {
  if (dp == 1)
    return readFile(tp == 1 ? FIXTURE_1X1 : FIXTURE_1X4);
  return readFile(FIXTURE_2X2);
}

std::string artifactOf(const std::string &metadata, const std::string &code) {
  std::string body = metadata + code;
  tsr_abi_header header;
  std::memcpy(header.magic, TSR_ARTIFACT_MAGIC, sizeof header.magic);
  header.abi_version = TSR_ABI_VERSION;
  header.header_bytes = sizeof header;
  header.metadata_bytes = metadata.size();
  header.code_bytes = code.size();
  header.hash = XXH3_64bits(body.data(), body.size());
  return std::string(reinterpret_cast<char *>(&header), sizeof header) + body;
}

std::string writeArtifact(const std::string &path, int dp, int tp,
                          const Change &change) {
  json metadata = metadataOf(dp, tp);
  if (change)
    change(metadata);
  writeFile(path, artifactOf(metadata.dump(), codeOf(dp, tp)));
  return path;
}

Training::Training(int dp, int tp, tsr_session_options options,
                   const Change &change) {
  options.size = sizeof options;
  std::string path = writeArtifact(directory / "model.tsr", dp, tp, change);
  if (tsr_artifact_load(path.c_str(), &artifact) != TSR_OK ||
      tsr_session_create(artifact, &options, &session) != TSR_OK ||
      tsr_session_init(session) != TSR_OK)
    throw std::runtime_error(tsr_last_error());
  write("value", "fault", std::vector<double>(MAX_RANKS, FAULT_NONE));
}

Training::~Training() {
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
}

tsr_status Training::step(int64_t number, tsr_step_result *result) {
  std::vector<int32_t> tokens = tokensOf(number);
  return tsr_session_step(session, tokens.data(), tokens.size(), result);
}

std::vector<double> Training::read(const char *role, const char *name,
                                   size_t count) {
  std::vector<double> values(count);
  EXPECT_EQ(tsr_session_read(session, role, name, values.data(), count), TSR_OK)
      << tsr_last_error();
  return values;
}

void Training::write(const char *role, const char *name,
                     const std::vector<double> &values) {
  EXPECT_EQ(
      tsr_session_write(session, role, name, values.data(), values.size()),
      TSR_OK)
      << tsr_last_error();
}

std::vector<double> Training::state() {
  std::vector<double> all;
  for (const char *role : {"parameter", "moment1", "moment2"}) {
    for (double value : read(role, "transformer.w", V))
      all.push_back(value);
    all.push_back(read(role, "transformer.bias", 1)[0]);
  }
  return all;
}

std::vector<int32_t> tokensOf(int64_t number) {
  std::vector<int32_t> tokens(BATCH * (SEQUENCE + 1));
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<int32_t>((i * i * 7 + i + number * 13) % V);
  return tokens;
}

} // namespace fixture
