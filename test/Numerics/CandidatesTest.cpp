//===- CandidatesTest.cpp - steps that leave the best logits --------------===//
// Whatever is asked for, texts are those that are chosen from all logits.

#include "test/Numerics/Model.h"
#include "test/Numerics/TestGenerator.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr int64_t kLength = 16, kVocabulary = 61;

/// Compiles a vocabulary that no axis divides. With 0 candidates, all logits
/// are returned.
std::string artifactOf(const char *mesh, int64_t candidates,
                       const char *precision = "f64") {
  Build build{Strategy{mesh}};
  build.generates = true;
  build.precision = precision;
  build.sequence = kLength;
  build.prefillChunk = 7;
  if (candidates)
    build.flags = {{"candidates", std::to_string(candidates)}};
  return compileModel(smallModelWithDropout(kVocabulary), build);
}

/// Continues texts by every kind of choice, with more requests than slots.
std::vector<Continued> continueInAllWays(TestGenerator &generator) {
  std::vector<int64_t> ids;
  for (int32_t k = 0; k < 10; ++k) {
    tsr_request_options options = requestOf(6);
    options.temperature = k % 5 == 0 ? 0 : 0.4 + 0.2 * k;
    options.seed = (int64_t(k) << 35) - 3;
    options.top_k = k % 5 == 2 ? 5 : 0;
    options.top_p = k % 5 == 3 ? 0.05 : 0;
    options.min_p = k % 5 == 4 ? 0.99 : 0;
    options.repetition_penalty = k < 5 ? 0 : k % 2 ? 1.7 : 0.6;
    options.alternatives = k % 4;
    ids.push_back(generator.add(Tokens(1 + k, 6 * k), options));
  }
  generator.run();
  std::vector<Continued> results;
  for (int64_t id : ids)
    results.push_back(generator.result(id));
  return results;
}

TEST(CandidatesTest, ChooseAsAllLogitsDo) {
  TestGenerator whole(artifactOf("", 0));
  const std::vector<Continued> wanted = continueInAllWays(whole);
  for (const char *mesh : {"", "tp=2", "dp=2,tp=2", "pp=2", "cp=3", "tp=4"}) {
    TestGenerator generator(artifactOf(mesh, 40));
    expectSame(continueInAllWays(generator), wanted, 1e-10, mesh);
    EXPECT_EQ(tsr_generator_left_out(generator.get()), 0);
  }
}

/// There are as many candidates as tokens: more than any rank has of them.
TEST(CandidatesTest, AreInSinglePrecisionToo) {
  TestGenerator whole(artifactOf("", 0, "f32"));
  const std::vector<Continued> wanted = continueInAllWays(whole);
  for (const char *mesh : {"", "tp=4"}) {
    TestGenerator generator(artifactOf(mesh, kVocabulary, "f32"));
    expectSame(continueInAllWays(generator), wanted, 1e-4, mesh);
  }
}

TEST(CandidatesTest, OfOneAloneCanBeDrawn) {
  TestGenerator whole(artifactOf("", 0)), one(artifactOf("tp=2", 1));
  for (TestGenerator *generator : {&whole, &one})
    for (int32_t k = 0; k < 6; ++k) {
      tsr_request_options options = requestOf(9);
      options.temperature = k % 3;
      options.seed = k;
      generator->add({k, 60 - k}, options);
    }
  whole.run();
  one.run();
  for (int64_t id = 0; id < 6; ++id)
    EXPECT_EQ(one.result(id).tokens, whole.result(id).tokens) << id;
}

/// The model knows little: its probabilities are nearly equal.
TEST(CandidatesTest, SayWhatTheyLeaveOut) {
  TestGenerator generator(artifactOf("tp=2", 6));
  tsr_request_options options = requestOf(3);
  options.temperature = 1;
  generator.add({7}, options);
  generator.run();
  EXPECT_EQ(tsr_generator_left_out(generator.get()), 0);
  options.top_p = 0.9;
  generator.add({7}, options);
  generator.run();
  EXPECT_GT(tsr_generator_left_out(generator.get()), 0.5);
  EXPECT_LT(tsr_generator_left_out(generator.get()), 0.9);
}

TEST(CandidatesTest, AskForNoMoreThanThereAre) {
  TestGenerator generator(artifactOf("", 6));
  auto expectRefused = [&](const tsr_request_options &options,
                           const char *part) {
    const int32_t prompt = 3;
    int64_t id = -1;
    EXPECT_EQ(tsr_generator_add(generator.get(), &prompt, 1, &options, &id),
              TSR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tsr_last_error()).find(part), std::string::npos)
        << tsr_last_error();
  };
  tsr_request_options options = requestOf(1);
  options.top_k = 7;
  expectRefused(options, "top_k is 7, but steps of the artifact leave the 6");
  options.top_k = 6;
  options.alternatives = 9;
  expectRefused(options, "compile the model with --candidates 9");
}

/// One request's logits are NaN, the others go on.
TEST(CandidatesTest, OfNoNumbersEndTheirRequestAlone) {
  TestGenerator generator(artifactOf("tp=2", 6));
  for (const TensorName &tensor : generator.tensors("parameter"))
    if (tensor.name.find("wte") != std::string::npos) {
      Values values = generator.read(tensor);
      const int64_t hidden = values.size() / kVocabulary;
      for (int64_t k = 0; k < hidden; ++k)
        values[40 * hidden + k] = NAN; // the row of token 40
      generator.write(tensor, values);
    }
  int64_t bad = generator.add({40}, requestOf(4));
  generator.run();
  EXPECT_EQ(generator.result(bad).ended, TSR_ENDED_FAILED);
  EXPECT_EQ(generator.result(bad).tokens.size(), 1u);
}

/// Rows that the caller places have no logits, but a way to choose.
TEST(CandidatesTest, OfPlacedRows) {
  TestGenerator generator(artifactOf("tp=2", 6));
  tsr_row row = {1, 0, 0, 0, 5, 1};
  double room[4 * kVocabulary];
  EXPECT_EQ(
      tsr_generator_run_rows(generator.get(), &row, 1, room, std::size(room)),
      TSR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tsr_last_error()).find("leave candidates"),
            std::string::npos);
  tsr_request_options options = requestOf(1);
  options.repetition_penalty = 100;
  auto best = [&] {
    ++row.text;
    EXPECT_EQ(tsr_generator_run_rows(generator.get(), &row, 1, nullptr, 0),
              TSR_OK)
        << tsr_last_error();
    Values lists(4 * 6 * 2);
    EXPECT_EQ(tsr_generator_read(generator.get(), "output", "decode_candidates",
                                 lists.data(), lists.size()),
              TSR_OK);
    return static_cast<int32_t>(lists[1]);
  };
  const int32_t first = best();
  EXPECT_EQ(
      tsr_generator_place_sampling(generator.get(), 0, 0, &options, &first, 1),
      TSR_OK);
  EXPECT_NE(best(), first);
  EXPECT_EQ(
      tsr_generator_place_sampling(generator.get(), 0, 4, &options, &first, 1),
      TSR_INVALID_ARGUMENT);
  const Tokens tooLong(kLength + 1, 2);
  EXPECT_EQ(tsr_generator_place_sampling(generator.get(), 0, 0, &options,
                                         tooLong.data(), tooLong.size()),
            TSR_INVALID_ARGUMENT);
  TestGenerator whole(artifactOf("", 0));
  EXPECT_EQ(
      tsr_generator_place_sampling(whole.get(), 0, 0, &options, &first, 1),
      TSR_UNSUPPORTED);
}

} // namespace
