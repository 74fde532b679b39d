// PluginFixture.cpp - a plug-in that is of another build in one respect, chosen
// by macros.
#include "runtime/device/DevicePlugin.h"

using namespace tessera;

namespace {
class FixtureDevice final : public Device {
public:
  void check(const DeviceRequest &) const override {}
  std::unique_ptr<DeviceRank> openRank(Rank &) override { return nullptr; }
  DeviceReport report() const override {
    DeviceReport report;
    report.problem = "a fixture";
    return report;
  }
};

Device *create() noexcept { return new FixtureDevice; }
} // namespace

extern "C" __attribute__((visibility("default"))) const DevicePlugin *
tsr_device_plugin() {
  static const DevicePlugin plugin = {PLUGIN_DEVICE, PLUGIN_VERSION,
                                      deviceLayout() + PLUGIN_LAYOUT, create};
  return &plugin;
}
