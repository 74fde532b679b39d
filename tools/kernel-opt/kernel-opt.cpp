//===- kernel-opt.cpp - tessera-opt for the kernel code generator alone ---===//
// Temporary: tessera-opt registers the same passes.
//===----------------------------------------------------------------------===//

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tessera/Conversion/KernelToLLVM/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  tessera::registerKernelToLLVMPasses();
  mlir::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "kernel code generator\n", registry));
}
