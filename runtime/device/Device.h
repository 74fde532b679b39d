//===- Device.h - where ranks compute and keep their memory -----*- C++ -*-===//
// The seam between the core and its devices: `cpu` is part of the core, others
// are plug-ins (DevicePlugin.h). What a device refuses it throws as Error; the
// core never follows an arena address that `hostArena` does not give.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_DEVICE_H
#define TESSERA_RUNTIME_DEVICE_DEVICE_H

#include "runtime/artifact/Code.h"
#include "runtime/artifact/Metadata.h"
#include "runtime/support/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

struct Rank;

/// One run of a program by one rank: an optimizer step, or an evaluation.
struct ProgramStep {
  tsr_abi_program program;
  int64_t number;
  int64_t seed;
};

/// Large tensors reach a device's memory in pieces of at most so many bytes.
constexpr int64_t pieceBytes = int64_t(16) << 20;
/// Pieces that may be in use at once: two tensors', each filled while the one
/// before is copied.
constexpr int stagedPieces = 4;

/// A rank's memory and its way to run a program. Calls come from any thread,
/// one at a time, and take effect in order; what is passed may be reused when
/// they return.
class DeviceRank {
public:
  virtual ~DeviceRank() = default;

  /// The arena where the host can read and write it; null where it cannot.
  virtual unsigned char *hostArena() const = 0;
  /// Copies `bytes` bytes at `offset` of the arena. Reads as zero until
  /// written.
  virtual void read(int64_t offset, int64_t bytes, void *host) const = 0;
  virtual void write(int64_t offset, int64_t bytes, const void *host) = 0;
  /// Host memory that the device copies from faster than from other, to be
  /// filled and given to `write` once, before the next step; null: there is
  /// none (left).
  virtual unsigned char *stage(int64_t) { return nullptr; }
  /// The same for a piece of a large tensor, of at most `pieceBytes`; to be
  /// given to `write` before `stagedPieces` more are taken.
  virtual unsigned char *stagePiece(int64_t) { return nullptr; }
  /// Copies bytes of the arena to another place there, which they do not meet.
  virtual void copy(int64_t from, int64_t to, int64_t bytes) = 0;
  virtual void zero(int64_t offset, int64_t bytes) = 0;
  /// Sets all bits: every floating point element is NaN, every integer -1.
  virtual void poison() = 0;
  /// Runs the program and waits for all that it started.
  virtual Status run(const ProgramStep &step) = 0;
  /// Describes the device that runs the rank, for people: "NVIDIA H200 (sm_90)
  /// number 0, ..."
  virtual std::string describe() const = 0;
};

/// The ranks that a process opens, by their numbers on this machine.
struct LocalRanks {
  int64_t first = 0, count = 1;
  int64_t machine = 1; ///< ranks on this machine, in all processes
};

/// A session's request to a device, before anything is allocated.
struct DeviceRequest {
  std::string artifact; ///< path
  std::string communicator;
  const Metadata &metadata;
  const Code &code;
  LocalRanks ranks;

  bool hasAllRanks() const { return ranks.count == metadata.mesh.ranks(); }
};

/// A part of a device's software, for `tessera doctor`.
struct DevicePart {
  std::string what;
  std::string version; ///< empty: not found
  std::string without; ///< the feature that needs the part
  std::string remedy;
};

/// One of the machine's, as ranks use them.
struct DeviceProperties {
  std::string name;         ///< "NVIDIA H200"
  std::string architecture; ///< "sm_90"
  int64_t memoryBytes;
  int64_t multiprocessors;
};

struct DeviceReport {
  std::string problem; ///< why no session can be made; empty if one can
  std::vector<DevicePart> parts;
  std::vector<DeviceProperties> devices; ///< empty for the CPU
};

class Device {
public:
  virtual ~Device() = default;

  /// Throws if the artifact cannot run here: features, memory, communicator.
  virtual void check(const DeviceRequest &request) const = 0;
  /// Returns the rank's device and arena; runs on the rank's thread, all ranks
  /// at once. The rank outlives the result.
  virtual std::unique_ptr<DeviceRank> openRank(Rank &rank) = 0;
  virtual DeviceReport report() const = 0;
};

/// Makes the device `cpu`.
std::shared_ptr<Device> makeCpuDevice();

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_DEVICE_H
