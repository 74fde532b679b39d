//===- DeviceReport.cpp - what the runtime says of a device ---------------===//

#include "tessera/Artifact/DeviceReport.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/tessera.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace tessera;

static std::string textOf(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

DeviceReport tessera::readDeviceReport(DeviceKind device) {
  DeviceReport report;
  const char *text = nullptr;
  if (tsr_device_report(nameOf(device), &text) != TSR_OK) {
    report.problem = tsr_last_error();
    return report;
  }
  report.hasPlugin = true;
  Expected<json::Value> parsed = parseJson(text, json_kinds::device_report);
  if (!parsed) {
    report.problem =
        "the plug-in's report is no JSON: " + toString(parsed.takeError());
    return report;
  }
  const json::Object *root = parsed->getAsObject();
  if (!root) {
    report.problem = "the plug-in's report is no JSON object";
    return report;
  }
  report.problem = textOf(*root, "problem");
  if (!report.problem.empty())
    report.problem =
        "device '" + std::string(nameOf(device)) + "': " + report.problem;
  if (const json::Array *parts = root->getArray("parts"))
    for (const json::Value &value : *parts)
      if (const json::Object *part = value.getAsObject())
        report.parts.push_back({textOf(*part, "what"), textOf(*part, "version"),
                                textOf(*part, "without"),
                                textOf(*part, "remedy")});
  if (const json::Array *devices = root->getArray("devices"))
    for (const json::Value &value : *devices)
      if (const json::Object *device = value.getAsObject())
        report.devices.push_back(
            {textOf(*device, "name"), textOf(*device, "architecture"),
             device->getInteger("memory_bytes").value_or(0),
             device->getInteger("multiprocessors").value_or(0)});
  return report;
}

std::string tessera::deviceProblem(const PlanOptions &plan) {
  return plan.device.target.isCuda()
             ? readDeviceReport(DeviceKind::Cuda).problem
             : "";
}
