//===- Placement.h - gives ops their distribution ---------------*- C++ -*-===//
// The distributor: for each op and mesh axis, the cheapest legal row of the
// typing rule, and the conversions that lead to it. Used for the forward
// program and for the optimizer; backward programs are never placed, their
// distribution follows from the forward one.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_DISTRIBUTE_PLACEMENT_H
#define TESSERA_LIB_DISTRIBUTE_PLACEMENT_H

#include "tessera/Dialect/NN/NN.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <tuple>

namespace tessera {

/// Dimensions of an activation: [batch, sequence, hidden], or [batch, sequence,
/// heads, head size] in attention.
enum ActivationDim : int64_t { kBatchDim = 0, kSequenceDim = 1, kHeadsDim = 2 };

/// The dimensions of a cache: [lanes, slots, places, heads, head size].
enum CacheDim : int64_t { kPlacesDim = 2 };

/// Dimensions of rows that are routed to experts: [experts, batch, sequence,
/// ...].
enum RoutedDim : int64_t { kExpertDim = 0, kRoutedBatchDim = 1 };

/// The decisions that the typing rule leaves open.
struct ShardingPlan {
  dist::MeshAttr mesh;
  /// The residual stream is `S` of its sequence on `tp`, not `I`.
  bool sequenceParallel = false;
  /// Names of layers whose parameters `tp` does not split.
  llvm::DenseSet<mlir::StringRef> replicatedLayers;
  /// Attention under `cp` runs on whole sequences of some heads (DeepSpeed-
  /// Ulysses, Jacobs et al. 2023), not on some queries and all keys.
  bool exchangesHeads = false;
  /// Attention under `cp` runs on some queries and some keys, which ranks pass
  /// on (ring attention, Liu et al. 2023).
  bool walksRing = false;
  /// `cp` splits the places of caches, not the sequence: a step's rows are few.
  bool sharesPlaces = false;
  /// Parameters rest `S` on `dp` and `cp` and are gathered where they are used.
  bool shardsParameters = false;
  /// So are parameters that are not trained, for the memory of their values
  /// alone.
  bool shardsFrozen = false;

  /// Returns the resting sharding of a data tensor. `dims` holds a letter per
  /// dimension. A parameter of a replicated layer is not split over `tp`.
  mlir::RankedTensorType resting(mlir::RankedTensorType type,
                                 llvm::StringRef dims,
                                 bool isReplicated = false) const;
  /// Returns the axes of more than one rank that parameters rest split over, in
  /// the order of the mesh: the last cuts the innermost slices.
  llvm::SmallVector<mlir::StringAttr> zeroAxes() const;
  /// Returns the resting sharding of a parameter that is split over these axes
  /// as well: in the first dimension that needs no padding, or in the first of
  /// all where each needs some.
  mlir::RankedTensorType restingShard(mlir::RankedTensorType type,
                                      llvm::StringRef dims,
                                      bool isReplicated) const;
  /// Returns whether an op is in a replicated layer, or all that read a
  /// parameter are.
  bool isReplicated(mlir::Operation *op) const;
  bool isReplicated(mlir::BlockArgument parameter) const;
  /// Returns whether the value is a parameter split over these axes, which is
  /// gathered before an op reads it.
  bool isGathered(mlir::Value value) const;
  /// Finds the ops that make the residual stream, its branches (ops whose
  /// results only such ops read, element by element) and the tails of these.
  void findStream(mlir::Region &program);
  /// Returns the resting type of a parameter that one pipeline stage alone
  /// uses.
  mlir::RankedTensorType atStage(mlir::BlockArgument parameter) const;
  /// Returns the axes of more than one rank, that of the stages first: what an
  /// op needs of a value of another stage is converted where it is needed. `tp`
  /// is last: what sequence parallelism cuts and gathers are parts of the
  /// slices of `cp`, whatever the order of the mesh.
  llvm::SmallVector<mlir::StringAttr> axes() const;
  /// Returns the stages of the pipeline; 1 without one.
  int64_t stages() const;
  /// Returns the stage of an op's chunk; nullopt without pipeline or chunk.
  std::optional<dist::State> stageOf(mlir::Operation *op) const;
  /// The state that the result of an op must have on an axis.
  std::optional<dist::State> anchor(mlir::Operation *op,
                                    llvm::StringRef axis) const;
  /// Returns whether an op reads an operand in the state it has: partial sums
  /// of a token's experts are added before they are reduced.
  bool keepsOperand(mlir::Operation *op, unsigned operand,
                    llvm::StringRef axis) const;

private:
  /// Tails are the last ops of a branch that read one activation, such as the
  /// sum with a bias or a dropout. On a reduced value they become one kernel
  /// with the sum that ends the branch.
  llvm::DenseSet<mlir::Operation *> stream, branches, tails;
};

/// Returns whether a value is a parameter of the program or a conversion of
/// one.
bool isParameter(mlir::Value value);

class Placement {
public:
  explicit Placement(ShardingPlan plan) : plan(std::move(plan)) {}

  /// Marks a value whose gradient will be asked for: a conversion of it is paid
  /// for twice.
  void markActive(mlir::Value value) { active.insert(value); }

  /// Converts the operands of `op` so that the typing rule accepts it, and sets
  /// its result types. Fails with an error where no row is legal.
  mlir::LogicalResult place(mlir::Operation *op);

  /// Returns the value in another state; conversions are made once and shared.
  mlir::Value convert(mlir::OpBuilder &builder, mlir::Value value,
                      llvm::StringRef axis, dist::State to);

private:
  /// Costs of a conversion, in the order in which they count.
  struct Price {
    int64_t parametersMoved = 0; ///< Sharded ones, or whole ones sliced.
    int64_t valuesGathered = 0;  ///< Other sharded values that become whole.
    double bytes = 0;            ///< Sent, forward and backward.
    int64_t conversions = 0;

    Price &operator+=(const Price &other);
    bool operator<(const Price &other) const;
  };

  bool exchangesPadding(mlir::RankedTensorType from, mlir::RankedTensorType to,
                        llvm::StringRef axis) const;
  std::optional<Price> price(mlir::Value value, llvm::StringRef axis,
                             dist::State to) const;
  mlir::FailureOr<llvm::SmallVector<dist::State>>
  choose(mlir::Operation *op, llvm::StringRef axis) const;
  /// Returns a parameter that rests split over the plan's axes of ZeRO as ops
  /// read it.
  mlir::Value gathered(mlir::OpBuilder &builder, mlir::Value parameter);
  /// Emits the error of an op that no row of the rule fits.
  mlir::LogicalResult refuse(mlir::Operation *op, llvm::StringRef axis) const;
  void propagateActive(mlir::Operation *op);

  ShardingPlan plan;
  llvm::DenseSet<mlir::Value> active;
  std::map<std::tuple<void *, std::string, std::string>, mlir::Value> made;
};

} // namespace tessera

#endif // TESSERA_LIB_DISTRIBUTE_PLACEMENT_H
