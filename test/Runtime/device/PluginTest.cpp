//===- PluginTest.cpp - finding, checking and refusing plug-ins -----------===//
#include "runtime/device/DevicePlugin.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace fixture;

namespace {

Status refusal(const std::string &file) {
  try {
    openPlugin("cuda", file);
  } catch (const Error &error) {
    return error.status;
  }
  return {};
}

#define EXPECT_REFUSED(file, status, text)                                     \
  do {                                                                         \
    Status found = refusal(file);                                              \
    EXPECT_EQ(found.code, status) << found.message;                            \
    EXPECT_NE(found.message.find(text), std::string::npos) << found.message;   \
  } while (false)

TEST(Plugin, OfTheSameBuildIsTaken) {
  EXPECT_EQ(openPlugin("cuda", PLUGIN_GOOD)->report().problem, "a fixture");
}

TEST(Plugin, OfAnotherVersionIsRefused) {
  EXPECT_REFUSED(PLUGIN_VERSION, TSR_MISMATCH,
                 "is of version 9.9.9, this runtime is " TESSERA_VERSION
                 "; install both from one build");
}

TEST(Plugin, OfAnotherLayoutIsRefused) {
  EXPECT_REFUSED(PLUGIN_LAYOUT, TSR_MISMATCH,
                 "is of another build of version " TESSERA_VERSION);
}

TEST(Plugin, OfAnotherDeviceIsRefused) {
  EXPECT_REFUSED(PLUGIN_DEVICE, TSR_MISMATCH,
                 "is the plug-in of device 'tpu', not of 'cuda'");
}

TEST(Plugin, LibraryThatIsNoneIsRefused) {
  EXPECT_REFUSED(FIXTURE_1X1, TSR_MISMATCH, "it is no plug-in of Tessera");
}

TEST(Plugin, MissingOneSaysWhatToDo) {
  EXPECT_REFUSED("/nowhere/libtessera_cuda.so", TSR_NOT_FOUND,
                 "needs the plug-in /nowhere/libtessera_cuda.so");
  EXPECT_REFUSED("/nowhere/libtessera_cuda.so", TSR_NOT_FOUND,
                 "or use device 'cpu'");
}

TEST(Plugin, BrokenFileIsNamed) {
  TemporaryDirectory directory;
  writeFile(directory / "libtessera_cuda.so", "this is no library");
  EXPECT_REFUSED(directory / "libtessera_cuda.so", TSR_NOT_FOUND,
                 "cannot be loaded");
}

TEST(Plugin, UnknownDeviceNamesTheKnown) {
  try {
    openDevice("tpu");
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_UNSUPPORTED);
    EXPECT_EQ(error.status.message,
              "device 'tpu' is not in this runtime; use 'cpu' or 'cuda'");
  }
}

} // namespace
