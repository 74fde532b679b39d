//===- ExitStatus.h - the exit codes of commands ----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_EXITSTATUS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_EXITSTATUS_H

#include <string>

namespace tessera {

/// A run that was told to stop before its last step exits with EX_TEMPFAIL of
/// sysexits.h, which asks to be started again.
constexpr int kStoppedExitCode = 75;

/// Says what the exit codes of a command mean, for help and manual pages.
inline std::string exitStatus(const std::string &command) {
  const char *failure = "1 if something failed or was refused; the error says "
                        "what and why.";
  if (command != "train")
    return std::string("0 on success, ") + failure;
  return "0 if all steps are done or --early-stop ended the run, " +
         std::to_string(kStoppedExitCode) +
         " if a signal or a closed standard output stopped it before its last "
         "step (--resume-if-any goes on), " +
         failure;
}

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_EXITSTATUS_H
