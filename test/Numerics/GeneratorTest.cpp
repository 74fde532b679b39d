//===- GeneratorTest.cpp - requests of many threads, through tessera.hpp --===//

#include "tessera/tessera.hpp"
#include "test/Numerics/Model.h"

#include <algorithm>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <thread>

using namespace tessera::test;

namespace {

using Tokens = std::vector<int32_t>;

/// Its head is not its table of tokens.
std::string configFile() {
  return scratchFile(
      "config.json",
      R"({"model_type": "gpt2", "n_layer": 1, "n_head": 2, "n_embd": 16,
          "n_positions": 24, "vocab_size": 61, "initializer_range": 0.4,
          "tie_word_embeddings": false, "resid_pdrop": 0, "embd_pdrop": 0,
          "attn_pdrop": 0})");
}

const std::string &generatorFile() {
  static const std::string path = [] {
    Build build{Strategy{"dp=2"}};
    build.generates = true;
    build.precision = "f64";
    build.sequence = 24;
    build.maxBatch = 4;
    build.prefillChunk = 3;
    return compileModel(configFile(), build);
  }();
  return path;
}

tsr_session_options settings() {
  tsr_session_options options = tessera::sessionOptions();
  options.seed = 3;
  options.threads = 2;
  options.poison = 1;
  return options;
}

tsr_request_options drawing(int64_t seed) {
  tsr_request_options options = tessera::requestOptions();
  options.max_new_tokens = 6;
  options.temperature = 0.9;
  options.seed = seed;
  return options;
}

Tokens promptOf(int64_t k) { return Tokens(1 + k % 7, int32_t(k % 61)); }

/// Returns the tokens of requests that run one after the other.
std::vector<Tokens> oneByOne(int64_t requests) {
  tessera::Generator generator(tessera::Artifact(generatorFile()), "",
                               settings());
  std::vector<Tokens> results;
  for (int64_t k = 0; k < requests; ++k) {
    generator.add(promptOf(k), drawing(k));
    Tokens &result = results.emplace_back();
    tsr_generated made = {};
    while (!made.ended) {
      while (!generator.next(made))
        EXPECT_GT(generator.step(), 0);
      result.push_back(made.token);
    }
    EXPECT_EQ(made.ended, TSR_ENDED_LENGTH);
  }
  EXPECT_EQ(generator.step(), 0);
  return results;
}

struct Result {
  Tokens tokens;
  int32_t ended = TSR_GOES_ON; ///< Set by the thread that steps.
};

void collect(void *context, const tsr_generated *token, const tsr_alternative *,
             size_t) {
  auto &result = *static_cast<Result *>(context);
  if (token->token >= 0)
    result.tokens.push_back(token->token);
  result.ended = token->ended;
}

TEST(GeneratorTest, ThreadsAddWhileOneSteps) {
  constexpr int64_t threads = 4, each = 6;
  std::vector<Result> results(threads * each);
  tessera::Generator generator(tessera::Artifact(generatorFile()), "",
                               settings());
  std::vector<std::thread> clients;
  for (int64_t t = 0; t < threads; ++t)
    clients.emplace_back([&, t] {
      for (int64_t k = t * each; k < (t + 1) * each; ++k) {
        tsr_request_options options = drawing(k);
        options.on_token = collect;
        options.context = &results[k];
        generator.add(promptOf(k), options);
        std::this_thread::yield();
      }
    });
  auto count = [&] {
    return std::count_if(results.begin(), results.end(),
                         [](const Result &result) { return result.ended; });
  };
  while (count() < threads * each) {
    EXPECT_GT(generator.wait(-1), 0);
    generator.step();
  }
  for (std::thread &client : clients)
    client.join();
  std::vector<Tokens> wanted = oneByOne(threads * each);
  for (int64_t k = 0; k < threads * each; ++k)
    EXPECT_EQ(results[k].tokens, wanted[k]) << k;
  EXPECT_EQ(generator.wait(1), 0);
  tsr_generated made;
  EXPECT_FALSE(generator.next(made)); // listeners have had all of them
}

/// The same with the thread of the wrapper; one that is stopped ends all.
TEST(GeneratorTest, AThreadStepsForTheOthers) {
  constexpr int64_t count = 12;
  std::vector<Tokens> found(count), wanted = oneByOne(count);
  std::shared_ptr<tessera::GeneratorRequest> last;
  tessera::GeneratorRequest::Token token;
  {
    tessera::GeneratorThread generator(tessera::Artifact(generatorFile()), "",
                                       settings());
    std::vector<std::thread> clients;
    for (int64_t k = 0; k < count; ++k)
      clients.emplace_back([&, k] {
        auto request = generator.add(promptOf(k), drawing(k));
        tessera::GeneratorRequest::Token token = {};
        while (!token.made.ended)
          if (request->take(token, std::chrono::seconds(60)))
            found[k].push_back(token.made.token);
      });
    for (std::thread &client : clients)
      client.join();
    EXPECT_EQ(found, wanted);
    auto cancelled = generator.add(promptOf(0));
    generator.cancel(*cancelled);
    do
      ASSERT_TRUE(cancelled->take(token, std::chrono::seconds(60)));
    while (!token.made.ended);
    EXPECT_EQ(token.made.ended, TSR_ENDED_CANCELLED);
    EXPECT_EQ(generator.failure(), "");
    for (int64_t k = 0; k < 40; ++k)
      last = generator.add(promptOf(0));
  }
  do
    ASSERT_TRUE(last->take(token, std::chrono::seconds(0)));
  while (!token.made.ended);
  EXPECT_EQ(token.made.ended, TSR_ENDED_CANCELLED);
}

/// Requests of a stopped thread end as cancelled, and it takes nothing more.
TEST(GeneratorTest, AThreadThatIsStoppedTakesNothing) {
  tessera::GeneratorThread generator(tessera::Artifact(generatorFile()), "",
                                     settings());
  std::vector<std::shared_ptr<tessera::GeneratorRequest>> requests;
  for (int64_t k = 0; k < 40; ++k)
    requests.push_back(generator.add(promptOf(0)));
  generator.stop();
  tessera::GeneratorRequest::Token token;
  do
    ASSERT_TRUE(requests.back()->take(token, std::chrono::seconds(60)));
  while (!token.made.ended);
  EXPECT_EQ(token.made.ended, TSR_ENDED_CANCELLED);
  EXPECT_EQ(generator.failure(), "");
  try {
    generator.add(promptOf(0));
    ADD_FAILURE() << "a request is added";
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), TSR_ABORTED);
    EXPECT_STREQ(error.what(), "the generator has stopped");
  }
}

/// A listener that cancels its own request at the second token and adds one.
struct Relay {
  tessera::Generator *generator = nullptr;
  Result own, next;
};

void relay(void *context, const tsr_generated *token,
           const tsr_alternative *others, size_t count) {
  auto &self = *static_cast<Relay *>(context);
  collect(&self.own, token, others, count);
  EXPECT_EQ(count, token->token < 0 ? 0u : 3u);
  if (self.own.tokens.size() != 2 || token->ended)
    return;
  self.generator->cancel(token->request);
  tsr_request_options options = drawing(1);
  options.on_token = collect;
  options.context = &self.next;
  self.generator->add(promptOf(1), options);
}

TEST(GeneratorTest, ListenersCancelAndAdd) {
  tessera::Generator generator(tessera::Artifact(generatorFile()), "",
                               settings());
  Relay state;
  state.generator = &generator;
  tsr_request_options options = drawing(0);
  options.alternatives = 3;
  options.on_token = relay;
  options.context = &state;
  generator.add(promptOf(0), options);
  while (generator.active() > 0)
    generator.step();
  std::vector<Tokens> wanted = oneByOne(2);
  EXPECT_EQ(state.own.tokens, Tokens(wanted[0].begin(), wanted[0].begin() + 2));
  EXPECT_EQ(state.own.ended, TSR_ENDED_CANCELLED);
  EXPECT_EQ(state.next.tokens, wanted[1]);
}

/// Writes the same weights, but for one token, one of whose values is so far
/// from the mean that the difference is infinite. (Files with NaN are not
/// loaded.)
std::string weightsThatOverflow(int32_t token) {
  Build build;
  build.precision = "f64";
  build.sequence = 24;
  tsr_session_options options = settings();
  options.poison = 0;
  tessera::Session session(tessera::Artifact(compileModel(configFile(), build)),
                           options);
  session.init();
  const std::string name = "transformer.wte.weight";
  std::vector<double> table = session.read("parameter", name, 61 * 16);
  std::fill_n(table.begin() + token * 16, 16, -1.7e308);
  table[token * 16] = 1.7e308;
  session.write("parameter", name, table);
  std::string folder = scratchPath("weights");
  session.save(folder);
  return folder + "/step-00000000";
}

/// The others have the tokens that they have alone.
TEST(GeneratorTest, LogitsThatAreNoNumbersEndTheirRequestAlone) {
  tessera::Generator generator(tessera::Artifact(generatorFile()),
                               weightsThatOverflow(40), settings());
  std::map<int64_t, int64_t> numberOf;
  std::vector<Tokens> found(6);
  std::vector<int32_t> ended(6);
  for (int64_t k = 0; k < 6; ++k) {
    Tokens prompt = promptOf(k);
    if (k == 2)
      prompt[1] = 40;
    numberOf[generator.add(prompt, drawing(k))] = k;
  }
  while (generator.step() > 0)
    for (tsr_generated made; generator.next(made);) {
      ended[numberOf[made.request]] = made.ended;
      if (made.token >= 0)
        found[numberOf[made.request]].push_back(made.token);
    }
  std::vector<Tokens> wanted = oneByOne(6);
  for (int64_t k = 0; k < 6; ++k) {
    EXPECT_EQ(found[k], k == 2 ? Tokens() : wanted[k]) << k;
    EXPECT_EQ(ended[k], k == 2 ? TSR_ENDED_FAILED : TSR_ENDED_LENGTH) << k;
  }
}

/// A thread's scores are those of a generator that has nothing else to do; a
/// text whose logits are no numbers has none, and the others have theirs.
TEST(GeneratorTest, AThreadScoresForOthers) {
  const std::string weights = weightsThatOverflow(40);
  std::vector<std::future<std::vector<tsr_token_score>>> found;
  tessera::GeneratorThread thread(tessera::Artifact(generatorFile()), weights,
                                  settings());
  for (int32_t k = 0; k < 6; ++k)
    found.push_back(thread.score({k, k == 2 ? 40 : 3, 4, 5}, 1));
  auto request = thread.add({7, 8}, drawing(0));
  tessera::Generator alone(tessera::Artifact(generatorFile()), weights,
                           settings());
  for (int32_t k = 0; k < 6; ++k) {
    if (k == 2) {
      EXPECT_THROW(found[k].get(), tessera::Exception);
      continue;
    }
    const int64_t id = alone.score({k, 3, 4, 5}, 1);
    std::vector<tsr_token_score> wanted(3);
    EXPECT_EQ(alone.takeScores(id, wanted), TSR_GOES_ON);
    while (alone.step() > 0)
      ;
    EXPECT_EQ(alone.takeScores(id, wanted), TSR_ENDED_SCORED);
    const std::vector<tsr_token_score> scores = found[k].get();
    ASSERT_EQ(scores.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(scores[i].log_probability, wanted[i].log_probability, 1e-11);
  }
  EXPECT_THROW(thread.score({1}, 1), tessera::Exception);
}

TEST(GeneratorTest, WrapperReportsAlternatives) {
  tessera::Generator generator(tessera::Artifact(generatorFile()), "",
                               settings());
  EXPECT_EQ(generator.notes(), "");
  tsr_request_options options = tessera::requestOptions();
  options.max_new_tokens = 1;
  options.alternatives = 4;
  int64_t request = generator.add({5, 6}, options);
  tsr_generated made = {};
  std::vector<tsr_alternative> others;
  EXPECT_FALSE(generator.next(made, others, 3));
  EXPECT_EQ(generator.step(), 2);
  ASSERT_TRUE(generator.next(made, others, 3));
  EXPECT_EQ(made.request, request);
  ASSERT_EQ(others.size(), 3u);
  EXPECT_EQ(others[0].token, made.token);
  EXPECT_GE(others[1].log_probability, others[2].log_probability);
  EXPECT_THROW(generator.cancel(request), tessera::Exception);
  EXPECT_THROW(generator.add({61}), tessera::Exception);
}

} // namespace
