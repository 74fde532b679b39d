//===- Doctor.cpp - tessera doctor ----------------------------------------===//
// Says what works here, what does not, and how to get it. A missing part that
// only a later step needs is a note, not a failure.
//===----------------------------------------------------------------------===//

#include "tessera/Artifact/DeviceReport.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Target/SharedObject.h"
#include "tessera/Text/Table.h"
#include "tessera/tessera.h"
#include "tools/tessera/doctor/ProductRate.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/output/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <dlfcn.h>

using namespace llvm;
using namespace tessera;

namespace {

enum class State { Works, Missing, Broken };

struct Finding {
  std::string what;
  State state;
  std::string value;
  std::string remedy;
};

Finding checkVersions() {
  return {"compiler", State::Works,
          formatv("tessera {0}, runtime {1}, LLVM/MLIR {2}", TESSERA_VERSION,
                  tsr_version(), LLVM_VERSION_STRING)
              .str(),
          ""};
}

Finding checkCpu() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  std::string found;
  for (StringRef name :
       {"avx2", "fma", "avx512f", "avx512bf16", "amx-bf16", "neon", "sve"})
    if (features.lookup(name))
      found += (found.empty() ? "" : " ") + name.str();
  return {"cpu", State::Works,
          sys::getHostCPUName().str() + ", " +
              std::to_string(get_physical_cores()) + " cores, " +
              std::to_string(hardware_concurrency().compute_thread_count()) +
              " threads; " + (found.empty() ? "no vector features" : found),
          ""};
}

/// Returns a line "MemTotal: 1234 kB" in bytes, or 0.
int64_t memoryOf(StringRef text, StringRef key) {
  size_t at = text.find(key);
  if (at == StringRef::npos)
    return 0;
  int64_t kilobytes = 0;
  StringRef digits = text.substr(at + key.size()).ltrim(": ");
  (void)digits.take_while([](char c) { return isDigit(c); })
      .getAsInteger(10, kilobytes);
  return kilobytes * 1024;
}

/// Returns the cores that a run has, and the memory that they are near to.
Finding checkCores() {
  std::string found;
  for (const DeviceReport::Part &part : readDeviceReport(DeviceKind::Cpu).parts)
    if (part.what == "cores")
      found = part.version;
  return {"cores", State::Works,
          found + "; processes of a host share them, node by node", ""};
}

Finding checkMemory() {
  auto file = MemoryBuffer::getFileAsStream("/proc/meminfo");
  if (!file)
    return {"memory", State::Missing, "unknown", "mount /proc"};
  StringRef text = (*file)->getBuffer();
  return {"memory", State::Works,
          bytesText(memoryOf(text, "MemAvailable")) + " available of " +
              bytesText(memoryOf(text, "MemTotal")),
          ""};
}

Finding checkLinker() {
  if (auto path = findLinker())
    return {"linker", State::Works, *path, ""};
  return {"linker", State::Broken, "not found: nothing can be compiled",
          "apt-get install lld-22, without TESSERA_LINKER in the environment"};
}

/// oneDNN's version structure (dnnl_types.h), whose first fields never moved.
struct DnnlVersion {
  int major, minor, patch;
};

/// Measures what --peak-flops of train takes.
std::string productRates(void *library) {
  double plain = productRate(library, Precision::F32);
  double narrow = productRate(library, Precision::BF16);
  auto text = [](double rate, StringRef precision) {
    return rate > 0 ? formatv(", {0:e2} flops/s in {1}", rate, precision).str()
                    : "";
  };
  return text(plain, "f32") + text(narrow, "bf16");
}

Finding checkMatrixLibrary() {
  using Query = const DnnlVersion *(*)();
  void *library = nullptr;
  for (const char *name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"})
    if (!library)
      library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  auto query = library ? reinterpret_cast<Query>(dlsym(library, "dnnl_version"))
                       : nullptr;
  if (!query)
    return {"matrix products", State::Broken,
            "oneDNN not found: nothing can run", "apt-get install libdnnl-dev"};
  const DnnlVersion *v = query();
  return {"matrix products", State::Works,
          formatv("oneDNN {0}.{1}.{2}", v->major, v->minor, v->patch).str() +
              productRates(library),
          ""};
}

Finding checkPlugin(StringRef what, const char *library, StringRef without,
                    StringRef remedy) {
  if (dlopen(library, RTLD_LAZY | RTLD_LOCAL))
    return {what.str(), State::Works, library, ""};
  return {what.str(), State::Missing,
          formatv("no {0}: {1}", library, without).str(), remedy.str()};
}

/// The driver and the libraries, as the plug-in that uses them finds them.
void examineCuda(SmallVector<Finding> &findings) {
  DeviceReport report = readDeviceReport(DeviceKind::Cuda);
  if (!report.hasPlugin) {
    findings.push_back(checkPlugin(
        "cuda driver", "libcuda.so.1", "no GPU can be used",
        "apt-get install nvidia-driver (non-free), on a machine with a GPU"));
    findings.push_back({"cuda plug-in", State::Missing,
                        "--device cuda is refused: " + report.problem,
                        "install the CUDA toolkit and build Tessera again"});
    return;
  }
  findings.push_back({"cuda plug-in", State::Works, "libtessera_cuda.so", ""});
  for (const DeviceReport::Part &part : report.parts) {
    if (part.version.empty())
      findings.push_back({part.what, State::Missing,
                          "not found: " + part.without, part.remedy});
    else
      findings.push_back({part.what, State::Works, part.version, ""});
  }
  findings.push_back({"device cuda",
                      report.problem.empty() ? State::Works : State::Missing,
                      report.problem.empty() ? "ready" : report.problem, ""});
}

/// Finds the plug-ins that let processes talk by an MPI.
void examineMpi(SmallVector<Finding> &findings) {
  const char *text = nullptr;
  if (tsr_mpi_report(&text) != TSR_OK)
    return;
  Expected<llvm::json::Value> read = parseJson(text, json_kinds::device_report);
  if (!read) {
    consumeError(read.takeError());
    return;
  }
  const llvm::json::Object &report = *read->getAsObject();
  const llvm::json::Array &plugins = *report.getArray("plugins");
  std::string command = report.getString("command")->str();
  for (const llvm::json::Value &value : plugins) {
    const llvm::json::Object &plugin = *value.getAsObject();
    std::string file = plugin.getString("file")->str();
    std::string problem = plugin.getString("problem")->str();
    findings.push_back(
        {"communicator", problem.empty() ? State::Works : State::Missing,
         problem.empty() ? "mpi: a process per rank, by mpirun of " +
                               plugin.getString("family")->str() + ": " + file
                         : "mpi: " + file + ": " + problem,
         ""});
  }
  findings.push_back({"any other mpi", State::Missing,
                      "has a plug-in of its own; without one processes talk "
                      "over TCP",
                      command});
}

SmallVector<Finding> examine() {
  SmallVector<Finding> findings = {
      checkVersions(),
      checkCpu(),
      checkCores(),
      checkMemory(),
      checkLinker(),
      checkMatrixLibrary(),
      {"communicator", State::Works, "threads: all ranks in one process", ""},
      {"communicator", State::Works,
       "tcp: a process per rank, on the CPU (torchrun, srun)", ""}};
  examineMpi(findings);
  examineCuda(findings);
  return findings;
}

StringRef stateName(State state) {
  switch (state) {
  case State::Works:
    return "works";
  case State::Missing:
    return "missing";
  case State::Broken:
    return "broken";
  }
  return "";
}

class Doctor : public Command {
public:
  void declare(CLI::App &app) override { declareJson(app, json); }
  int run() override;

private:
  bool json = false;
};

const CommandRegistration<Doctor> registration(
    {10, "doctor", "What is installed, what works, what is missing", ""});

} // namespace

int Doctor::run() {
  SmallVector<Finding> findings = examine();
  bool broken = any_of(
      findings, [](const Finding &f) { return f.state == State::Broken; });
  if (json) {
    llvm::json::Array list;
    for (const Finding &f : findings)
      list.push_back(llvm::json::Object{{"what", f.what},
                                        {"state", stateName(f.state)},
                                        {"value", f.value},
                                        {"remedy", f.remedy}});
    printJson(
        llvm::json::Object{{"ok", !broken}, {"findings", std::move(list)}}, 2);
    return broken;
  }
  for (const Finding &f : findings) {
    standardOutput() << left_justify(stateName(f.state), 9)
                     << left_justify(f.what, 17) << printable(f.value) << "\n";
    if (!f.remedy.empty())
      standardOutput() << std::string(26, ' ')
                       << "to get it: " << printable(f.remedy) << "\n";
  }
  standardOutput() << (broken ? "training does not work here\n"
                              : "training on the CPU works here\n");
  return broken;
}
