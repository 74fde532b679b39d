//===- Generators.cpp - the orders of tasks -------------------------------===//

#include "lib/Schedule/Generators.h"
#include <algorithm>

namespace tessera::pipeline {

/// Returns all forward tasks, then all backward tasks (Huang et al. 2019,
/// GPipe).
Order gpipeOrder(const Shape &shape, int64_t stage) {
  Order order;
  for (TaskKind kind : {TaskKind::Forward, TaskKind::Backward})
    for (int64_t j = 0; j < shape.microBatches; ++j)
      order.push_back({kind, stage, j});
  return order;
}

/// Runs as many forward tasks as there are stages from here on, then a forward
/// task after each backward task (Narayanan et al. 2019, PipeDream-Flush).
Order oneForwardOneBackwardOrder(const Shape &shape, int64_t stage) {
  int64_t ahead = shape.stages - stage;
  Order order;
  for (int64_t j = 0; j < std::min(ahead, shape.microBatches); ++j)
    order.push_back({TaskKind::Forward, stage, j});
  for (int64_t j = 0; j < shape.microBatches; ++j) {
    order.push_back({TaskKind::Backward, stage, j});
    if (j + ahead < shape.microBatches)
      order.push_back({TaskKind::Forward, stage, j + ahead});
  }
  return order;
}

namespace {

/// Returns the numbers of micro-batches that pass the chunks of a stage
/// together. Groups of `stages` keep all stages busy; the rest joins the first
/// group: a short group would have to wait for itself.
std::vector<int64_t> groupSizes(const Shape &shape) {
  if (shape.microBatches <= shape.stages)
    return {shape.microBatches};
  std::vector<int64_t> sizes(shape.microBatches / shape.stages, shape.stages);
  sizes.front() += shape.microBatches % shape.stages;
  return sizes;
}

/// Returns the tasks of one kind, group by group, chunk by chunk.
Order grouped(const Shape &shape, int64_t stage, TaskKind kind) {
  Order order;
  int64_t first = 0;
  for (int64_t size : groupSizes(shape)) {
    for (int64_t k = 0; k < shape.virtualStages; ++k) {
      int64_t part =
          kind == TaskKind::Forward ? k : shape.virtualStages - 1 - k;
      for (int64_t j = first; j < first + size; ++j)
        order.push_back({kind, part * shape.stages + stage, j});
    }
    first += size;
  }
  return order;
}

} // namespace

/// Orders tasks as Narayanan et al. 2021, section 2.2, with as many forward
/// tasks ahead as Megatron-LM runs: two for each later stage, and a group for
/// each chunk but the last.
Order interleavedOrder(const Shape &shape, int64_t stage) {
  Order forward = grouped(shape, stage, TaskKind::Forward);
  Order backward = grouped(shape, stage, TaskKind::Backward);
  int64_t total = static_cast<int64_t>(forward.size());
  int64_t ahead =
      std::min(total, 2 * (shape.stages - stage - 1) +
                          (shape.virtualStages - 1) * groupSizes(shape)[0]);
  Order order(forward.begin(), forward.begin() + ahead);
  for (int64_t i = 0; i < total; ++i) {
    if (ahead + i < total)
      order.push_back(forward[ahead + i]);
    order.push_back(backward[i]);
  }
  return order;
}

/// Orders tasks as ZB-H1 (Qi et al. 2023, section 2): 1F1B whose gradients of
/// parameters stage s makes s micro-batches late, in what would be the bubble
/// at the end. No stage holds more micro-batches than the first stage of 1F1B.
Order zeroBubbleOrder(const Shape &shape, int64_t stage) {
  int64_t ahead = shape.stages - stage, late = 0;
  Order order;
  for (int64_t j = 0; j < std::min(ahead, shape.microBatches); ++j)
    order.push_back({TaskKind::Forward, stage, j});
  for (int64_t j = 0; j < shape.microBatches; ++j) {
    order.push_back({TaskKind::Backward, stage, j});
    if (j >= stage)
      order.push_back({TaskKind::Weights, stage, late++});
    if (j + ahead < shape.microBatches)
      order.push_back({TaskKind::Forward, stage, j + ahead});
  }
  while (late < shape.microBatches)
    order.push_back({TaskKind::Weights, stage, late++});
  return order;
}

} // namespace tessera::pipeline
