#include "runtime/collectives/mpi/MpiPlugin.h"

#include "runtime/support/LibraryDirectory.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace tessera {

static constexpr const char *pluginVariable = "TESSERA_MPI_PLUGIN";

/// One built by hand for this cluster comes before those of a package.
static constexpr const char *pluginNames[] = {
    "libtessera_mpi.so", "libtessera_mpi_openmpi.so", "libtessera_mpi_mpich.so",
    "libtessera_mpi_abi.so"};

void MpiPlugin::check(int32_t code, const char *call) const {
  if (code == 0)
    return;
  char why[512] = "";
  table->describe(code, why, sizeof why);
  fail(TSR_IO, call, " of ", table->library(), " failed: ", why);
}

MpiPlugin openMpiPlugin(const std::string &file) {
  MpiPlugin plugin;
  plugin.file = file;
  plugin.isThere = access(file.c_str(), F_OK) == 0;
  // It is never unloaded: an MPI starts threads and exit handlers.
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *why = dlerror();
    plugin.problem = plugin.isThere && why ? why : "there is no such file";
    return plugin;
  }
  auto entry =
      reinterpret_cast<tsr_mpi_plugin_entry *>(dlsym(library, TSR_MPI_PLUGIN));
  if (!entry) {
    plugin.problem = "it has no '" TSR_MPI_PLUGIN "', so it is no plug-in";
    return plugin;
  }
  const tsr_mpi_plugin_table *table = entry();
  if (table->version != TSR_MPI_PLUGIN_VERSION)
    plugin.problem = concat(
        "it is of version ", table->version, ", this runtime needs version ",
        TSR_MPI_PLUGIN_VERSION, "; build it again: ", mpiBuildCommand());
  else
    plugin.table = table;
  return plugin;
}

void MpiPlugin::publish() const {
  dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

std::vector<MpiPlugin> findMpiPlugins() {
  const char *named = std::getenv(pluginVariable);
  if (named && *named)
    return {openMpiPlugin(named)};
  std::vector<MpiPlugin> plugins;
  for (const char *name : pluginNames) {
    const std::string file = libraryDirectory() + name;
    if (access(file.c_str(), F_OK) == 0)
      plugins.push_back(openMpiPlugin(file));
  }
  return plugins;
}

/// Returns the MPI whose mpirun has started this process; "" if none says so.
static std::string familyOfLauncher() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") ? "Open MPI"
         : std::getenv("PMI_SIZE")           ? "MPICH"
                                             : "";
}

MpiPlugin chooseMpiPlugin() {
  const std::string family = familyOfLauncher();
  const char *named = std::getenv(pluginVariable);
  const bool isNamed = named && *named;
  std::string seen;
  for (const char *name : pluginNames) {
    const std::string file =
        isNamed ? std::string(named) : libraryDirectory() + name;
    if (!isNamed && access(file.c_str(), F_OK) != 0)
      continue;
    // Two MPIs in one process disturb each other: others are not opened.
    const bool isOther =
        !isNamed && ((family == "Open MPI" && std::strstr(name, "mpich")) ||
                     (family == "MPICH" && std::strstr(name, "openmpi")));
    if (isOther)
      continue;
    MpiPlugin plugin = openMpiPlugin(file);
    if (plugin.table)
      return plugin;
    seen += concat("; '", file, "': ", plugin.problem);
    if (isNamed)
      break;
  }
  fail(TSR_NOT_FOUND, "there is no plug-in for ",
       family.empty() ? "an MPI" : family, " in '", libraryDirectory(),
       "'; build it where its mpicc is: ", mpiBuildCommand(),
       ", or use --communicator tcp", seen);
}

std::string mpiBuildCommand() {
  const std::string directory = libraryDirectory();
  return concat("mpicc -shared -fPIC -O2 -I ", directory, "tessera-mpi ",
                directory, "tessera-mpi/Plugin.c -o ", directory,
                "libtessera_mpi.so");
}

} // namespace tessera
