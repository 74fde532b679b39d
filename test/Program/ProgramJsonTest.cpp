//===- ProgramJsonTest.cpp - programs from and to metadata ----------------===//

#include "tessera/Program/ProgramJson.h"
#include "tessera/program_fields.hpp"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::program;

namespace {

std::string errorOf(llvm::StringRef metadata) {
  llvm::Expected<Program> program = readProgram(metadata);
  return program ? "" : llvm::toString(program.takeError());
}

std::vector<Call> callsOf(llvm::StringRef metadata, std::string &error) {
  std::vector<Call> calls;
  llvm::Expected<Program> program = readProgram(metadata);
  if (!program) {
    error = llvm::toString(program.takeError());
    return calls;
  }
  error = llvm::toString(readCalls(metadata, *program, [&](Call &call) {
    calls.push_back(call);
    return llvm::Error::success();
  }));
  return calls;
}

std::string written(const Call &call) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream out(stream);
  out.object([&] { writeCall(out, call); });
  return text;
}

Call callOf(const std::string &text) {
  std::string error;
  std::vector<Call> calls = callsOf(
      R"({"mesh": [{"axis": "dp", "size": 2}, {"axis": "tp", "size": 4}],
          "recompute": {"mode": "full", "layers": 1,
                        "names": ["encoder.0", "decoder.0"]},
          "ops": [)" +
          text + "]}",
      error);
  EXPECT_EQ(error, "") << text;
  return calls.size() == 1 ? calls.front() : Call();
}

TEST(ProgramJson, CallsAreWrittenAsTheyWereRead) {
  for (const std::string text :
       {R"({"name":"","op":"copy","phase":"forward"})",
        R"({"axes":["tp"],"bytes":0,"elements":0,"name":"h.3.mlp",)"
        R"("op":"all_reduce","phase":"backward","reason":"","tensors":2,)"
        R"("times":4,"wait":9})",
        R"({"experts":2,"flops":30,"layer":3,"name":"h.3.mlp","op":"gemm",)"
        R"("phase":"recompute","result_bytes":8,"shape":[1,2,3],)"
        R"("transposed":"ab"})",
        R"({"axes":["dp"],"bytes":4,"elements":1,"name":"x","op":"send",)"
        R"("peer":0,"phase":"optimizer","reason":"why"})",
        R"({"bytes":4,"functions":7,"kernel":"k","name":"loss",)"
        R"("op":"launch","phase":"forward"})"})
    EXPECT_EQ(written(callOf(text)), text);
}

TEST(ProgramJson, CallsAreWhatTheirOpsAre) {
  auto ofOp = [](const std::string &op, const std::string &more = "") {
    return callOf(R"({"op": ")" + op + R"(", "phase": "forward")" + more + "}");
  };
  std::string shape = R"(, "shape": [2, 3, 4])";
  EXPECT_EQ(ofOp("gemm", shape).kind, CallKind::Product);
  EXPECT_EQ(ofOp("ring_attention", shape).kind, CallKind::Attention);
  EXPECT_EQ(ofOp("attention_grad", shape).kind, CallKind::AttentionGradient);
  EXPECT_EQ(ofOp("attention_bias", shape).kind, CallKind::Kernel);
  EXPECT_EQ(ofOp("routed").kind, CallKind::Kernel);
  EXPECT_EQ(ofOp("routed").role, CallRole::Routing);
  EXPECT_EQ(ofOp("all_gather_coalesced").collective, Collective::AllGather);
  EXPECT_EQ(ofOp("receive", R"(, "axes": ["tp"])").kind, CallKind::Receive);
  EXPECT_EQ(ofOp("wait").kind, CallKind::Wait);
  EXPECT_EQ(ofOp("gemm", shape + R"(, "name": "head")").role, CallRole::Logits);
  EXPECT_EQ(ofOp("launch", R"(, "name": "head")").role, CallRole::Loss);
  EXPECT_EQ(ofOp("launch", R"(, "name": "header")").role, CallRole::None);
}

TEST(ProgramJson, CallsKnowTheirLayersAndAxes) {
  Call call = callOf(R"({"op": "all_gather", "axes": ["tp", "dp"], "layer": 0,
                         "name": "decoder.0.mlp"})");
  EXPECT_EQ(call.meshAxes, (llvm::SmallVector<size_t, 2>{1, 0}));
  EXPECT_EQ(call.layer, 0);
  EXPECT_EQ(call.layerInProgram, 1);
  EXPECT_EQ(call.layerMode, Recompute::Selective);
  EXPECT_EQ(callOf(R"({"name": "encoder.0"})").layerMode, Recompute::Full);
}

TEST(ProgramJson, ErrorsNameThePlaceAndTheBounds) {
  EXPECT_EQ(errorOf("[1]"), "it is not a JSON object");
  EXPECT_EQ(errorOf(R"({"format": 2})"), "'format' is 2, must be in [1, 1]");
  EXPECT_EQ(errorOf(R"({"mesh": [{"axis": "dp", "size": 2}, {"size": 0}]})"),
            "'mesh[1].size' is 0, must be in [1, 65536]");
  EXPECT_EQ(errorOf(R"({"model": 3})"), "'model' is no object");
  EXPECT_EQ(errorOf(R"({"model": {"family": 3}})"),
            "'model.family' is no text");
  EXPECT_EQ(errorOf(R"({"tensors": [{"shape": [2, -1]}]})"),
            "'tensors[0].shape[1]' is -1, must be in [1, 1099511627776]");
  EXPECT_EQ(errorOf(R"({"arena": {"by_kind": {"weights": 0.5}}})"),
            "'arena.by_kind.weights' is no integer");
  EXPECT_EQ(errorOf(R"({"pipeline": {"tasks": [[{"last": 1}]]}})"),
            "'pipeline.tasks[0][0].last' is neither true nor false");
}

/// A program of two stages of one chunk, after one change.
std::string twoStages(const std::string &from = "",
                      const std::string &to = "") {
  std::string text =
      R"({"mesh": [{"axis": "pp", "size": 2}], "model": {"micro_batches": 2},
          "pipeline": {"axis": "pp", "schedule": "1f1b", "stages": 2,
                       "virtual_stages": 1, "micro_batches": 2,
                       "chunks": [{"stage": 0}, {"stage": 1}]},
          "arena": {"stages": [{}, {}]}, "report": {"stages": [{}, {}]}})";
  size_t at = text.find(from);
  return at == std::string::npos ? "" : text.replace(at, from.size(), to);
}

TEST(ProgramJson, ContradictionsAreRefused) {
  EXPECT_EQ(errorOf(twoStages()), "");
  EXPECT_EQ(errorOf(R"({"mesh": [{"axis": "dp"}, {"axis": "dp"}]})"),
            "'mesh' repeats axis 'dp'");
  EXPECT_EQ(errorOf(R"({"precision": "f7"})"),
            "'precision' is 'f7', must be one of 'f32', 'bf16' or 'f64'");
  EXPECT_EQ(errorOf(twoStages(R"("virtual_stages": 1)",
                              R"("virtual_stages": 2147483647)")),
            "'pipeline' has 2 chunks for 2 stages of 2147483647");
  EXPECT_EQ(errorOf(twoStages(R"("stages": 2)", R"("stages": 1)")),
            "'pipeline' has 1 stages, axis 'pp' has 2");
  EXPECT_EQ(errorOf(twoStages(R"("stage": 1)", R"("stage": 2)")),
            "'pipeline' has a chunk on stage 2 of 2");
  EXPECT_EQ(errorOf(twoStages(R"({"stages": [{}, {}]}})", R"({}})")),
            "'report.stages' has 0 entries for 2 stages");
  EXPECT_EQ(
      errorOf(twoStages(R"("micro_batches": 2})", R"("micro_batches": 4})")),
      "'pipeline' has 2 micro-batches, 'model' has 4");
  EXPECT_EQ(errorOf(twoStages(R"("chunks")", R"("tasks": [[]], "chunks")")),
            "'pipeline' has tasks whose calls or runs do not fit");
  EXPECT_EQ(errorOf(twoStages("1f1b", "2f2b")),
            "'pipeline.schedule' is '2f2b', must be one of 'gpipe', '1f1b', "
            "'interleaved' or 'zero-bubble'");
  EXPECT_EQ(errorOf(R"({"mesh": [{"axis": "dp", "size": 1}],
                        "pipeline": {"axis": "dp", "owners": true},
                        "arena": {"stages": [{}]},
                        "report": {"stages": [{}]}})"),
            "'pipeline' has one owner of all parameters; there must be more");
}

TEST(ProgramJson, BadCallsAreRefused) {
  auto refusal = [](const std::string &entry) {
    std::string error;
    callsOf(R"({"mesh": [{"axis": "tp", "size": 2}], "ops": [{}, )" + entry +
                "]}",
            error);
    return error;
  };
  EXPECT_EQ(refusal("7"), "'ops[1]' is no object");
  EXPECT_EQ(refusal(R"({"times": 0})"),
            "'ops[1].times' is 0, must be in [1, 2147483647]");
  EXPECT_EQ(refusal(R"({"shape": [1, 2]})"),
            "'ops[1].shape' has 2 numbers, must have 3");
  EXPECT_EQ(refusal(R"({"phase": "sideways"})"),
            "'ops[1].phase' must be one of 'forward', 'backward', 'recompute' "
            "or 'optimizer'");
  EXPECT_EQ(refusal(R"({"axes": ["dp"]})"),
            "'ops[1]' names 'dp', which is no axis");
  EXPECT_EQ(refusal(R"({"axes": ["tp", "tp"]})"),
            "'ops[1]' names axis 'tp' twice");
  EXPECT_EQ(refusal(R"({"op": "send", "peer": 1})"),
            "'ops[1]' is a message along 0 axes, must be along one");
  EXPECT_EQ(refusal(R"({"axes": ["tp"], "peer": 2})"),
            "'ops[1]' has the peer 2 of an axis of size 2");
  EXPECT_EQ(refusal(R"({"stage": 1})"),
            "'ops[1]' is of a stage that does not exist");
}

/// Programs beside the first one have lists of the same name.
TEST(ProgramJson, OnlyTheFirstProgramsCallsAreRead) {
  std::string error;
  EXPECT_EQ(callsOf(R"({"evaluation": {"ops": [{"times": 0}], "adds": 3},
                        "ops": [{"op": "copy"}, {"op": "zero"}]})",
                    error)
                .size(),
            2u);
  EXPECT_EQ(error, "");
}

TEST(ProgramJson, TensorsAreWrittenAsTheyAre) {
  Tensor tensor;
  tensor.role = "parameter";
  tensor.name = "w";
  tensor.dtype = "f32";
  tensor.shape = {4, 2};
  tensor.localShape = {2, 2};
  tensor.sharding = {{"tp", 0}};
  tensor.offset = 0;
  tensor.init.emplace();
  tensor.init->kind = "normal";
  tensor.init->mean = 0.0;
  std::string text;
  llvm::raw_string_ostream(text) << toJson(tensor);
  EXPECT_EQ(text, R"({"dtype":"f32","init":{"kind":"normal","mean":0},)"
                  R"("local_shape":[2,2],"name":"w","offset":0,"partial":[],)"
                  R"("role":"parameter","shape":[4,2],)"
                  R"("sharding":[{"axis":"tp","dim":0}]})");
  llvm::Expected<Program> read = readProgram("{\"tensors\": [" + text + "]}");
  ASSERT_TRUE(!!read) << llvm::toString(read.takeError());
  EXPECT_EQ(read->tensors[0].offset, 0);
  EXPECT_EQ(read->tensors[0].elementsOfRank(), 4);
}

TEST(ProgramJson, MeshesAreListsOfAxes) {
  std::string text;
  llvm::raw_string_ostream(text) << toJson(Mesh{{"dp", 2}, {"tp", 4}});
  EXPECT_EQ(text, R"([{"axis":"dp","size":2},{"axis":"tp","size":4}])");
  llvm::Expected<Program> read = readProgram("{\"mesh\": " + text + "}");
  ASSERT_TRUE(!!read) << llvm::toString(read.takeError());
  EXPECT_EQ(read->mesh.text(), "dp=2,tp=4");
  EXPECT_EQ(read->mesh.ranks(), 8);
  EXPECT_EQ(read->mesh.sizeOf("pp"), 1);
}

TEST(ProgramJson, WhatAnArenaHoldsIsReadAsWritten) {
  const char *text =
      R"({"alive":[{"bytes":8,"count":2,"kind":"workspace","name":"h.1","op":)"
      R"("g"},{"bytes":4,"kind":"inputs","name":"","op":"f"}],"kinds":)"
      R"(["inputs"],"peak":1,"points":[{"at":0,"bytes":[4],"name":"h.0",)"
      R"("phase":"forward"}],"times":2})";
  llvm::Expected<OverStep> read = readOverStep(text);
  ASSERT_TRUE(!!read) << llvm::toString(read.takeError());
  EXPECT_EQ(read->alive[0].count, 2);
  EXPECT_EQ(read->alive[1].count, 1);
  std::string written;
  llvm::raw_string_ostream(written) << toJson(*read);
  EXPECT_EQ(written, text);
  llvm::Expected<OverStep> wrong = readOverStep(R"({"alive": [{"count": 0}]})");
  ASSERT_FALSE(!!wrong);
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "'alive[0].count' is 0, must be in [1, 9223372036854775807]");
}

/// The writer relies on it: metadata has its keys in order.
TEST(ProgramJson, FieldsAreInTheOrderOfTheirKeys) {
  std::map<std::string, std::string> last;
#define TSR_PROGRAM_FIELD(RECORD, FIELD, KEY, LOW, HIGH, PRESENCE)             \
  EXPECT_LT(last[#RECORD], KEY) << #RECORD;                                    \
  last[#RECORD] = KEY;
#include "tessera/program_fields.def"
#undef TSR_PROGRAM_FIELD
}

} // namespace
