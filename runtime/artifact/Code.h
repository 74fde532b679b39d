//===- Code.h - the compiled program of an artifact -------------*- C++ -*-===//
// An ELF shared object in memory, which is read until `load` is called: loading
// runs its constructors. It stays loaded as long as the object lives.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_CODE_H
#define TESSERA_RUNTIME_ARTIFACT_CODE_H

#include "tessera/abi.h"

#include <mutex>
#include <string>

namespace tessera {

class Code {
public:
  /// `source` names the artifact in errors. TSR_CORRUPT if it is not a complete
  /// shared object for this machine or lacks the symbol.
  Code(const std::string &source, std::string bytes);
  /// A program that is part of this process; `image` may be null.
  Code(tsr_abi_program program, const tsr_abi_device_image *image)
      : program(program), deviceImage(image) {}
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;
  ~Code();

  /// Runs what the code does when it is loaded; once, however often and from
  /// however many threads it is called. TSR_CORRUPT, TSR_IO.
  void load() const;

  // The code must be loaded before these are called.
  /// Returns the training step; null if the artifact is for inference.
  tsr_abi_program step() const { return program; }
  // Null: the artifact has none.
  tsr_abi_program evaluation() const { return evaluationProgram; }
  tsr_abi_program decode() const { return decodeProgram; }
  tsr_abi_program mixed() const { return mixedProgram; }
  tsr_abi_program score() const { return scoreProgram; }
  tsr_abi_program encode() const { return encodeProgram; }
  /// Returns the kernels of a program for an accelerator; null for the CPU's.
  const tsr_abi_device_image *image() const { return deviceImage; }

private:
  void loadOnce() const;
  void release() const;

  std::string source;
  mutable std::once_flag once;
  mutable std::string bytes; ///< empty once it is loaded
  // Open as long as the code is loaded: the loader knows libraries by name, and
  // the name holds this number.
  mutable int descriptor = -1;
  mutable void *handle = nullptr;
  mutable tsr_abi_program program = nullptr, evaluationProgram = nullptr;
  mutable tsr_abi_program decodeProgram = nullptr, mixedProgram = nullptr;
  mutable tsr_abi_program scoreProgram = nullptr;
  mutable tsr_abi_program encodeProgram = nullptr;
  mutable const tsr_abi_device_image *deviceImage = nullptr;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_CODE_H
