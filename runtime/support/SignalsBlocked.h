//===- SignalsBlocked.h - For the time of starting threads ------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SUPPORT_SIGNALSBLOCKED_H
#define TESSERA_RUNTIME_SUPPORT_SIGNALSBLOCKED_H

#include <pthread.h>
#include <signal.h>

namespace tessera {

/// Threads started while it lives take no signals but those of their own
/// faults: the application's handlers run on its own threads, not on ours.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
      sigdelset(&all, fatal);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_SIGNALSBLOCKED_H
