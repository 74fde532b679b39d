//===- WrapperTest.cpp - tessera.hpp and the C header ---------------------===//
#include "tessera/tessera.hpp"
#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

#include <algorithm>
#include <gtest/gtest.h>

extern "C" int tessera_c_calls(void);

namespace {

TEST(CHeader, CompilesAndLinksAsC) { EXPECT_TRUE(tessera_c_calls()); }

TEST(Wrapper, TrainsAndSaves) {
  fixture::TemporaryDirectory directory;
  tessera::Artifact artifact(
      fixture::writeArtifact(directory / "model.tsr", 2, 2));
  EXPECT_EQ(artifact.ranks(), 4);
  tessera::Session session(artifact);
  session.init();
  session.write("value", "fault", std::vector<double>(MAX_RANKS));
  EXPECT_EQ(session.step(fixture::tokensOf(0)).step, 0);
  EXPECT_EQ(session.notes(), "");
  session.save(directory / "checkpoints");
  EXPECT_NE(session.notes().find("no config.json"), std::string::npos);
  std::vector<double> w = session.read("parameter", "transformer.w", V);
  session.init();
  session.load(directory / "checkpoints");
  EXPECT_EQ(session.read("parameter", "transformer.w", V), w);
  EXPECT_EQ(session.nextStep(), 1);
  session.init();
  session.loadWeights(directory / "checkpoints/step-00000001");
  EXPECT_EQ(session.read("parameter", "transformer.w", V), w);
  EXPECT_EQ(session.notes(), "");
}

TEST(Wrapper, ReadsAndWritesF32) {
  fixture::TemporaryDirectory directory;
  tessera::Session session(
      tessera::Artifact(fixture::writeArtifact(directory / "model.tsr", 2, 2)));
  session.init();
  std::vector<float> values(V, 0.1f);
  session.writeF32("parameter", "transformer.w", values);
  EXPECT_EQ(session.readF32("parameter", "transformer.w", V), values);
  EXPECT_EQ(session.read("parameter", "transformer.w", V)[0], double(0.1f));
  EXPECT_THROW(session.readF32("parameter", "transformer.w", V + 1),
               tessera::Exception);
}

TEST(Wrapper, SetsTheSchedule) {
  fixture::TemporaryDirectory directory;
  tessera::Session session(
      tessera::Artifact(fixture::writeArtifact(directory / "model.tsr", 1, 1)));
  session.init();
  session.write("value", "fault", std::vector<double>(MAX_RANKS));
  tsr_schedule schedule = {};
  schedule.lr = 0.5;
  schedule.total_steps = 2;
  schedule.kind = "linear";
  session.setSchedule(schedule);
  EXPECT_EQ(session.step(fixture::tokensOf(0)).lr, 0.5);
  EXPECT_EQ(session.step(fixture::tokensOf(1)).lr, 0.25);
  schedule.decay_steps = 1;
  EXPECT_THROW(session.setSchedule(schedule), tessera::Exception);
}

TEST(Wrapper, ThrowsCodeAndMessage) {
  try {
    tessera::Artifact("/nonexistent/model.tsr");
    FAIL();
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), TSR_NOT_FOUND);
    EXPECT_NE(std::string(error.what()).find("model.tsr"), std::string::npos);
  }
}

TEST(Wrapper, GeneratorSaysWhatToCompile) {
  fixture::TemporaryDirectory directory;
  tessera::Artifact artifact(
      fixture::writeArtifact(directory / "model.tsr", 1, 1));
  try {
    tessera::Generator generator(artifact);
    FAIL() << "the artifact trains";
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), TSR_UNSUPPORTED);
    EXPECT_CONTAINS(error.what(), "--programs generate");
  }
  EXPECT_EQ(tessera::requestOptions().size, sizeof(tsr_request_options));
}

TEST(Wrapper, ReadsDataWithWeights) {
  fixture::TemporaryDirectory directory;
  fixture::writeFile(directory / "a.txt", std::string(80, 'a'));
  fixture::writeFile(directory / "b.txt", std::string(40, 'b'));
  const double weights[] = {1, 3};
  tsr_data_options options = {};
  options.sequence = 4;
  options.vocabulary = 256;
  options.weights = weights;
  options.validation_fraction = 0.25;
  tessera::Data data({directory / "a.txt", directory / "b.txt"}, options);
  EXPECT_EQ(data.tokens(), 90);
  EXPECT_EQ(data.sequences(), 14 + 7);
  EXPECT_EQ(data.file(1).tokens, 30);
  EXPECT_EQ(data.file(1).share, 0.75);
  std::vector<std::int32_t> tokens = data.batch(0, 4);
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 'b'), 15);

  tessera::Session session(
      tessera::Artifact(fixture::writeArtifact(directory / "model.tsr", 1, 1)));
  session.useData(data);
  options.weights = nullptr;
  tessera::Data other({directory / "a.txt"}, options);
  EXPECT_THROW(session.useData(other), tessera::Exception);
  session.changeData(other);
  session.compareData(other); // with no other process
  session.compareFiles({directory / "a.txt"});
}

} // namespace
