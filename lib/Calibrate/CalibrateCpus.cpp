//===- CalibrateCpus.cpp - the processors of a machine as a cluster -------===//

#include "lib/Calibrate/CalibrationPrograms.h"
#include "lib/Calibrate/FitRates.h"
#include "lib/Calibrate/MeasureProgram.h"
#include "tessera/Calibrate/Calibrate.h"
#include "tessera/Options/Counted.h"
#include "tessera/Pipelines/EmitError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace mlir;
using namespace tessera;

namespace {

struct CpuMeasurements {
  std::vector<MeasuredProgram> computing, communicating;
};

} // namespace

/// Measures all programs in turns.
static LogicalResult measureAll(MLIRContext &context, int64_t cores,
                                const CalibrationOptions &options,
                                CpuMeasurements &measurements) {
  std::vector<CalibrationProgram> programs =
      calibrationPrograms(cores, options.isQuick);
  auto say = [&](const std::string &what) {
    if (options.progress)
      options.progress(what);
  };
  std::vector<TimedProgram> timed(programs.size());
  say("compiling " + counted(static_cast<int64_t>(programs.size()), "program"));
  for (const auto &[program, times] : llvm::zip(programs, timed))
    if (failed(times.open(context, program, cores)))
      return failure();
  int64_t rounds = options.isQuick ? 1 : 3, steps = options.isQuick ? 2 : 3;
  for (int64_t round = 1; round <= rounds; ++round) {
    say("measuring, round " + std::to_string(round) + " of " +
        std::to_string(rounds));
    for (TimedProgram &times : timed)
      if (llvm::Error error = times.run(steps))
        return emitFailure(context, std::move(error));
  }
  for (const TimedProgram &times : timed) {
    MeasuredProgram measured = times.result();
    (measured.isForLink ? measurements.communicating : measurements.computing)
        .push_back(std::move(measured));
  }
  return success();
}

FailureOr<MeasuredMachine>
tessera::measureCpus(MLIRContext &context, const CalibrationOptions &options) {
  auto cores =
      static_cast<int64_t>(llvm::hardware_concurrency().compute_thread_count());
  CpuMeasurements measurements;
  if (failed(measureAll(context, cores, options, measurements)))
    return failure();
  MeasuredMachine machine;
  machine.comment = "# Measured by tessera calibrate (docs/Simulation.md).\n";
  simulate::Cluster &cluster = machine.cluster;
  cluster.name =
      llvm::sys::getHostCPUName().str() + ", " + counted(cores, "core");
  cluster.kind = DeviceKind::Cpu;
  cluster.coresPerNode = cores;
  cluster.nodeMemoryBytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<double>(sysconf(_SC_PAGESIZE));
  cluster.byThreads = fitDevices(measurements.computing);
  cluster.node = fitLink(measurements.communicating);
  return machine;
}
