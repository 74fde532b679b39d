//===- ApiDevice.cpp - tsr_device_* of the C API --------------------------===//
#include "runtime/api/Api.h"
#include "runtime/device/DevicePlugin.h"
#include "runtime/support/Json.h"

using namespace tessera;

static std::string textOf(const DeviceReport &report) {
  JsonTree tree(JsonTree::Type::object);
  tree.root["usable"] = report.problem.empty();
  tree.root["problem"] = report.problem;
  nlohmann::json &parts = tree.root["parts"] = JsonTree::Type::array;
  for (const DevicePart &part : report.parts) {
    nlohmann::json &entry = parts.emplace_back(JsonTree::Type::object);
    entry["what"] = part.what;
    entry["version"] = part.version;
    entry["without"] = part.without;
    entry["remedy"] = part.remedy;
  }
  nlohmann::json &devices = tree.root["devices"] = JsonTree::Type::array;
  for (const DeviceProperties &device : report.devices) {
    nlohmann::json &entry = devices.emplace_back(JsonTree::Type::object);
    entry["name"] = device.name;
    entry["architecture"] = device.architecture;
    entry["memory_bytes"] = device.memoryBytes;
    entry["multiprocessors"] = device.multiprocessors;
  }
  return tree.root.dump();
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
