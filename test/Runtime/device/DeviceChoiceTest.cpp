//===- DeviceChoiceTest.cpp - devices through the C API -------------------===//
#include "test/Runtime/fixture/Fixture.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace fixture;

namespace {

/// Creates a session of the fixture's program, said to be for `compiledFor`.
tsr_status create(const char *compiledFor, const char *device,
                  const char *communicator = nullptr) {
  TemporaryDirectory directory;
  std::string path =
      writeArtifact(directory / "model.tsr", 1, 1, [&](nlohmann::json &m) {
        m["target"]["device"] = compiledFor;
      });
  tsr_artifact *artifact = nullptr;
  EXPECT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  tsr_session_options options = {};
  options.size = sizeof options;
  options.device = device;
  options.communicator = communicator;
  tsr_session *session = nullptr;
  tsr_status status = tsr_session_create(artifact, &options, &session);
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
  return status;
}

TEST(DeviceChoice, ArtifactOfAnotherDeviceIsRefused) {
  EXPECT_EQ(create("cuda", "cpu"), TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(),
                  "is compiled for device 'cuda', the session asks for 'cpu'; "
                  "run it with --device cuda or compile it with --device cpu");
  EXPECT_EQ(create("cpu", "cuda"), TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(),
                  "is compiled for device 'cpu', the session asks for 'cuda'; "
                  "run it with --device cpu or compile it with --device cuda");
}

TEST(DeviceChoice, UnknownDeviceIsRefused) {
  EXPECT_EQ(create("cpu", "tpu"), TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(), "use 'cpu' or 'cuda'");
  const char *text = nullptr;
  EXPECT_EQ(tsr_device_report("tpu", &text), TSR_UNSUPPORTED);
  EXPECT_EQ(text, nullptr);
}

TEST(DeviceChoice, NcclIsRefusedOnTheCpu) {
  EXPECT_EQ(create("cpu", "cpu", "nccl"), TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(),
                  "communicator 'nccl' does not connect ranks of one "
                  "process on device 'cpu'; use 'threads'");
}

TEST(DeviceChoice, CpuNeedsNothing) {
  const char *text = nullptr;
  ASSERT_EQ(tsr_device_report("cpu", &text), TSR_OK);
  nlohmann::json report = nlohmann::json::parse(text);
  EXPECT_TRUE(report["usable"].get<bool>());
  EXPECT_TRUE(report.at("devices").empty());
  EXPECT_EQ(create("cpu", "cpu"), TSR_OK);
  Training training(1, 1);
  EXPECT_STREQ(tsr_session_device(training.session), "cpu");
}

/// With the GPUs hidden, if there are any.
TEST(DeviceChoice, CudaWithoutAGpuSaysWhatIsMissing) {
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  const char *text = nullptr;
#if HAS_CUDA_PLUGIN
  EXPECT_EQ(create("cuda", "cuda"), TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(), "device 'cuda': there is no CUDA d");
  EXPECT_CONTAINS(tsr_last_error(), "or use device 'cpu'");
  ASSERT_EQ(tsr_device_report("cuda", &text), TSR_OK) << tsr_last_error();
  nlohmann::json report = nlohmann::json::parse(text);
  EXPECT_FALSE(report["usable"].get<bool>());
  EXPECT_NE(report["problem"], "");
  EXPECT_TRUE(report.at("devices").empty());
  EXPECT_EQ(report["parts"][2]["what"], "cuda toolkit");
  EXPECT_NE(report["parts"][2]["version"], "");
#else
  EXPECT_EQ(create("cuda", "cuda"), TSR_NOT_FOUND);
  EXPECT_CONTAINS(tsr_last_error(), "needs the plug-in libtessera_cuda.so");
  EXPECT_EQ(tsr_device_report("cuda", &text), TSR_NOT_FOUND);
#endif
  unsetenv("CUDA_VISIBLE_DEVICES");
}

} // namespace
