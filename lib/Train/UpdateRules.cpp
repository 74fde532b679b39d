//===- UpdateRules.cpp - what a step makes of one parameter ---------------===//

#include "lib/Train/UpdateRules.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

using Inputs = const UpdateInputs &;
using Hyper = const Hyperparameters &;

std::string pairOf(Value value) {
  std::string d = nn::lettersOf(value);
  return d + "," + d + "->" + d;
}

/// Computes p - lr (scale * move + decay * p).
Value descend(OptimizerOps &ops, Inputs in, Value move, double scale = 1) {
  if (in.decay != 0)
    move = ops.combined({move, in.parameter}, {scale, in.decay});
  Value step =
      in.decay != 0 ? ops.scaled(in.lr, move) : ops.scaled(in.lr, move, scale);
  return ops.combined({in.parameter, step}, {1, -1});
}

/// Updates as Loshchilov and Hutter 2019.
Updated adamW(OptimizerOps &ops, Hyper hyper, Inputs in) {
  Value g = in.gradient, square = ops.product(pairOf(g), {g, g});
  Value m = ops.combined({in.moments[0], g}, {hyper.beta1, 1 - hyper.beta1});
  Value v =
      ops.combined({in.moments[1], square}, {hyper.beta2, 1 - hyper.beta2});
  Value p = ops.emit<nn::AdamWOp>(in.parameter, m, v, in.lr, in.correction1,
                                  in.correction2,
                                  ops.builder.getF64FloatAttr(hyper.epsilon),
                                  ops.builder.getF64FloatAttr(in.decay));
  return {p, {m, v}};
}

/// Updates as torch.optim.SGD: decay is part of the gradient, and the momentum
/// is no mean but a sum.
Updated sgd(OptimizerOps &ops, Hyper hyper, Inputs in) {
  UpdateInputs plain = in;
  plain.decay = 0;
  Value g = in.gradient;
  if (in.decay != 0)
    g = ops.combined({g, in.parameter}, {1, in.decay});
  if (in.moments.empty())
    return {descend(ops, plain, g), {}};
  Value m = ops.combined({in.moments[0], g}, {hyper.momentum, 1});
  Value move = hyper.nesterov ? ops.combined({g, m}, {1, hyper.momentum}) : m;
  return {descend(ops, plain, move), {m}};
}

/// Updates as Chen et al. 2023 (arXiv 2302.06675), program 1.
Updated lion(OptimizerOps &ops, Hyper hyper, Inputs in) {
  Value g = in.gradient, m = in.moments[0];
  Value mixed = ops.combined({m, g}, {hyper.beta1, 1 - hyper.beta1});
  Value p = descend(ops, in, ops.map(nn::Function::Sign, mixed));
  return {p, {ops.combined({m, g}, {hyper.beta2, 1 - hyper.beta2})}};
}

/// Updates as torch.optim.Muon with Nesterov's momentum and
/// adjust_lr_fn="match_rms_adamw", so that one learning rate serves AdamW's
/// parameters as well (Liu et al. 2025, arXiv 2502.16982, section 2.2).
Updated muon(OptimizerOps &ops, Hyper hyper, Inputs in) {
  double keep = hyper.momentum;
  Value g = in.gradient;
  Value m = ops.combined({in.moments[0], g}, {keep, 1 - keep});
  Value ahead = ops.combined({g, m}, {1 - keep, keep});
  double scale = 0.2 * std::sqrt(static_cast<double>(
                           std::max(in.matrix->rows, in.matrix->columns)));
  Value move = orthogonalized(ops, ahead, *in.matrix, in.norm);
  return {descend(ops, in, move, scale), {m}};
}

} // namespace

OptimizerKind tessera::ruleOf(OptimizerKind optimizer,
                              const std::optional<MatrixForm> &matrix) {
  return optimizer == OptimizerKind::Muon && !matrix ? OptimizerKind::AdamW
                                                     : optimizer;
}

unsigned tessera::momentsOf(OptimizerKind rule, const Hyperparameters &hyper) {
  switch (rule) {
  case OptimizerKind::AdamW:
    return 2;
  case OptimizerKind::Sgd:
    return hyper.momentum > 0;
  case OptimizerKind::Lion:
  case OptimizerKind::Muon:
    return 1;
  }
  return 0;
}

Updated tessera::updatedBy(OptimizerKind rule, const Hyperparameters &hyper,
                           OptimizerOps &ops, const UpdateInputs &inputs) {
  switch (rule) {
  case OptimizerKind::Sgd:
    return sgd(ops, hyper, inputs);
  case OptimizerKind::Lion:
    return lion(ops, hyper, inputs);
  case OptimizerKind::Muon:
    return muon(ops, hyper, inputs);
  case OptimizerKind::AdamW:
    break;
  }
  return adamW(ops, hyper, inputs);
}
