//===- LaunchOptions.cpp - whether a run is one process or several --------===//

#include "tools/tessera/options/LaunchOptions.h"
#include <cstdlib>

using namespace tessera;

void tessera::addLaunchOptions(CLI::App *sub, DriverOptions &options,
                               std::string &rendezvous,
                               const CLI::Validator &positive) {
  sub->add_option(
         "--communicator", options.communicator,
         "threads: ranks of one process; tcp: a process per rank; nccl: "
         "a GPU per rank (default: threads; of processes tcp or nccl)")
      ->check(CLI::IsMember({"threads", "nccl", "tcp"}));
  sub->add_option("--timeout-ms", options.timeoutMs,
                  "After which a collective fails (default: 60000)")
      ->check(positive);
  sub->add_option("--rendezvous", rendezvous,
                  "HOST:PORT where rank 0 of several processes listens "
                  "(default: MASTER_ADDR and MASTER_PORT + 1)");
  sub->add_option("--rendezvous-timeout-ms", options.rendezvousTimeoutMs,
                  "To wait for all processes (default: 300000)")
      ->check(positive);
}

/// Only a run is done by several processes.
std::string tessera::chooseLaunch(DriverOptions &options,
                                  const std::string &rendezvous) {
  if (options.command != Command::Train)
    return "";
  Launch &launch = options.launch;
  if (std::string why = readLaunch(std::getenv, launch); !why.empty())
    return why;
  if (launch.isAlone())
    return rendezvous.empty() && options.communicator != "tcp"
               ? ""
               : "--rendezvous and --communicator tcp are for several "
                 "processes, but RANK and WORLD_SIZE are not set; start with "
                 "torchrun or srun";
  if (!rendezvous.empty())
    launch.rendezvous = rendezvous;
  if (options.communicator != "threads")
    return "";
  return "--communicator threads is for one process, but the environment says "
         "that there are " +
         std::to_string(launch.worldSize) +
         " (WORLD_SIZE or SLURM_NTASKS); start one process, or leave it out";
}
