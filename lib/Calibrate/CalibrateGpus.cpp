//===- CalibrateGpus.cpp - tessera calibrate --device cuda ----------------===//

#include "lib/Calibrate/FitGpu.h"
#include "lib/Calibrate/GpuPrograms.h"
#include "tessera/Artifact/DeviceReport.h"
#include "tessera/Calibrate/Calibrate.h"
#include "tessera/Pipelines/EmitError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

static std::string communicatorOf(const DeviceReport &report) {
  for (const DeviceReport::Part &part : report.parts)
    if (part.what == "nccl" && !part.version.empty())
      return "nccl";
  return "threads";
}

static llvm::Expected<GpuMachine> findGpus() {
  DeviceReport report = readDeviceReport(DeviceKind::Cuda);
  if (report.problem.empty() && report.devices.empty())
    report.problem = "device 'cuda': the plug-in lists no GPU; check "
                     "nvidia-smi and CUDA_VISIBLE_DEVICES";
  if (!report.problem.empty())
    return llvm::createStringError("no GPU can be measured: " + report.problem);
  const DeviceReport::Device &first = report.devices.front();
  for (const DeviceReport::Device &other : report.devices)
    if (other.name != first.name || other.memoryBytes != first.memoryBytes)
      return llvm::createStringError(
          "the GPUs of this machine differ, '" + first.name + "' with " +
          std::to_string(first.memoryBytes) + " bytes and '" + other.name +
          "' with " + std::to_string(other.memoryBytes) +
          " bytes, but a cluster has devices of one kind; choose some "
          "with CUDA_VISIBLE_DEVICES");
  return GpuMachine{first.name,
                    first.architecture,
                    static_cast<int64_t>(report.devices.size()),
                    first.memoryBytes,
                    first.multiprocessors,
                    communicatorOf(report)};
}

/// One after the other: to start again costs more time than on a CPU.
static LogicalResult measureAll(MLIRContext &context,
                                const std::vector<CalibrationProgram> &programs,
                                const CalibrationOptions &options,
                                GpuMeasurements &measurements) {
  auto cores =
      static_cast<int64_t>(llvm::hardware_concurrency().compute_thread_count());
  for (const auto &[number, program] : llvm::enumerate(programs)) {
    if (options.progress)
      options.progress(
          llvm::formatv("measuring {0} of {1}", number + 1, programs.size()));
    TimedProgram timed;
    if (failed(timed.open(context, program, cores)))
      return failure();
    if (llvm::Error error = timed.run(options.isQuick ? 2 : 5))
      return emitFailure(context, std::move(error));
    (program.isForLink ? measurements.communicating : measurements.computing)
        .push_back(timed.result());
  }
  return success();
}

/// Returns the comment that says how the numbers of the file are to be read.
static std::string commentOf(const GpuMachine &machine) {
  std::string text =
      "# Measured by tessera calibrate --device cuda (docs/Simulation.md).\n"
      "# 'memory_bandwidth' and 'peak' are not those of a data sheet: each is\n"
      "# the fastest rate of a measured kernel or product, or what the fit\n"
      "# says of a very large one, if that is more. 'efficiency' is fitted.\n"
      "# attention.efficiency is that of bf16.\n";
  if (machine.count == 1)
    return text + "# There is one GPU, so nothing is known of links.\n";
  return text + "# node_link is that of the communicator '" +
         machine.communicator +
         "'; nothing is known of a network between nodes.\n";
}

FailureOr<MeasuredMachine>
tessera::measureGpus(MLIRContext &context, const CalibrationOptions &options) {
  llvm::Expected<GpuMachine> machine = findGpus();
  if (!machine)
    return emitFailure(context, machine.takeError());
  GpuMeasurements measurements;
  if (failed(measureAll(context, gpuPrograms(*machine, options.isQuick),
                        options, measurements)))
    return failure();
  llvm::Expected<simulate::Cluster> cluster = fitGpu(*machine, measurements);
  if (!cluster)
    return emitFailure(context, cluster.takeError());
  std::string count =
      machine->count == 1 ? "" : std::to_string(machine->count) + " x ";
  cluster->name = count + machine->name;
  return MeasuredMachine{std::move(*cluster), commentOf(*machine)};
}
