//===- Driver.cpp - trains, saves and resumes under faults ----------------===//
//   FaultDriver ARTIFACT DATA CHECKPOINTS [RANK SIZE RENDEZVOUS]
//
// Each tensor is in a file of its own. Says "saved STEP" after each save that
// succeeded, "resumed STEP" and in the end "digest TEXT"; or "error: WHY" on
// the other stream, and exits with 1.
//===----------------------------------------------------------------------===//
#include "test/Runtime/faults/TrainingRun.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

using faults::TrainingRun;

namespace {

/// Writes without memory of its own: there may be none left.
void say(int file, const char *what, const char *text) {
  char line[4096];
  int length = std::snprintf(line, sizeof line, "%s%s\n", what, text);
  if (write(file, line, length < 4096 ? length : 4095) < 0)
    std::_Exit(2);
}

class Driver {
public:
  explicit Driver(char **arguments)
      : artifact(arguments[1]), data(arguments[2]), directory(arguments[3]) {
    options.threads = 4;
    options.timeout_ms = 20000;
    options.rendezvous_timeout_ms = 2500;
    options.max_shard_bytes = 1; // a file for each tensor, and their index
    if (!arguments[4])
      return;
    options.rank = std::atoi(arguments[4]);
    options.world_size = std::atoi(arguments[5]);
    options.rendezvous = arguments[6];
  }

  void run() {
    {
      TrainingRun first(artifact, data, options);
      first.session.claim(directory);
      first.session.init();
      first.trainTo(faults::halfOfSteps);
      save(first);
      save(first); // takes the place of the one before
    }
    TrainingRun second(artifact, data, options);
    second.session.load(directory);
    say(1, "resumed ", std::to_string(second.session.nextStep()).c_str());
    second.session.loadWeights(directory + "/step-0000000" + // the same ones
                               std::to_string(faults::halfOfSteps));
    second.trainTo(faults::allSteps);
    save(second);
    second.session.prune(directory, 1);
    say(1, "digest ",
        faults::digestOf(second.session.nextStep(), second.state()).c_str());
  }

private:
  void save(TrainingRun &run) {
    run.session.save(directory);
    say(1, "saved ", std::to_string(run.session.nextStep()).c_str());
  }

  const std::string artifact, data, directory;
  tsr_session_options options = tessera::sessionOptions();
};

} // namespace

int main(int count, char **arguments) {
  if (count != 4 && count != 7) {
    say(2, "error: ",
        "usage: FaultDriver ARTIFACT DATA CHECKPOINTS "
        "[RANK SIZE RENDEZVOUS]");
    return 2;
  }
  try {
    Driver driver(arguments);
    if (void *arm = dlsym(RTLD_DEFAULT, "tessera_arm_faults"))
      reinterpret_cast<void (*)()>(arm)();
    driver.run();
    return 0;
  } catch (const std::exception &error) {
    say(2, "error: ", error.what());
  }
  return 1;
}
