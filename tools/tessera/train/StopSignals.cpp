//===- StopSignals.cpp - what tells a process to stop its run -------------===//

#include "tools/tessera/train/StopSignals.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace tessera;

namespace {

/// A signal that stops a run, and its name in messages. A scheduler may send
/// any of these some time before it kills.
struct Stopper {
  int signal;
  const char *name;
};
constexpr Stopper kStoppers[] = {{SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"},
                                 {SIGHUP, "SIGHUP"},   {SIGUSR1, "SIGUSR1"},
                                 {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}};

/// A third Ctrl-C ends a run that does not save.
constexpr int kInterruptsToEnd = 3;

// Handlers may use lock-free atomics alone.
std::atomic<RunStage> stage{RunStage::Preparing};
std::atomic<bool> isTold{false}, isTalking{false}, isTerminal{false};
std::atomic<int> interrupts{0};
static_assert(std::atomic<RunStage>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

const char *nameOf(int signal) {
  for (const Stopper &stopper : kStoppers)
    if (stopper.signal == signal)
      return stopper.name;
  return "signal";
}

/// Writes "note: SIGTERM: TEXT" to standard error as a handler may: with one
/// call of write, and a line break before it that ends a line of progress.
void say(int signal, const char *text) {
  if (!isTalking)
    return;
  char line[256];
  size_t size = 0;
  auto add = [&](const char *part) {
    for (; *part && size < sizeof line; ++part)
      line[size++] = *part;
  };
  add(isTerminal ? "\nnote: " : "note: ");
  add(nameOf(signal));
  add(": ");
  add(text);
  add("\n");
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, size);
}

[[noreturn]] void endAtOnce(int signal) {
  say(signal, "ended at once, the steps since the last checkpoint are lost");
  std::signal(signal, SIG_DFL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  raise(signal);
  _exit(128 + signal);
}

void stopSteps(int signal) {
  bool isRepeated = isTold.exchange(true);
  int count = signal == SIGINT ? ++interrupts : interrupts.load();
  if (signal == SIGINT && count >= kInterruptsToEnd)
    endAtOnce(signal);
  if (!isRepeated)
    say(signal, "stopping after this step");
  else if (signal == SIGINT)
    say(signal, count < kInterruptsToEnd - 1
                    ? "stopping after this step"
                    : "stopping after this step; once more ends the run at "
                      "once, and the steps since the last checkpoint are lost");
}

void onSignal(int signal) {
  int savedError = errno;
  switch (stage.load()) {
  case RunStage::Preparing:
    llvm::sys::RunInterruptHandlers(); // removes temporary files
    say(signal, "stopped before the first step");
    _exit(kStoppedExitCode);
  case RunStage::Stepping:
    stopSteps(signal);
    break;
  case RunStage::Saving:
    isTold = true;
    say(signal, "stopping when the checkpoint is saved");
    break;
  case RunStage::Ending:
    break;
  }
  errno = savedError;
}

/// `nohup` ignores SIGHUP so that a run goes on without its terminal.
bool isIgnored(int signal) {
  struct sigaction now;
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// LLVM may have put handlers of its own before ours, which end the process.
void install() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const Stopper &stopper : kStoppers)
    sigaddset(&action.sa_mask, stopper.signal);
  for (const Stopper &stopper : kStoppers)
    if (stopper.signal != SIGHUP || !isIgnored(SIGHUP))
      sigaction(stopper.signal, &action, nullptr);
}

bool isClosed(int descriptor) {
  pollfd polled = {descriptor, 0, 0};
  return poll(&polled, 1, 0) == 1 &&
         (polled.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

} // namespace

void tessera::handleStopSignals(bool isFirst) {
  isTalking = isFirst;
  isTerminal = isatty(STDERR_FILENO) != 0;
  stage = RunStage::Preparing;
  std::signal(SIGPIPE, SIG_IGN);
  install();
}

void tessera::enterStage(RunStage next) {
  if (stage.exchange(next) == RunStage::Preparing)
    install();
}

bool tessera::isToldToStop() { return isTold; }

const char *tessera::closedOutput() {
  return isClosed(STDOUT_FILENO)   ? "the standard output"
         : isClosed(STDERR_FILENO) ? "the standard error"
                                   : nullptr;
}
