//===- AttentionFormula.cpp - attention of products, sums, maps -----------===//
// Letters: queries "bsn" or, with groups, "bsgr"; keys "ctm", of batch c,
// position t and head m; d and e head sizes. A matrix product wants the letters
// of rows, columns and sums side by side, and a kernel rows before columns, so
// that nothing is transposed.
//===----------------------------------------------------------------------===//

#include "lib/Model/AttentionFormula.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

struct AttentionFormulas::Shape {
  explicit Shape(nn::AttentionOp op) {
    ArrayRef<int64_t> query =
        cast<RankedTensorType>(op.getQuery().getType()).getShape();
    ArrayRef<int64_t> key =
        cast<RankedTensorType>(op.getKey().getType()).getShape();
    isGrouped = query.size() == 5;
    rows = isGrouped ? "bsgr" : "bsn";
    rowSizes.assign(query.begin(), query.end() - 1);
    columnSizes.assign(key.begin(), key.end() - 1);
  }

  int64_t queries() const { return rowSizes[1]; }
  int64_t keys() const { return columnSizes[1]; }
  int64_t heads() const { return columnSizes[2]; }
  int64_t perGroup() const { return isGrouped ? rowSizes[3] : 1; }
  /// Weights of the letters of a row, those of a group's heads last.
  SmallVector<double> rowWeights(double batch, double position, double head,
                                 double inGroup = 0) const {
    SmallVector<double> weights = {batch, position, head};
    if (isGrouped)
      weights.push_back(inGroup);
    return weights;
  }

  bool isGrouped;
  std::string rows, columns = "ctm";
  SmallVector<int64_t> rowSizes, columnSizes;
};

int64_t AttentionFormulas::scoresOf(nn::AttentionOp op) {
  Shape shape(op);
  int64_t scores = 1;
  for (int64_t size : shape.rowSizes)
    scores *= size;
  for (int64_t size : shape.columnSizes)
    scores *= size;
  return scores;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Returns `seen`, but 0 where query and key are in different segments.
/// Segments are numbers from -1 on, and nothing sees -1.
Value AttentionFormulas::sameSegment(nn::AttentionOp op, const Shape &shape,
                                     Value seen) {
  const std::string &r = shape.rows, &c = shape.columns, all = r + c;
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  Value numbers = f.count(std::max(shape.queries(), shape.keys()) + 1);
  auto spread = [&](Value x, StringRef letters, ArrayRef<int64_t> sizes) {
    for (size_t k = 2; k < letters.size(); ++k) {
      StringRef before = letters.take_front(k), next = letters.slice(k, k + 1);
      x = f.sum(before + "," + next + "->" + before + next,
                {x, f.count(sizes[k])}, {1, 0});
    }
    return x;
  };
  auto isToken = [&](Value segments) {
    return f.emit<nn::CountedOp>(segments, TypeAttr::get(element),
                                 IntegerAttr());
  };
  auto number = [&](Value segments) {
    return f.emit<nn::EmbeddingOp>(segments, numbers, IntegerAttr());
  };
  Value queries = op.getQuerySegments(), keys = op.getKeySegments();
  Value apart = f.difference(r, spread(number(queries), r, shape.rowSizes), c,
                             spread(number(keys), c, shape.columnSizes));
  seen = f.times(seen, f.isZero(apart));
  seen = f.product(all + "," + r + "->" + all,
                   {seen, spread(isToken(queries), r, shape.rowSizes)});
  return f.product(all + "," + c + "->" + all,
                   {seen, spread(isToken(keys), c, shape.columnSizes)});
}

/// Returns 1 where a query sees a key, and 0 elsewhere.
Value AttentionFormulas::visible(nn::AttentionOp op, const Shape &shape) {
  std::vector<int64_t> key(shape.rowSizes.begin(), shape.rowSizes.end());
  key.insert(key.end(), shape.columnSizes.begin(), shape.columnSizes.end());
  for (Value segments : {op.getQuerySegments(), op.getKeySegments()})
    key.push_back(segments ? cast<BlockArgument>(segments).getArgNumber() : -1);
  nn::AttentionMask mask = op.getAttention().getMask();
  key.insert(key.end(), {mask.causal, mask.window});
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  Value &known = masks[{element.getAsOpaquePointer(), key}];
  if (known)
    return known;
  const std::string &r = shape.rows, &c = shape.columns;
  double heads = static_cast<double>(shape.heads());
  Value seen = f.isZero(f.difference(
      r, f.indices(r, shape.rowSizes, shape.rowWeights(heads, 0, 1)), c,
      f.indices(c, shape.columnSizes, {heads, 0, 1})));
  if (mask.causal) {
    Value behind =
        f.difference(r, f.indices(r, shape.rowSizes, shape.rowWeights(0, 1, 0)),
                     c, f.indices(c, shape.columnSizes, {0, 1, 0}));
    seen = f.times(seen, f.isAtLeast(behind, 0));
    if (mask.window)
      seen = f.times(seen, f.isBelow(behind, static_cast<double>(mask.window)));
  }
  if (op.getQuerySegments())
    seen = sameSegment(op, shape, seen);
  return known = seen;
}

//===----------------------------------------------------------------------===//
// Relative positions (Raffel et al. 2020)
//===----------------------------------------------------------------------===//

/// Returns the distances at which the next bucket of one direction begins, from
/// the first bucket on. It computes in f32, as the published models were
/// trained.
static SmallVector<int64_t> bucketStarts(int64_t buckets, int64_t farthest,
                                         int64_t largest) {
  const int64_t exact = buckets / 2;
  auto bucketOf = [&](int64_t distance) {
    if (distance < exact)
      return distance;
    float share = std::log(float(distance) / float(exact)) /
                  float(std::log(double(farthest) / double(exact)));
    return std::min(buckets - 1,
                    exact + int64_t(share * float(buckets - exact)));
  };
  SmallVector<int64_t> starts;
  for (int64_t distance = 1, bucket = 0; distance <= largest; ++distance)
    for (; bucket < bucketOf(distance); ++bucket)
      starts.push_back(distance);
  return starts;
}

/// Returns the bucket of every query position z and key "ct".
Value AttentionFormulas::bucketsOf(nn::AttentionOp op, const Shape &shape) {
  const int64_t sides = op.getAttention().getCausal() ? 1 : 2;
  const int64_t ofSide = sizeAt(op.getBiasTable(), 0) / sides;
  Value keys =
      f.indices("ct", ArrayRef(shape.columnSizes).take_front(2), {0, 1});
  Value behind = f.difference("z", f.count(shape.queries()), "ct", keys);
  Value ahead = f.scaled(behind, -1);
  Value bucket = f.scaled(behind, 0);
  auto add = [&](Value steps, double each) {
    bucket = f.sum("zct,zct->zct", {bucket, steps}, {1, each});
  };
  for (int64_t start : bucketStarts(ofSide, op.getAttention().getMaxDistance(),
                                    std::max(shape.queries(), shape.keys()))) {
    add(f.isAtLeast(behind, static_cast<double>(start)), 1);
    if (sides == 2)
      add(f.isAtLeast(ahead, static_cast<double>(start)), 1);
  }
  if (sides == 2)
    add(f.isAtLeast(ahead, 1), static_cast<double>(ofSide));
  return bucket;
}

/// Returns the element of the table in the row of the bucket and the column of
/// the key's head.
Value AttentionFormulas::biases(nn::AttentionOp op, const Shape &shape) {
  const std::string &r = shape.rows;
  Value table = op.getBiasTable();
  Value isBucket = f.isZero(f.difference("zct", bucketsOf(op, shape), "e",
                                         f.count(sizeAt(table, 0))));
  // Muon takes a parameter that only products read for a matrix. The sum keeps
  // it from taking the table for one.
  Value read = f.sum("em->em", table);
  Value ofPosition = f.product("zcte,em->zctm", {isBucket, read});
  Value positions = f.indices(r, shape.rowSizes, shape.rowWeights(0, 1, 0));
  Value isPosition =
      f.isZero(f.difference(r, positions, "z", f.count(shape.queries())));
  return f.product(r + "z,zctm->" + r + "ctm", {isPosition, ofPosition});
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Returns what dropout makes of a 1 in the place of each score. Numbers are
/// drawn in the order of [batch, heads, queries, keys], then brought into that
/// of the scores.
Value AttentionFormulas::kept(nn::AttentionOp op, const Shape &shape) {
  const std::string &r = shape.rows, &c = shape.columns;
  const std::string drawn = shape.isGrouped ? "xywz" : "xyz";
  SmallVector<int64_t> sizes = {shape.rowSizes[0], shape.heads()};
  if (shape.isGrouped)
    sizes.push_back(shape.perGroup());
  sizes.push_back(shape.queries());
  SmallVector<double> places(sizes.size(), 1);
  for (size_t k = sizes.size() - 1; k > 0; --k)
    places[k - 1] = places[k] * static_cast<double>(sizes[k]);
  SmallVector<int64_t> all(sizes);
  all.push_back(shape.keys());
  Value ones = f.scaled(
      f.indices(drawn + "u", all, SmallVector<double>(all.size(), 0)), 0, 1);
  Value mask =
      f.emit<nn::DropoutOp>(ones, op.getDropoutAttr(), op.getStreamAttr());
  SmallVector<double> own = shape.rowWeights(places[0], 1, places[1],
                                             shape.isGrouped ? places[2] : 0);
  Value isRow = f.isZero(f.difference(r, f.indices(r, shape.rowSizes, own),
                                      drawn, f.indices(drawn, sizes, places)));
  Value ofRows =
      f.product(r + drawn + "," + drawn + "u->" + r + "u", {isRow, mask});
  Value isKey =
      f.isZero(f.difference("u", f.count(shape.keys()), c,
                            f.indices(c, shape.columnSizes, {0, 1, 0})));
  return f.product(r + "u,u" + c + "->" + r + c, {ofRows, isKey});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// exp(x - max x) / sum, over the keys that a query sees; 0 where it sees none.
Value AttentionFormulas::probabilities(const Shape &shape, Value scores,
                                       Value seen) {
  constexpr double hidden = 1e30; // exp(-hidden) is 0, and its sums are finite.
  const std::string &r = shape.rows, &c = shape.columns, all = r + c;
  Value masked = f.sum(all + "," + all + "->" + all,
                       {scores, f.scaled(seen, hidden, -hidden)});
  Value top = masked;
  for (size_t k = 0; k < c.size(); ++k)
    top = f.emit<nn::MaxOp>(top);
  Value shifted = f.sum(all + "," + r + "->" + all, {masked, top}, {1, -1});
  Value weights = f.times(f.map(nn::Function::Exp, shifted), seen);
  Value seesAny = f.map(nn::Function::Sign, f.product(all + "->" + r, seen));
  Value sums =
      f.sum(r + "," + r + "->" + r,
            {f.product(all + "->" + r, weights), f.scaled(seesAny, -1, 1)});
  return f.product(all + "," + r + "->" + all,
                   {weights, f.map(nn::Function::Reciprocal, sums)});
}

Value AttentionFormulas::build(nn::AttentionOp op) {
  Shape shape(op);
  const std::string &r = shape.rows, &c = shape.columns, all = r + c;
  Value query =
      f.scaled(op.getQuery(), op.getAttention().getScale().convertToDouble());
  Value scores = f.product(r + "d," + c + "d->" + all, {query, op.getKey()});
  if (op.getBiasTable())
    scores = f.sum(all + "," + all + "->" + all, {scores, biases(op, shape)});
  Value weights = probabilities(shape, scores, visible(op, shape));
  if (!op.getDropout().isZero())
    weights = f.times(weights, kept(op, shape));
  return f.product(all + "," + c + "e->" + r + "e", {weights, op.getValue()});
}
