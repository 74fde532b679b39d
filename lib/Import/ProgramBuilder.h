//===- ProgramBuilder.h - what all model families build with ----*- C++ -*-===//
// Makes the serial program @loss of a model: arguments (parameters first, then
// tables, then data), ops with the location of their part, and the loss. A
// family derives from it and says how its parts are put together. Letters:
// nn.dims of NNBase.td.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_PROGRAMBUILDER_H
#define TESSERA_LIB_IMPORT_PROGRAMBUILDER_H

#include "lib/Import/SpecialTokens.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Program/PartName.h"

namespace tessera {

/// The sizes of the program that is built for a model.
struct ProgramSizes {
  int64_t sequence, batch, microBatches;
  mlir::Type elementType;
  /// True if labels of a causal model may be ignored.
  bool ignoresLabels = false;
  /// The tokens of attention's masks: the one that ends a document, and the one
  /// that is padding.
  std::optional<int64_t> separator = std::nullopt, padding = std::nullopt;
  /// Holds the tokens that a masked language model never hides, if known.
  std::optional<SpecialTokens> special = std::nullopt;

  bool hasSegments() const { return separator || padding; }
};

/// Locations to which diagnostics about a part of the model point.
struct ModelLocations {
  mlir::Location model, embedding, layers;
};

class ProgramBuilder {
protected:
  ProgramBuilder(const ProgramSizes &sizes, const ModelLocations &locations)
      : sizes(sizes), locations(locations), b(locations.model.getContext()),
        loc(locations.model) {}

  struct Weight {
    std::string name;
    llvm::StringRef dims;
    llvm::SmallVector<int64_t> shape, fileShape;
    mlir::DictionaryAttr init;
    bool decays = false;
  };
  struct ModelSizes {
    llvm::StringRef family;
    int64_t layers, vocabulary;
    /// The token that stands for those that a masked language model predicts.
    std::optional<int64_t> maskToken = std::nullopt;
    std::optional<int64_t> tokenTypes = std::nullopt;
    /// For an encoder-decoder model: the tokens of a target, the token from
    /// which its first label is predicted, the token that pads it, and the
    /// number of layers that encode.
    std::optional<int64_t> target = std::nullopt, startToken = std::nullopt,
                           padToken = std::nullopt,
                           encoderLayers = std::nullopt;
  };

  /// Starts @loss; `finish` ends it.
  void begin(const ModelSizes &model);
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::Value loss);

  /// Begins the part of the model that the following ops belong to.
  void enter(const llvm::Twine &name, mlir::Location file) {
    loc = mlir::NameLoc::get(b.getStringAttr(name), file);
  }

  /// Its file shape is its shape where none is given.
  mlir::Value parameter(const Weight &weight);
  /// Returns the logits [batch, sequence, vocabulary] of x. Their weights are
  /// the token embeddings [vocabulary, hidden] if these are tied, else
  /// `lm_head.weight`, which is drawn with standard deviation `std`.
  mlir::Value outputLogits(mlir::Value x, mlir::Value embeddings, bool isTied,
                           double std);
  /// Returns a constant that the runtime computes from `init`.
  mlir::Value table(llvm::StringRef name, llvm::StringRef dims,
                    llvm::ArrayRef<int64_t> shape, mlir::DictionaryAttr init);
  /// Adds an argument i32 [sequences of a micro-batch, length]; 0: the length
  /// of a sequence.
  mlir::Value data(llvm::StringRef name, int64_t length = 0);
  /// Adds an argument for the segments that attention keeps apart; null if
  /// nothing is masked.
  mlir::Value segments(llvm::StringRef name, int64_t length = 0) {
    return sizes.hasSegments() ? data(name, length) : mlir::Value();
  }
  mlir::DictionaryAttr normal(double std);
  /// The same, but elements of the row `padding` of a table with `columns` are
  /// zeros if there is one, as nn.Embedding(padding_idx) has them.
  mlir::DictionaryAttr normalRows(double std, std::optional<int64_t> padding,
                                  int64_t columns);
  mlir::DictionaryAttr constant(llvm::StringRef kind);
  int64_t dropoutStream() { return 2 * dropouts++ + 1; }

  mlir::Value einsum(llvm::StringRef spec, mlir::ValueRange inputs,
                     double scale = 1.0);
  mlir::Value add(llvm::StringRef spec, mlir::ValueRange inputs,
                  llvm::ArrayRef<double> coefs = {});
  mlir::Value map(nn::Function function, mlir::Value x);
  mlir::Value number(double value);
  /// Returns the value in f32 where mixed precision may round it.
  mlir::Value widened(mlir::Value x);
  /// Looks up rows of a table. Lookups of `padding` have no gradient.
  mlir::Value lookup(mlir::Value ids, mlir::Value table,
                     std::optional<int64_t> padding = std::nullopt);
  /// Returns 1 for labels, or segments, that are not negative, and 0 for
  /// others.
  mlir::Value counted(mlir::Value labels);
  mlir::Value dropout(mlir::Value x, double p);
  /// Its parameters NAME.weight and NAME.bias have the last dimension.
  mlir::Value layerNorm(llvm::StringRef name, mlir::Value x, double epsilon);

  /// Parameters NAME.weight, and NAME.bias where there is one.
  struct Projection {
    std::string name;
    /// "bsh,fh->bsf". Files hold a matrix with a row per element of the result:
    /// its letters come first.
    llvm::StringRef spec;
    llvm::SmallVector<int64_t> shape, fileShape;
    bool hasBias = false;
  };
  mlir::Value project(mlir::Value x, const Projection &projection);

  struct Attention {
    mlir::Value query, key, value;
    double scale;
    bool causal;
    double dropout;
    /// Biases by distance, [buckets, heads], farther ones as `maxDistance`.
    mlir::Value biasTable = {};
    int64_t maxDistance = 0;
    int64_t window = 0; ///< Keys that a query sees; 0: all, or all earlier.
    /// Documents or padding, i32 [b, s] and [b, t].
    mlir::Value querySegments = {}, keySegments = {};
  };
  mlir::Value attention(const Attention &heads);
  /// Returns the value itself, for readers whose gradients add up before they
  /// meet those of its other readers: a plan may convert it for them alone.
  mlir::Value branch(mlir::Value x) { return add("bsh->bsh", x); }
  /// Marks a value of the residual stream, whose distribution a plan fixes.
  mlir::Value stream(mlir::Value x);

  /// Builds for each token log-sum-exp minus target, in parts that a split
  /// vocabulary leaves local (Shoeybi et al. 2019, section 3).
  mlir::Value crossEntropy(mlir::Value logits, mlir::Value labels);
  /// Builds, for a causal model, the mean of a value per token over all
  /// micro-batches, or over those whose label counts.
  mlir::Value causalMean(mlir::Value tokens, mlir::Value labels);
  /// Returns the mean over those whose label counts, of all micro-batches.
  mlir::Value meanOverCounted(mlir::Value tokens, mlir::Value labels);

  ProgramSizes sizes;
  ModelLocations locations;
  mlir::OpBuilder b;
  mlir::Location loc;
  /// Standard deviation of the initial values of projections.
  double initialDeviation = 0.02;

private:
  mlir::Value argument(unsigned index, mlir::Type type,
                       mlir::NamedAttrList attrs);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  llvm::SmallVector<mlir::Attribute> arguments;
  unsigned tables = 0, dataArguments = 0;
  /// Streams of parameters are even, those of dropout odd: neither moves when
  /// the other changes.
  int64_t parameters = 0, dropouts = 0;
};

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_PROGRAMBUILDER_H
