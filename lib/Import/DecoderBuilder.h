//===- DecoderBuilder.h - builds the program of a decoder -------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_DECODERBUILDER_H
#define TESSERA_LIB_IMPORT_DECODERBUILDER_H

#include "lib/Import/DecoderModel.h"
#include "lib/Import/ProgramBuilder.h"

namespace tessera {

class DecoderBuilder : ProgramBuilder {
public:
  DecoderBuilder(const Decoder &config, const ProgramSizes &sizes,
                 const ModelLocations &locations)
      : ProgramBuilder(sizes, locations), config(config) {
    initialDeviation = config.initializerRange;
  }

  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  mlir::DictionaryAttr waves(const RopeConfig &rotation, llvm::StringRef kind);
  void makeRotations();
  mlir::Value norm(const std::string &name, mlir::Value x,
                   llvm::StringRef dims = "h");
  /// Norms a branch in the part of that name; without a name, only branches.
  mlir::Value normBefore(mlir::Value x, const std::string &layer,
                         llvm::StringRef name);
  mlir::Value normBehind(mlir::Value y, const std::string &layer,
                         llvm::StringRef name);
  mlir::Value residual(mlir::Value x, mlir::Value y);
  mlir::Value normAllHeads(const std::string &name, mlir::Value x,
                           llvm::StringRef dims);
  mlir::Value headNorm(const std::string &name, mlir::Value x,
                       llvm::StringRef dims);
  mlir::Value rotated(mlir::Value x, const DecoderLayer &layer);
  mlir::Value projectHeads(mlir::Value x, const std::string &name,
                           bool isQuery);
  mlir::Value attention(mlir::Value x, int64_t number);
  mlir::Value gated(mlir::Value x, const std::string &name, int64_t inner);
  mlir::Value mlp(mlir::Value x, int64_t number);
  mlir::Value logits(mlir::Value x);

  // Mixture.cpp.
  mlir::Value mixture(mlir::Value x, const std::string &name);
  /// The gates [b, s, experts] of the chosen experts, which add up to 1, and
  /// the share [b, s] of these in the probabilities of all; null if gates are
  /// not multiplied by it.
  struct Routing {
    mlir::Value gates, share;
  };
  Routing route(mlir::Value tokens, const std::string &name);
  mlir::Value expertLinear(mlir::Value rows, mlir::Value gates,
                           const std::string &name, bool widens);
  mlir::Value shared(mlir::Value x, const std::string &name);
  void noteBalance(mlir::Value gates, mlir::Value e, mlir::Value perToken);
  mlir::Value perTokens(mlir::Value product);
  mlir::Value withBalance(mlir::Value loss);

  Decoder config;
  mlir::Value embeddings, documents;
  struct Waves {
    mlir::Value cosines, sines;
  };
  std::vector<Waves> rotations;
  /// Over all layers: tokens routed to each expert, and their probabilities.
  mlir::Value routedTokens, probabilities;
};

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_DECODERBUILDER_H
