//===- DumpIR.cpp - the IR after each pass, as files ----------------------===//

#include "lib/Pipelines/DumpIR.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Target/OwnFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

LogicalResult DumpIR::write(Operation *op, StringRef name) {
  SmallString<128> path(directory);
  llvm::sys::path::append(path,
                          llvm::formatv("{0:d2}-{1}.mlir", next++, name).str());
  int descriptor = -1;
  std::error_code error = openOwnFile(path, descriptor);
  if (!error) {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    op->print(stream, OpPrintingFlags().enableDebugInfo(false));
    stream << "\n";
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (!error || failedOnce)
    return failure(failedOnce);
  failedOnce = true;
  return op->emitError() << "cannot write '" << path.str()
                         << "': " << error.message();
}

LogicalResult DumpIR::start(ModuleOp module) {
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return module.emitError()
           << "cannot create '" << directory << "': " << error.message();
  return write(module, "input");
}

void DumpIR::runAfterPass(Pass *pass, Operation *op) {
  if (isa<ModuleOp>(op) && !pass->getArgument().empty())
    (void)write(op, pass->getArgument());
}
