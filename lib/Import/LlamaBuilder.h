//===- LlamaBuilder.h - builds the serial program of a LLaMA ----*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_LLAMABUILDER_H
#define TESSERA_LIB_IMPORT_LLAMABUILDER_H

#include "lib/Import/LlamaConfig.h"
#include "lib/Import/ProgramBuilder.h"

namespace tessera {

class LlamaBuilder : ProgramBuilder {
public:
  LlamaBuilder(const LlamaConfig &config, const ProgramSizes &sizes,
               const ModelLocations &locations)
      : ProgramBuilder(sizes, locations), config(config) {
    initialDeviation = config.initializerRange;
  }

  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  mlir::DictionaryAttr waves(llvm::StringRef kind);
  mlir::Value norm(const std::string &name, mlir::Value x);
  mlir::Value rotated(mlir::Value x);
  mlir::Value attention(mlir::Value x, int64_t number);
  mlir::Value mlp(mlir::Value x, const std::string &layer);
  mlir::Value logits(mlir::Value x);

  // Mixtral.cpp.
  mlir::Value mixture(mlir::Value x, const std::string &layer);
  mlir::Value route(mlir::Value tokens, const std::string &name);
  mlir::Value expertLinear(mlir::Value rows, mlir::Value gates,
                           const std::string &name, bool widens);
  void noteBalance(mlir::Value logits, mlir::Value gates);
  mlir::Value perTokens(mlir::Value product);
  mlir::Value withBalance(mlir::Value loss);

  LlamaConfig config;
  mlir::Value embeddings, cosines, sines, documents;
  /// Over all layers: tokens routed to each expert, and their probabilities.
  mlir::Value routedTokens, probabilities;
};

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_LLAMABUILDER_H
