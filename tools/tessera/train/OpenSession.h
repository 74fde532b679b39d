//===- OpenSession.h - the ranks of a run -----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_OPENSESSION_H
#define TESSERA_TOOLS_TESSERA_TRAIN_OPENSESSION_H

#include "tessera/tessera.h"
#include "tools/tessera/options/OptionGroups.h"
#include <memory>

namespace tessera {

struct DestroySession {
  void operator()(tsr_session *session) const { tsr_session_destroy(session); }
};
using OpenedSession = std::unique_ptr<tsr_session, DestroySession>;

/// Finds what the processors of all processes have in common; where they
/// differ, the model is compiled for that. False after an error, which is
/// printed.
bool agreeOnProcessor(RunSettings &options);

/// All ranks, or the one of this process, without parameters. Null after an
/// error, which is printed.
OpenedSession openSession(const RunSettings &options,
                          const tsr_artifact *artifact);

/// Allows a process its connections to the others. Returns what is wrong if it
/// may not have as many, or if the mesh that the model is compiled for has not
/// as many ranks as there are processes, else "". openSession says the latter
/// of an artifact, whose mesh is not known before. Joins processes of mpirun by
/// its MPI if a plug-in fits; it tells them where to meet, and a secret.
std::string prepareProcess(RunSettings &options);

/// Prints what loading or saving weights has to say, in the first process.
void printNotes(const RunSettings &options, const tsr_session *session);

/// Returns what a run's first line says of its processes; "" for one.
std::string processesText(const LaunchOptions &options);

/// Says how many ranks a run may start where --ranks does not. Returns an error
/// if the mesh has more, else "".
std::string limitRanks(PlannedModel &options);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_OPENSESSION_H
