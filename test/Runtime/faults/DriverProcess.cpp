#include "test/Runtime/faults/DriverProcess.h"

#include "test/Runtime/fixture/Fixture.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace faults {

using fixture::readFile;

std::string Outcome::said(const std::string &word) const {
  std::istringstream lines(out);
  std::string line, rest;
  while (std::getline(lines, line))
    if (line.rfind(word + " ", 0) == 0)
      rest = line.substr(word.size() + 1);
  return rest;
}

std::string Outcome::describe() const {
  std::ostringstream text;
  if (isStuck)
    text << "it is stuck";
  else if (signal)
    text << "signal " << signal;
  else
    text << "exit code " << exitCode;
  text << (hasFired ? ", a call failed" : ", no call failed") << "\n"
       << out << error;
  return text.str();
}

static std::vector<char *> pointersTo(std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

DriverProcess::DriverProcess(const std::vector<std::string> &arguments,
                             const std::vector<std::string> &environment,
                             const std::string &prefix)
    : prefix(prefix) {
  std::vector<std::string> words = {FAULT_DRIVER}, settings = environment;
  words.insert(words.end(), arguments.begin(), arguments.end());
  settings.push_back("LD_PRELOAD=" FAULT_INTERPOSER);
  settings.push_back("TESSERA_FAULT_REPORT=" + prefix + ".report");
  std::remove((prefix + ".report").c_str());
  for (char **entry = environ; *entry; ++entry)
    settings.push_back(*entry);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, 1, (prefix + ".out").c_str(),
                                   flags, 0644);
  posix_spawn_file_actions_addopen(&actions, 2, (prefix + ".error").c_str(),
                                   flags, 0644);
  int code = posix_spawn(&process, FAULT_DRIVER, &actions, nullptr,
                         pointersTo(words).data(), pointersTo(settings).data());
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0)
    throw std::runtime_error("cannot start " FAULT_DRIVER);
}

DriverProcess::~DriverProcess() {
  if (process > 0)
    wait({});
}

Outcome DriverProcess::wait(std::chrono::steady_clock::time_point deadline) {
  Outcome outcome;
  int status = 0;
  while (waitpid(process, &status, outcome.isStuck ? 0 : WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      outcome.isStuck = true;
      kill(process, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process = -1;
  if (WIFEXITED(status))
    outcome.exitCode = WEXITSTATUS(status);
  else if (!outcome.isStuck)
    outcome.signal = WTERMSIG(status);
  readOutputs(outcome);
  return outcome;
}

void DriverProcess::readOutputs(Outcome &outcome) const {
  outcome.out = readFile(prefix + ".out");
  outcome.error = readFile(prefix + ".error");
  std::istringstream report(readFile(prefix + ".report"));
  std::string word;
  while (report >> word) {
    if (word == "fired")
      outcome.hasFired = true;
    else
      report >> outcome.calls[word];
  }
}

} // namespace faults
