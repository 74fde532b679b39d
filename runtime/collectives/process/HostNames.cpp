#include "runtime/collectives/process/HostNames.h"

#include "runtime/support/Status.h"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {

std::string machineName() {
  std::string name;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  file.exceptions(std::ios::badbit); // want of memory
  char host[256] = "";
  if (!(file >> name) && gethostname(host, sizeof host - 1) == 0)
    name = host;
  return name;
}

std::string networkName() {
  struct stat space {};
  bool isKnown = stat("/proc/self/ns/net", &space) == 0;
  return concat(machineName(), " ", isKnown ? space.st_ino : 0);
}

} // namespace tessera
