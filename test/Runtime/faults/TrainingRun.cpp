#include "test/Runtime/faults/TrainingRun.h"

#include "test/Runtime/fixture/FixtureLayout.h"

#include <cstring>

namespace faults {

static tsr_data_options dataOptions(const tessera::Artifact &artifact) {
  tsr_data_options options = {};
  options.format = "uint16";
  options.sequence = artifact.sequence();
  options.vocabulary = artifact.vocabulary();
  return options;
}

TrainingRun::TrainingRun(const std::string &artifact, const std::string &data,
                         const tsr_session_options &options)
    : artifact(artifact), data({data}, dataOptions(this->artifact)),
      session(this->artifact, options) {
  session.useData(this->data);
}

void TrainingRun::trainTo(int64_t step) {
  while (session.nextStep() < step)
    session.step(data.batch(session.nextStep(), artifact.batch()));
}

std::vector<double> TrainingRun::state() {
  std::vector<double> all;
  for (const char *role : {"parameter", "moment1", "moment2"}) {
    for (double value : session.read(role, "transformer.w", V))
      all.push_back(value);
    all.push_back(session.read(role, "transformer.bias", 1)[0]);
  }
  return all;
}

std::string digestOf(int64_t step, const std::vector<double> &state) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (double value : state) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (unsigned char byte : bytes)
      hash = (hash ^ byte) * 1099511628211u;
  }
  return std::to_string(step) + "-" + std::to_string(hash);
}

} // namespace faults
