//===- Stopping.cpp - how the processes of a run stop together ------------===//

#include "tools/tessera/train/Stopping.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/StopSignals.h"
#include <algorithm>
#include <cstdio>

using namespace tessera;

/// Only the first process prints what somebody reads.
void Stopping::checkOutput() {
  if (const char *closed = closedOutput()) {
    own = Wish::Stop;
    printNote(std::string("nobody reads ") + closed +
              " any more: stopping after this step");
  } else if (std::ferror(stdout)) {
    fail();
    printNote("the standard output cannot be written: stopping after this "
              "step");
  }
}

bool Stopping::agree(tsr_session *session) {
  if (isToldToStop())
    own = std::max(own, Wish::Stop);
  if (isFirst && own == Wish::GoOn)
    checkOutput();
  auto wish = static_cast<int32_t>(own);
  int32_t largest = wish;
  if (tsr_session_largest(session, wish, &largest) != TSR_OK)
    return !printError(tsr_last_error());
  agreed = std::max(agreed, static_cast<Wish>(largest));
  bool isNews = own == Wish::GoOn && agreed == Wish::Stop;
  if (isFirst && isNews && !isToldToStop())
    printNote("another process was told to stop: stopping after this step");
  own = std::max(own, agreed);
  return true;
}
