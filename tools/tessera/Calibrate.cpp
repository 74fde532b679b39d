//===- Calibrate.cpp - tessera calibrate ----------------------------------===//

#include "tessera/Options/Counted.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/calibrate/FitRates.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace llvm;
using namespace tessera;

static std::string nameOf(const DriverOptions &options, int64_t cores) {
  return options.calibrate.name.empty()
             ? sys::getHostCPUName().str() + ", " + counted(cores, "core")
             : options.calibrate.name;
}

int tessera::runCalibrate(const DriverOptions &options) {
  auto cores =
      static_cast<int64_t>(hardware_concurrency().compute_thread_count());
  std::vector<CalibrationProgram> programs =
      calibrationPrograms(cores, options.calibrate.isQuick);
  std::vector<MeasuredProgram> computing, communicating;
  for (const auto &[number, program] : enumerate(programs)) {
    if (!options.calibrate.isQuick)
      errs() << formatv("measuring {0} of {1}\n", number + 1, programs.size());
    std::optional<MeasuredProgram> measured =
        measure(program, cores, options.calibrate.isQuick ? 2 : 5);
    if (!measured)
      return 1;
    (program.isForLink ? communicating : computing)
        .push_back(std::move(*measured));
  }
  simulate::Cluster cluster;
  cluster.name = ::nameOf(options, cores);
  cluster.kind = DeviceKind::Cpu;
  cluster.coresPerNode = cores;
  cluster.nodeMemoryBytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<double>(sysconf(_SC_PAGESIZE));
  cluster.byThreads = fitDevices(computing);
  cluster.node = fitLink(communicating);
  std::string path = options.output.empty() ? "machine.toml" : options.output;
  std::string text = "# Measured by tessera calibrate (docs/Simulation.md).\n" +
                     simulate::clusterText(cluster);
  if (path == "-") {
    outs() << text;
    return 0;
  }
  if (std::error_code error = writeOutput(path, {text}))
    return printError("cannot write '" + path + "': " + error.message());
  outs() << "wrote " << path << ": " << cluster.name << "\n";
  return 0;
}
