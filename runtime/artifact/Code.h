//===- Code.h - the compiled program of an artifact -------------*- C++ -*-===//
// Loads an ELF shared object from memory and finds tsr_program_step in it. The
// code stays loaded as long as the object lives.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_CODE_H
#define TESSERA_RUNTIME_ARTIFACT_CODE_H

#include "tessera/abi.h"

#include <cstddef>
#include <string>

namespace tessera {

class Code {
public:
  /// `source` names the artifact in errors. TSR_CORRUPT if it is not a complete
  /// shared object for this machine or lacks the symbol.
  Code(const std::string &source, const char *data, size_t bytes);
  /// A program that is part of this process; `image` may be null.
  Code(tsr_abi_program program, const tsr_abi_device_image *image)
      : program(program), deviceImage(image) {}
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;
  ~Code();

  tsr_abi_program step() const { return program; }
  /// The kernels of a program for an accelerator; null for the CPU's.
  const tsr_abi_device_image *image() const { return deviceImage; }

private:
  void release();

  // Open as long as the code is loaded: the loader knows libraries by name, and
  // the name holds this number.
  int descriptor = -1;
  void *handle = nullptr;
  tsr_abi_program program = nullptr;
  const tsr_abi_device_image *deviceImage = nullptr;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_CODE_H
