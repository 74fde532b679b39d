//===- StageTotals.cpp - totals over the batch, at their stage ------------===//
// A loop of its own counts the labels of all micro-batches before the first one
// runs (nn-micro-batch). It reads data, which every rank can have, so it stays
// a loop, at the stage that reads the total.
//===----------------------------------------------------------------------===//

#include "lib/Partition/StageBuilder.h"
#include "tessera/Options/MeshAxis.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

void StageBuilder::emitTotals(nn::MicroBatchesOp loop) {
  if (!isHere(loop.getResult(0).getType()))
    return;
  Block &body = loop.getBody().front();
  SmallVector<Value> data;
  SmallVector<Type> types;
  for (auto [value, part] : llvm::zip(loop.getData(), body.getArguments()))
    if (!part.use_empty()) // ids are the first stage's
      data.push_back(outside(value));
  for (Value total : loop.getResults())
    types.push_back(stageless(total.getType()));
  auto copy = nn::MicroBatchesOp::create(builder, loop.getLoc(), types,
                                         loop.getCountAttr(), data);
  outer.map(loop.getResults(), copy.getResults());
  OpBuilder::InsertionGuard guard(builder);
  Block *inner = builder.createBlock(&copy.getBody());
  IRMapping values;
  for (BlockArgument part : body.getArguments())
    if (!part.use_empty())
      values.map(part,
                 inner->addArgument(stageless(part.getType()), part.getLoc()));
  for (Operation &op : body) {
    auto convert = dyn_cast<ConvertOp>(op);
    if (convert && convert.getAxis() == kPipelineAxis)
      values.map(convert.getOutput(), values.lookup(convert.getInput()));
    else
      forgetStages(builder.clone(op, values));
  }
}
