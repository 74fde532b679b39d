//===- ProgramTarget.cpp - text of the dialects ---------------------------===//
#include "test/Fuzz/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace fuzzed;

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, func::FuncDialect, nn::NNDialect,
                      dist::DistDialect, rt::RTDialect>();
  bool hasError = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  require(!module == hasError, "a refusal says why");
  if (!module)
    return 0;
  std::string printed = textOf(*module);
  auto again = parseSourceString<ModuleOp>(printed, &context);
  require(again && textOf(*again) == printed,
          "a program is read as it was printed");
  return 0;
}
