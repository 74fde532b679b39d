//===- MpiPlugin.h - the MPI of this process --------------------*- C++ -*-===//
// A plug-in for each ABI lies beside the runtime (runtime/collectives/mpi). It
// is opened only when it is asked for: a launcher's MPI must be the plug-in's.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_MPI_MPIPLUGIN_H
#define TESSERA_RUNTIME_COLLECTIVES_MPI_MPIPLUGIN_H

#include "runtime/support/Status.h"
#include "tessera/mpi_plugin.h"

#include <string>
#include <vector>

namespace tessera {

/// A plug-in that was looked for.
struct MpiPlugin {
  std::string file;
  const tsr_mpi_plugin_table *table = nullptr; ///< null: it cannot be used
  std::string problem;                         ///< says why
  bool isThere = false;                        ///< the file exists

  /// Shows its MPI's symbols to the components that the MPI loads.
  void publish() const;
  /// Throws the error of a call, if `code` is one.
  void check(int32_t code, const char *call) const;
};

/// Opens a file. Nothing is started.
MpiPlugin openMpiPlugin(const std::string &file);

/// Returns the plug-ins that this machine can have: the file that
/// TESSERA_MPI_PLUGIN names, or those beside the runtime, built by hand first.
std::vector<MpiPlugin> findMpiPlugins();

/// Chooses the plug-in for the launcher of this process: of an MPI whose mpirun
/// has started it, or that may have. TSR_NOT_FOUND says what was looked for.
MpiPlugin chooseMpiPlugin();

/// Returns the command that builds a plug-in for another MPI.
std::string mpiBuildCommand();

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_MPI_MPIPLUGIN_H
