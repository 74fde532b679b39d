//===- ApiDevice.cpp - tsr_device_* of the C API --------------------------===//
#include "runtime/api/Api.h"
#include "runtime/device/DevicePlugin.h"

#include <nlohmann/json.hpp>

using namespace tessera;

static std::string textOf(const DeviceReport &report) {
  nlohmann::json parts = nlohmann::json::array();
  for (const DevicePart &part : report.parts)
    parts.push_back({{"what", part.what},
                     {"version", part.version},
                     {"without", part.without},
                     {"remedy", part.remedy}});
  return nlohmann::json{{"usable", report.problem.empty()},
                        {"problem", report.problem},
                        {"parts", parts}}
      .dump();
}

tsr_status tsr_device_report(const char *device, const char **out_json) {
  thread_local std::string text;
  return guarded([&] {
    requirePointer(device, "device");
    requirePointer(out_json, "out_json");
    text = textOf(openDevice(device)->report());
    *out_json = text.c_str();
  });
}
