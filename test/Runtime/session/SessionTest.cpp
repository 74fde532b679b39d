//===- SessionTest.cpp - training through the C API -----------------------===//
#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fixture;
using ::testing::Test;

namespace {

struct MeshCase {
  int dp, tp;
};
class SessionOnMesh : public ::testing::TestWithParam<MeshCase> {};

/// The fixture's model, serial, in f64.
struct Reference {
  std::vector<double> w, m1 = std::vector<double>(V + 1),
                         m2 = std::vector<double>(V + 1);
  double loss, norm;

  void step(int64_t number, double lr) {
    std::vector<double> g(V + 1);
    std::vector<int32_t> tokens = tokensOf(number);
    loss = norm = 0;
    for (int row = 0; row < BATCH; ++row)
      for (int i = 0; i < SEQUENCE; ++i) {
        const int32_t *at = &tokens[row * (SEQUENCE + 1) + i];
        double diff = w[at[0]] + w[V] - double(at[1]) / V;
        loss += 0.5 * diff * diff / (BATCH * SEQUENCE);
        g[at[0]] += diff / (BATCH * SEQUENCE);
        g[V] += diff / (BATCH * SEQUENCE);
      }
    for (int i = 0; i <= V; ++i) {
      norm += g[i] * g[i];
      m1[i] = 0.9 * m1[i] + 0.1 * g[i];
      m2[i] = 0.95 * m2[i] + 0.05 * g[i] * g[i];
      double c1 = 1 / (1 - std::pow(0.9, number + 1));
      double c2 = 1 / (1 - std::pow(0.95, number + 1));
      w[i] -= lr * m1[i] * c1 / (std::sqrt(m2[i] * c2) + 1e-8);
    }
    norm = std::sqrt(norm);
  }
};

TEST_P(SessionOnMesh, TrainsAsTheSerialModel) {
  tsr_session_options options = {};
  options.poison = 1;
  Training training(GetParam().dp, GetParam().tp, options);
  Reference reference;
  reference.w = training.read("parameter", "transformer.w", V);
  reference.w.push_back(1);
  for (int64_t i = 0; i < 6; ++i) {
    tsr_step_result result;
    ASSERT_EQ(training.step(i, &result), TSR_OK) << tsr_last_error();
    reference.step(i, result.lr);
    EXPECT_EQ(result.step, i);
    // f32 sums of 32 tokens against f64.
    EXPECT_NEAR(result.loss, reference.loss, 1e-5);
    EXPECT_NEAR(result.grad_norm, reference.norm, 1e-5);
  }
  std::vector<double> w = training.read("parameter", "transformer.w", V);
  for (int i = 0; i < V; ++i)
    EXPECT_NEAR(w[i], reference.w[i], 2e-4);
  EXPECT_EQ(tsr_session_next_step(training.session), 6);
}

TEST_P(SessionOnMesh, InitialParametersAreTheSameBits) {
  Training serial(1, 1), parallel(GetParam().dp, GetParam().tp);
  EXPECT_EQ(parallel.state(), serial.state());
  EXPECT_NE(serial.read("parameter", "transformer.w", V)[0], 0);
}

TEST_P(SessionOnMesh, WriteThenReadGivesTheSame) {
  Training training(GetParam().dp, GetParam().tp);
  std::vector<double> values(V);
  for (int i = 0; i < V; ++i)
    values[i] = i + 0.5;
  for (const char *role : {"parameter", "moment1", "moment2"}) {
    training.write(role, "transformer.w", values);
    EXPECT_EQ(training.read(role, "transformer.w", V), values);
  }
}

TEST_P(SessionOnMesh, BuffersHoldAllOfATensor) {
  Training training(GetParam().dp, GetParam().tp);
  std::vector<float> values(V + 1);
  EXPECT_EQ(tsr_session_write_f32(training.session, "parameter",
                                  "transformer.w", values.data(), V + 1),
            TSR_INVALID_ARGUMENT);
  std::string size = std::to_string(V), more = std::to_string(V + 1);
  EXPECT_NE(std::string(tsr_last_error())
                .find(" has " + size + " elements, but the call brings " +
                      more + "; it takes them all"),
            std::string::npos)
      << tsr_last_error();
  EXPECT_EQ(tsr_session_read_f32(training.session, "parameter", "transformer.w",
                                 values.data(), 1),
            TSR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tsr_last_error())
                .find(" has " + size +
                      " elements, but the call has room for 1; it takes them "
                      "all"),
            std::string::npos)
      << tsr_last_error();
}

/// f32 reads what f64 reads, rounded.
TEST_P(SessionOnMesh, F32IsF64Rounded) {
  Training training(GetParam().dp, GetParam().tp);
  ASSERT_EQ(training.step(0), TSR_OK) << tsr_last_error();
  std::vector<float> written(V), values(V);
  for (int i = 0; i < V; ++i)
    written[i] = 1.0f / static_cast<float>(i + 3);
  ASSERT_EQ(tsr_session_write_f32(training.session, "parameter",
                                  "transformer.w", written.data(), V),
            TSR_OK)
      << tsr_last_error();
  for (const char *role : {"parameter", "moment1", "moment2"}) {
    std::vector<double> exact = training.read(role, "transformer.w", V);
    ASSERT_EQ(tsr_session_read_f32(training.session, role, "transformer.w",
                                   values.data(), V),
              TSR_OK)
        << tsr_last_error();
    EXPECT_EQ(values, std::vector<float>(exact.begin(), exact.end())) << role;
    if (role == std::string("parameter"))
      EXPECT_EQ(values, written);
    else
      EXPECT_NE(values[0], 0) << role;
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, SessionOnMesh,
                         ::testing::Values(MeshCase{1, 1}, MeshCase{2, 2},
                                           MeshCase{1, 4}),
                         [](const auto &info) {
                           return "dp" + std::to_string(info.param.dp) + "tp" +
                                  std::to_string(info.param.tp);
                         });

TEST(Session, PaddingIsZeroDespitePoison) {
  tsr_session_options options = {};
  options.poison = 1;
  Training training(1, 4, options);
  double local[3];
  ASSERT_EQ(tsr_session_read_local(training.session, 3, "parameter",
                                   "transformer.w", local, 3),
            TSR_OK);
  EXPECT_NE(local[0], 0);
  EXPECT_EQ(local[1], 0);
  EXPECT_EQ(local[2], 0);
}

TEST(Session, SeedChangesParameters) {
  tsr_session_options options = {};
  options.seed = 1;
  Training one(1, 1, options), zero(1, 1);
  EXPECT_NE(one.state(), zero.state());
}

TEST(Session, StepBeforeInitIsRefused) {
  TemporaryDirectory directory;
  std::string path = writeArtifact(directory / "model.tsr", 1, 1);
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  ASSERT_EQ(tsr_session_create(artifact, nullptr, &session), TSR_OK);
  tsr_artifact_destroy(artifact); // sessions live on
  std::vector<int32_t> tokens = tokensOf(0);
  EXPECT_EQ(tsr_session_step(session, tokens.data(), tokens.size(), nullptr),
            TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "tsr_session_init");
  EXPECT_EQ(tsr_session_save(session, directory.path.c_str()),
            TSR_INVALID_ARGUMENT);
  tsr_session_destroy(session);
}

TEST(Session, BadTokensAreNamed) {
  Training training(1, 1);
  std::vector<int32_t> tokens = tokensOf(0);
  EXPECT_EQ(tsr_session_step(training.session, tokens.data(), 7, nullptr),
            TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "got 7 tokens, it takes 40");
  tokens[6] = V;
  EXPECT_EQ(
      tsr_session_step(training.session, tokens.data(), tokens.size(), nullptr),
      TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "token 10 at position 1 of sequence 1");
  EXPECT_EQ(training.step(0), TSR_OK) << tsr_last_error();
}

TEST(Session, BadCallsAreNamed) {
  Training training(1, 1);
  double value;
  EXPECT_EQ(tsr_session_read(training.session, "parameter", "x", &value, 1),
            TSR_NOT_FOUND);
  EXPECT_EQ(tsr_session_read(training.session, "weight", "x", &value, 1),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_session_read(training.session, "parameter", "transformer.w",
                             &value, 1),
            TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "has 10 elements");
  EXPECT_EQ(tsr_session_read_local(training.session, 1, "parameter",
                                   "transformer.bias", &value, 1),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_session_step(nullptr, nullptr, 0, nullptr),
            TSR_INVALID_ARGUMENT);
}

TEST(Session, UnknownDeviceAndCommunicatorAreRefused) {
  Training training(1, 1);
  tsr_session *session = nullptr;
  tsr_session_options options = {};
  options.size = sizeof options;
  options.device = "cuda";
  EXPECT_EQ(tsr_session_create(training.artifact, &options, &session),
            TSR_UNSUPPORTED);
  options.device = nullptr;
  options.communicator = "mpi";
  EXPECT_EQ(tsr_session_create(training.artifact, &options, &session),
            TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(), "use 'threads'");
  options.size = 0;
  EXPECT_EQ(tsr_session_create(training.artifact, &options, &session),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(session, nullptr);
}

TEST(Session, TooMuchMemoryIsRefusedBefore) {
  TemporaryDirectory directory;
  std::string path =
      writeArtifact(directory / "model.tsr", 1, 4, [](nlohmann::json &m) {
        m["arena"]["bytes"] = int64_t(1) << 45;
      });
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  EXPECT_EQ(tsr_session_create(artifact, nullptr, &session), TSR_OUT_OF_MEMORY);
  EXPECT_CONTAINS(tsr_last_error(), "4 x 35184372088832 bytes");
  tsr_artifact_destroy(artifact);
}

TEST(Session, ScheduleIsUsed) {
  Training training(1, 1);
  tsr_step_result result;
  ASSERT_EQ(training.step(0, &result), TSR_OK);
  EXPECT_DOUBLE_EQ(result.lr, 0.05); // warm-up, 1 of 2
  tsr_schedule schedule = {sizeof schedule, 0.5, 0.25, 0, 0, nullptr, 0};
  ASSERT_EQ(tsr_session_set_schedule(training.session, &schedule), TSR_OK);
  ASSERT_EQ(training.step(1, &result), TSR_OK);
  EXPECT_EQ(result.lr, 0.25);
  schedule.lr = NAN;
  EXPECT_EQ(tsr_session_set_schedule(training.session, &schedule),
            TSR_INVALID_ARGUMENT);
}

/// A caller that was compiled before there were kinds.
TEST(Session, ScheduleWithoutItsLastFieldsIsTheCosine) {
  Training training(1, 1);
  tsr_schedule schedule = {
      offsetof(tsr_schedule, kind), 0.5, 0.25, 0, 4, "no kind", -1};
  ASSERT_EQ(tsr_session_set_schedule(training.session, &schedule), TSR_OK)
      << tsr_last_error();
  tsr_step_result result;
  for (double expected : {0.5, 0.25 + 0.125 * (1 + std::sqrt(0.5)), 0.375}) {
    ASSERT_EQ(training.step(0, &result), TSR_OK);
    EXPECT_DOUBLE_EQ(result.lr, expected);
  }
}

TEST(Session, ScheduleOfAKindIsUsed) {
  const struct {
    const char *kind;
    double rates[4];
  } cases[] = {
      {"linear", {0.5, 0.4, 0.3, 0.2}},
      {"constant", {0.5, 0.5, 0.5, 0.5}},
      {"wsd", {0.5, 0.5, 0.3, 0.1}},
      {"inverse-sqrt", {0.5, 0.5 / std::sqrt(2), 0.5 / std::sqrt(3), 0.25}}};
  for (const auto &c : cases) {
    Training training(1, 1);
    int64_t decay = std::string(c.kind) == "wsd" ? 2 : 0;
    tsr_schedule schedule = {sizeof schedule, 0.5, 0.1, 0, 4, c.kind, decay};
    if (decay)
      schedule.total_steps = 3;
    ASSERT_EQ(tsr_session_set_schedule(training.session, &schedule), TSR_OK);
    tsr_step_result result;
    for (int64_t step = 0; step < 4; ++step) {
      ASSERT_EQ(training.step(step, &result), TSR_OK);
      EXPECT_DOUBLE_EQ(result.lr, c.rates[step]) << c.kind << " " << step;
    }
  }
}

TEST(Session, ScheduleThatContradictsItselfIsRefused) {
  Training training(1, 1);
  auto refusal = [&](const char *kind, int64_t decay) {
    tsr_schedule schedule = {sizeof schedule, 0.5, 0.1, 4, 10, kind, decay};
    EXPECT_EQ(tsr_session_set_schedule(training.session, &schedule),
              TSR_INVALID_ARGUMENT);
    return std::string(tsr_last_error());
  };
  EXPECT_EQ(refusal("cosin", 0),
            "the schedule's kind is 'cosin', must be one of cosine, linear, "
            "constant, wsd, inverse-sqrt");
  EXPECT_CONTAINS(refusal("wsd", 7), "4 warm-up steps and 7 of decay, but only "
                                     "10 in all");
  EXPECT_CONTAINS(refusal("wsd", -1), "decay_steps is -1");
  EXPECT_CONTAINS(refusal(nullptr, 3), "decay_steps 3, which only kind 'wsd'");
  tsr_schedule fits = {sizeof fits, 0.5, 0.1, 4, 10, "wsd", 6};
  EXPECT_EQ(tsr_session_set_schedule(training.session, &fits), TSR_OK);
}

TEST(Session, NanLossIsReturned) {
  Training training(2, 2);
  std::vector<double> fault(MAX_RANKS);
  fault[3] = FAULT_NAN;
  training.write("value", "fault", fault);
  tsr_step_result result;
  ASSERT_EQ(training.step(0, &result), TSR_OK) << tsr_last_error();
  EXPECT_TRUE(std::isnan(result.loss));
}

/// Makes rank 1 of the 2x2 mesh misbehave; returns the message.
std::string failStep(int kind, tsr_status expected, int32_t timeout) {
  tsr_session_options options = {};
  options.timeout_ms = timeout;
  Training training(2, 2, options);
  EXPECT_EQ(training.step(0), TSR_OK) << tsr_last_error();
  std::vector<double> fault(MAX_RANKS);
  fault[1] = kind;
  training.write("value", "fault", fault);
  EXPECT_EQ(training.step(1), expected);
  std::string message = tsr_last_error();
  // The session is dead, and says so with the first message.
  EXPECT_EQ(training.step(2), TSR_ABORTED);
  EXPECT_CONTAINS(tsr_last_error(), message);
  EXPECT_EQ(tsr_session_save(training.session, training.directory.path.c_str()),
            TSR_ABORTED);
  EXPECT_EQ(tsr_session_next_step(training.session), 1);
  return message;
}

TEST(SessionFailure, ProgramError) {
  std::string message = failStep(FAULT_ERROR, TSR_INTERNAL, 60000);
  EXPECT_CONTAINS(message, "rank 1 stopped with code 7 in step 2");
}

TEST(SessionFailure, EntryError) {
  std::string message = failStep(FAULT_GEMM, TSR_INTERNAL, 60000);
  EXPECT_CONTAINS(message, "gemm 'h.0.step7' of layer 0 (op 7) on rank 1");
}

TEST(SessionFailure, RankThatLeaves) {
  std::string message = failStep(FAULT_LEAVE, TSR_INTERNAL, 60000);
  EXPECT_CONTAINS(message,
                  "all_reduce 'h.0.step2' of layer 0 (op 2) over axes 'dp', "
                  "'tp' cannot finish: ");
  EXPECT_CONTAINS(message, "rank 1 is missing, it has left the program; ");
}

TEST(SessionFailure, RankThatStalls) {
  std::string message = failStep(FAULT_STALL, TSR_TIMEOUT, 200);
  EXPECT_CONTAINS(message,
                  "all_reduce 'h.0.step2' of layer 0 (op 2) over axes 'dp', "
                  "'tp' did not finish within 200 ms: ");
  EXPECT_CONTAINS(message, "rank 1 is missing, it is in reduce_scatter "
                           "'h.0.step");
  EXPECT_CONTAINS(message, "; ranks 0, 2 and 3 have arrived");
}

TEST(SessionFailure, RanksThatDisagree) {
  std::string message = failStep(FAULT_DISAGREE, TSR_INTERNAL, 60000);
  EXPECT_CONTAINS(message, "ranks disagree");
  EXPECT_CONTAINS(message, "rank 1");
  EXPECT_CONTAINS(message, "1 x 1 f32");
  EXPECT_CONTAINS(message, "1 x 2 f32");
}

} // namespace
