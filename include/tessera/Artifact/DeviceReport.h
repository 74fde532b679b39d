//===- DeviceReport.h - what the runtime says of a device -------*- C++ -*-===//

#ifndef TESSERA_ARTIFACT_DEVICEREPORT_H
#define TESSERA_ARTIFACT_DEVICEREPORT_H

#include "tessera/Options/PlanOptions.h"
#include <string>
#include <vector>

namespace tessera {

/// tsr_device_report, read. Without a plug-in `parts` is empty.
struct DeviceReport {
  struct Part {
    std::string what, version, without, remedy;
  };
  struct Device {
    std::string name, architecture;
    int64_t memoryBytes = 0, multiprocessors = 0;
  };
  bool hasPlugin = false;
  std::string problem; ///< Why nothing can run there; "": it can.
  std::vector<Part> parts;
  /// Devices that this process sees; none for a CPU.
  std::vector<Device> devices;
};

DeviceReport readDeviceReport(DeviceKind device);

/// Returns why a plan that is to run cannot use its device, or "". The user
/// learns it before minutes of compilation.
std::string deviceProblem(const PlanOptions &plan);

} // namespace tessera

#endif // TESSERA_ARTIFACT_DEVICEREPORT_H
