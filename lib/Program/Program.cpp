//===- Program.cpp - what an artifact says of its program -----------------===//

#include "tessera/Program/Program.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

int64_t Mesh::ranks() const {
  int64_t product = 1;
  for (const Axis &axis : *this)
    product *= axis.size;
  return product;
}

int64_t Mesh::sizeOf(StringRef axis) const {
  auto found =
      llvm::find_if(*this, [&](const Axis &each) { return each.name == axis; });
  return found == end() ? 1 : found->size;
}

std::string Mesh::text() const {
  std::string text;
  for (const Axis &axis : *this)
    text +=
        (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

int64_t Tensor::elements() const { return product_of(shape); }
int64_t Tensor::elementsOfRank() const { return product_of(localShape); }

int64_t Tensor::bytesOfRank() const {
  int64_t element = dtype == "f64"                     ? 8
                    : dtype == "f32" || dtype == "i32" ? 4
                    : dtype == "bf16"                  ? 2
                                                       : 1;
  return elementsOfRank() * element;
}

int64_t Program::stages() const {
  return pipeline ? mesh.sizeOf(pipeline->axis) : 1;
}
