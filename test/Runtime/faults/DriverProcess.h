//===- DriverProcess.h - runs the driver under the interposer ---*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_FAULTS_DRIVERPROCESS_H
#define TESSERA_TEST_RUNTIME_FAULTS_DRIVERPROCESS_H

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace faults {

/// The end of a driver, and its output.
struct Outcome {
  int exitCode = -1; ///< -1: it did not exit by itself
  int signal = 0;    ///< signal that ended it; 0: none
  bool isStuck = false;
  bool hasFired = false;             ///< the chosen call failed
  std::map<std::string, long> calls; ///< counted for each function
  std::string out, error;

  bool succeeded() const { return exitCode == 0; }
  /// Returns what follows `word` on the last line of `out` that begins with it.
  std::string said(const std::string &word) const;
  std::string describe() const;
};

/// One driver, started by the constructor.
class DriverProcess {
public:
  /// `environment` is of the interposer; outputs go to files `prefix`.*.
  DriverProcess(const std::vector<std::string> &arguments,
                const std::vector<std::string> &environment,
                const std::string &prefix);
  ~DriverProcess();
  DriverProcess(const DriverProcess &) = delete;
  DriverProcess &operator=(const DriverProcess &) = delete;

  /// Waits for its end; kills it at the deadline.
  Outcome wait(std::chrono::steady_clock::time_point deadline);

private:
  void readOutputs(Outcome &outcome) const;

  std::string prefix;
  pid_t process = -1;
};

} // namespace faults

#endif // TESSERA_TEST_RUNTIME_FAULTS_DRIVERPROCESS_H
