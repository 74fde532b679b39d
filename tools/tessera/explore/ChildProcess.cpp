//===- ChildProcess.cpp - a program that is run for its output ------------===//

#include "tools/tessera/explore/ChildProcess.h"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

extern char **environ;

namespace {

constexpr int kMillisecondsToWait = 50;
constexpr size_t kMostBytesOfErrors = 64 << 10;

struct Pipe {
  int from = -1, to = -1;

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
      return false;
    from = ends[0];
    to = ends[1];
    return true;
  }
  void closeTo() {
    if (to >= 0)
      close(to);
    to = -1;
  }
  ~Pipe() {
    closeTo();
    if (from >= 0)
      close(from);
  }
};

/// Starts it as the first of a group of processes, with no signal blocked.
/// Returns an error number.
int spawn(const std::vector<std::string> &words, const Pipe &output,
          const Pipe &errors, pid_t &child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.to, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.to, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  int error = posix_spawn(&child, words.front().c_str(), &actions, &attributes,
                          arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/// Reads what is there. False at the end.
bool readSome(int from, std::string &text) {
  std::array<char, 1 << 16> buffer;
  ssize_t count = read(from, buffer.data(), buffer.size());
  if (count > 0)
    text.append(buffer.data(), count);
  return count > 0 || (count < 0 && errno == EINTR);
}

/// Reads both to their ends. Returns why that was given up, or "".
std::string readBoth(int output, int errors, size_t mostBytes,
                     const std::function<bool()> &isAwaited,
                     ChildResult &result) {
  pollfd ends[] = {{output, POLLIN, 0}, {errors, POLLIN, 0}};
  std::string *texts[] = {&result.output, &result.errors};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (!isAwaited())
      return "nobody waits for it any more";
    if (poll(ends, 2, kMillisecondsToWait) < 0 && errno != EINTR)
      return std::string("poll: ") + std::strerror(errno);
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd >= 0 && ends[i].revents &&
          !readSome(ends[i].fd, *texts[i]))
        ends[i].fd = -1;
      ends[i].revents = 0;
    }
    if (result.output.size() > mostBytes)
      return "its output is larger than " + std::to_string(mostBytes >> 20) +
             " MiB";
    if (result.errors.size() > kMostBytesOfErrors)
      result.errors.resize(kMostBytesOfErrors);
  }
  return "";
}

} // namespace

ChildResult tessera::runChild(const std::vector<std::string> &words,
                              size_t mostBytes,
                              const std::function<bool()> &isAwaited) {
  ChildResult result;
  Pipe output, errors;
  pid_t child = 0;
  int error = output.open() && errors.open() ? 0 : errno;
  if (!error)
    error = spawn(words, output, errors, child);
  if (error) {
    result.failure =
        "cannot start " + words.front() + ": " + std::strerror(error);
    return result;
  }
  output.closeTo();
  errors.closeTo();
  result.failure =
      readBoth(output.from, errors.from, mostBytes, isAwaited, result);
  if (!result.failure.empty())
    kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(status))
    result.exitCode = WEXITSTATUS(status);
  else if (result.failure.empty())
    result.failure = "it was ended by signal " +
                     std::to_string(WTERMSIG(status)) + " (" +
                     strsignal(WTERMSIG(status)) + ")";
  return result;
}
