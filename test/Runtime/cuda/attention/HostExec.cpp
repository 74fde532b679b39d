//===- HostExec.cpp - Warp-wide instructions on a CPU ---------------------===//

#include "test/Runtime/cuda/attention/HostExec.h"

using namespace tessera::test;

static constexpr int kLanes = 32;

namespace {
struct MatrixSlot {
  const unsigned char *row;
  uint32_t *out;
};
struct ProductSlot {
  float *sums;
  const uint32_t *a;
  uint32_t b[2];
};
struct ShuffleSlot {
  float value, result;
  int distance;
};
struct BallotSlot {
  bool bit;
  uint32_t all;
};
} // namespace

/// Reads element (row, column) of 8 x 8 matrix i: lane 8 i + row points at the
/// row.
static uint16_t element(void *const *slots, int i, int row, int column) {
  uint16_t bits;
  const auto *slot = static_cast<const MatrixSlot *>(slots[8 * i + row]);
  std::memcpy(&bits, slot->row + 2 * column, 2);
  return bits;
}

/// Emulates ldmatrix: lane l receives elements 2 (l % 4) and the next of row l
/// / 4; with .trans, of column l / 4.
template <bool Transposed> static void loadMatrix(void *const *slots) {
  for (int i = 0; i < 4; ++i) {
    const void *rows[8];
    for (int r = 0; r < 8; ++r)
      rows[r] = static_cast<const MatrixSlot *>(slots[8 * i + r])->row;
    HostExec::block().shared.readRows(rows);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane / 4, column = lane % 4 * 2;
      const uint32_t low = Transposed ? element(slots, i, column, row)
                                      : element(slots, i, row, column);
      const uint32_t high = Transposed ? element(slots, i, column + 1, row)
                                       : element(slots, i, row, column + 1);
      static_cast<MatrixSlot *>(slots[lane])->out[i] = low | high << 16;
    }
  }
}

static void meetForMatrices(HostBlock::WarpOperation operation,
                            uint32_t (&out)[4], HostExec::Address row) {
  HostBlock &block = HostExec::block();
  MatrixSlot slot{reinterpret_cast<const unsigned char *>(row), out};
  block.shared.read(block.thread, slot.row, 16);
  block.meet(operation, &slot);
}

void HostExec::loadMatrices(uint32_t (&out)[4], Address row) {
  meetForMatrices(loadMatrix<false>, out, row);
}
void HostExec::loadMatricesTransposed(uint32_t (&out)[4], Address row) {
  meetForMatrices(loadMatrix<true>, out, row);
}

/// Element i of a register array of pairs of bf16, as float.
static float part(const uint32_t *registers, int i) {
  return tessera::bf16ToFloat(
      tessera::Bf16{uint16_t(registers[i / 2] >> (i % 2 * 16))});
}

/// PTX ISA, mma.m16n8k16: with group = lane >> 2 and t = lane % 4,
///   a_i: row group for 0 <= i < 2 and 4 <= i < 6, else group + 8;
///        column 2 t + (i & 1), + 8 for i >= 4
///   b_i: row 2 t + (i & 1), + 8 for i >= 2; column group
///   c_i: row group for i < 2, else group + 8; column 2 t + (i & 1)
[[gnu::target_clones("avx2", "default")]] static void
multiply(void *const *slots) {
  float a[16][16], b[16][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto *slot = static_cast<const ProductSlot *>(slots[lane]);
    const int group = lane >> 2, t = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const bool upper = i < 2 || (i >= 4 && i < 6);
      a[upper ? group : group + 8][2 * t + (i & 1) + (i >= 4 ? 8 : 0)] =
          part(slot->a, i);
    }
    for (int i = 0; i < 4; ++i)
      b[2 * t + (i & 1) + (i >= 2 ? 8 : 0)][group] = part(slot->b, i);
  }
  float c[16][8];
  const auto eachSum = [&](auto &&act) {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 4; ++i)
        act(static_cast<ProductSlot *>(slots[lane])->sums[i],
            c[(lane >> 2) + (i < 2 ? 0 : 8)][2 * (lane % 4) + (i & 1)]);
  };
  eachSum([](float sum, float &element) { element = sum; });
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < 8; ++column) // a vector of the host
        c[row][column] += a[row][k] * b[k][column];
  eachSum([](float &sum, float element) { sum = element; });
}

void HostExec::multiplyAdd(float (&sums)[4], const uint32_t (&a)[4],
                           uint32_t b0, uint32_t b1) {
  ProductSlot slot{sums, a, {b0, b1}};
  block().meet(multiply, &slot);
}

static void shuffle(void *const *slots) {
  for (int lane = 0; lane < kLanes; ++lane) {
    auto *slot = static_cast<ShuffleSlot *>(slots[lane]);
    slot->result =
        static_cast<const ShuffleSlot *>(slots[lane ^ slot->distance])->value;
  }
}

float HostExec::shuffleXor(float x, int distance) {
  ShuffleSlot slot{x, 0, distance};
  block().meet(shuffle, &slot);
  return slot.result;
}

static void vote(void *const *slots) {
  uint32_t all = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    all |= uint32_t(static_cast<const BallotSlot *>(slots[lane])->bit) << lane;
  for (int lane = 0; lane < kLanes; ++lane)
    static_cast<BallotSlot *>(slots[lane])->all = all;
}

uint32_t HostExec::ballot(bool bit) {
  BallotSlot slot{bit, 0};
  block().meet(vote, &slot);
  return slot.all;
}
