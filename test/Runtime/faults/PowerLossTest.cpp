//===- PowerLossTest.cpp - checkpoints after a power loss -----------------===//
// Every moment of a run that saves is a moment at which the power may fail.
// What the disk may then hold must resume to the bits of the last checkpoint
// that was reported as saved, or of a later one.
//===----------------------------------------------------------------------===//
#include "test/Runtime/faults/PowerLoss.h"
#include "test/Runtime/faults/Witness.h"

#include <filesystem>

using namespace faults;
using namespace std::chrono_literals;

namespace {

/// Returns the changes that a run of the driver makes below its directory.
DiskLog logOfRun(const Witness &witness, const std::string &directory) {
  std::string root = directory + "/disk", log = directory + "/log";
  std::filesystem::create_directory(root);
  std::vector<std::string> arguments = witness.files();
  arguments.push_back(root + "/runs/checkpoints");
  DriverProcess driver(
      arguments, {"TESSERA_FAULT_LOG=" + log, "TESSERA_FAULT_ROOT=" + root},
      directory + "/driver");
  Outcome outcome = driver.wait(std::chrono::steady_clock::now() + 60s);
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_TRUE(witness.endedProperly(outcome));
  return DiskLog(fixture::readFile(log));
}

TEST(PowerLoss, LeavesWhatWasSaved) {
  fixture::TemporaryDirectory directory;
  Witness witness;
  DiskLog log = logOfRun(witness, std::filesystem::canonical(directory.path));
  EXPECT_EQ(log.promisedAt(log.moments() - 1), allSteps);
  size_t images = 0;
  for (size_t moment = 0; moment < log.moments(); ++moment) {
    for (const DiskImage &image : log.imagesAt(moment)) {
      std::string root = directory / "image";
      writeImage(image, root);
      ASSERT_TRUE(
          witness.resumes(root + "/runs/checkpoints", log.promisedAt(moment)))
          << "after change " << moment << " of " << log.moments() - 1 << ": "
          << log.describe(moment);
      ASSERT_TRUE(witness.areWhole(root + "/runs/checkpoints"))
          << "after change " << moment << ": " << log.describe(moment);
      std::filesystem::remove_all(root);
      ++images;
    }
  }
  std::printf("%zu images at %zu moments\n", images, log.moments());
  EXPECT_GT(images, 100u);
}

/// A disk may or may not hold changes that nobody synced.
TEST(PowerLoss, LosesWhatWasNotSynced) {
  DiskLog log("mkdir a\nsync .\ncreate a/f\nwrite a/f 0 4142\n"
              "rename a/f a/g\nsync a\n");
  DiskImage none = {{"a", std::nullopt}};
  auto with = [&](const char *name, const std::string &content) {
    DiskImage image = none;
    image[name] = content;
    return image;
  };
  std::set<DiskImage> before = log.imagesAt(5), after = log.imagesAt(6);
  for (const DiskImage &image :
       {none, with("a/f", ""), with("a/f", "AB"), with("a/g", "AB"),
        with("a/g", ""), with("a/g", std::string(2, '\0'))})
    EXPECT_EQ(before.count(image), 1u);
  EXPECT_EQ(after, (std::set<DiskImage>{with("a/g", ""), with("a/g", "AB"),
                                        with("a/g", std::string(2, '\0'))}));
}

} // namespace
