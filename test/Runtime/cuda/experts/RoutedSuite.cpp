//===- RoutedSuite.cpp - What every backend of routed must do -------------===//

#include "test/Runtime/cuda/experts/RoutedSuite.h"
#include "runtime/cpu/CpuEntries.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {
constexpr int64_t kGuard = 64; /* elements behind a result: nobody's */

struct Types {
  int64_t in, out;
};
constexpr Types kTypes[] = {{TSR_DTYPE_F32, TSR_DTYPE_F32},
                            {TSR_DTYPE_BF16, TSR_DTYPE_F32},
                            {TSR_DTYPE_BF16, TSR_DTYPE_BF16},
                            {TSR_DTYPE_F32, TSR_DTYPE_BF16}};

bool isRouted(const RoutedSizes &s, int64_t t, int64_t x) {
  switch (s.routes) {
  case Routes::Mixed: // the last expert gets nothing, others less and less
    return x + 1 < std::max<int64_t>(s.experts, 2) &&
           (t * (x + 3) + x) % (x + 2) == 0;
  case Routes::One:
    return x == s.experts / 2;
  case Routes::All:
    return true;
  case Routes::Nobody:
    return false;
  }
  return false;
}

Buffer gatesOf(const RoutedSizes &s) {
  Buffer gates(TSR_DTYPE_F32, s.tokens * s.experts);
  for (int64_t t = 0; t < s.tokens; ++t)
    for (int64_t x = 0; x < s.experts; ++x)
      gates.set(t * s.experts + x,
                isRouted(s, t, x) ? double((t + x) % 3 + 1) : 0);
  return gates;
}

Buffer integers(int64_t dtype, int64_t count, unsigned seed) {
  Buffer values(dtype, count);
  values.fillIntegers(seed, 3);
  return values;
}

/// Returns powers of two, other ones for each channel: products stay exact.
Buffer scalesOf(const RoutedSizes &s) {
  Buffer scales(TSR_DTYPE_F32, s.experts * s.columns);
  for (int64_t i = 0; i < scales.size(); ++i)
    scales.set(i, std::ldexp(1.0, int(i % 7) - 3));
  return scales;
}

int64_t routedOf(const RoutedSizes &s) {
  int64_t routed = 0;
  for (int64_t row = 0; row < s.experts * s.tokens; ++row)
    routed += isRouted(s, row % s.tokens, row / s.tokens);
  return routed;
}

/// Returns the room for the rows that are routed. Some is left where tokens are
/// odd; where nobody is routed, more than a grid takes at once.
int64_t roomOf(const RoutedSizes &s) {
  const int64_t rest = s.routes == Routes::Nobody ? 4100
                       : s.tokens % 2 == 1        ? 3
                                                  : 0;
  return std::max<int64_t>(routedOf(s) + rest, 1);
}

/// Rows lie for each expert and token, or are compact.
enum class Layout { Dense, Compact };

int64_t countOf(const RoutedSizes &s, Layout layout) {
  return layout == Layout::Compact ? roomOf(s) : s.experts * s.tokens;
}

Buffer compactRowsOf(const RoutedSizes &s, int64_t dtype, int64_t width,
                     unsigned seed) {
  Buffer rows = integers(dtype, roomOf(s) * width, seed);
  for (int64_t i = routedOf(s) * width; i < rows.size(); ++i)
    rows.set(i, std::numeric_limits<double>::quiet_NaN());
  return rows;
}

/// Returns the rows [experts, tokens, width], or [room, width].
Buffer rowsOf(const RoutedSizes &s, Layout layout, int64_t dtype, int64_t width,
              unsigned seed) {
  if (layout == Layout::Compact)
    return compactRowsOf(s, dtype, width, seed);
  Buffer rows = integers(dtype, s.experts * s.tokens * width, seed);
  for (int64_t row = 0; row < s.experts * s.tokens; ++row)
    for (int64_t c = 0; c < width; ++c)
      if (!isRouted(s, row % s.tokens, row / s.tokens))
        rows.set(row * width + c, std::numeric_limits<double>::quiet_NaN());
  return rows;
}

std::vector<int64_t> argsOf(const RoutedSizes &s, Layout layout, int64_t kind,
                            Types types) {
  std::vector<int64_t> args(TSR_ROUTED_ARGS);
  args[TSR_ROUTED_KIND] = kind;
  args[TSR_ROUTED_TOKENS] = s.tokens;
  args[TSR_ROUTED_EXPERTS] = s.experts;
  args[TSR_ROUTED_COLUMNS] = s.columns;
  args[TSR_ROUTED_INNER] = s.inner;
  args[TSR_ROUTED_K] = std::min<int64_t>(s.experts, 2);
  args[TSR_ROUTED_DTYPE_IN] = types.in;
  args[TSR_ROUTED_DTYPE_OUT] = types.out;
  args[TSR_ROUTED_ROWS] = layout == Layout::Compact ? roomOf(s) : 0;
  return args;
}

std::vector<void *> pointers(std::vector<Buffer> &buffers) {
  std::vector<void *> result;
  for (Buffer &buffer : buffers)
    result.push_back(buffer.data());
  return result;
}

bool areSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Operands and the result, which both backends find as it is, with a guard.
Buffer compareInto(const RoutedBackend &backend,
                   const std::vector<int64_t> &args,
                   const std::vector<Buffer> &operands, const Buffer &result) {
  std::vector<Buffer> found = operands;
  found.push_back(result);
  std::vector<Buffer> wanted = found;
  std::string error;
  EXPECT_EQ(cpuRouted(1, pointers(wanted).data(), args.data(), &error), 0)
      << error;
  backend(args, found);
  std::string call = "kind, tokens, experts, columns, inner, ..:";
  for (int64_t arg : args)
    call += " " + std::to_string(arg);
  int64_t differing = 0;
  for (int64_t i = 0; i < result.size(); ++i)
    if (!areSame(found.back().get(i), wanted.back().get(i)) && ++differing == 1)
      ADD_FAILURE() << call << " at " << i << " is " << found.back().get(i)
                    << ", not " << wanted.back().get(i);
  for (int64_t i = result.size() - kGuard; i < result.size(); ++i)
    EXPECT_TRUE(std::isnan(found.back().get(i))) << call << " behind its end";
  return wanted.back();
}

/// Operands, then the result of both backends and its guard.
void compare(const RoutedBackend &backend, const std::vector<int64_t> &args,
             const std::vector<Buffer> &operands, int64_t count) {
  std::vector<Buffer> found = operands;
  found.emplace_back(args[TSR_ROUTED_DTYPE_OUT], count + kGuard);
  std::vector<Buffer> wanted = found;
  std::string error;
  ASSERT_EQ(cpuRouted(1, pointers(wanted).data(), args.data(), &error), 0)
      << error;
  backend(args, found);
  std::string call = "kind, tokens, experts, columns, inner, ..:";
  for (int64_t arg : args)
    call += " " + std::to_string(arg);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(found.back().get(i), wanted.back().get(i)) << call << " at " << i;
  for (int64_t i = count; i < count + kGuard; ++i)
    ASSERT_TRUE(std::isnan(found.back().get(i))) << call << " behind its end";
}

void compareRows(const RoutedBackend &backend, const RoutedSizes &s,
                 Layout layout, Types types) {
  const Buffer gates = gatesOf(s);
  const int64_t tokens = s.tokens * s.columns;
  const int64_t rows = countOf(s, layout) * s.columns;
  for (bool weighted : {false, true}) {
    std::vector<int64_t> args = argsOf(s, layout, TSR_ROUTED_DISPATCH, types);
    args[TSR_ROUTED_WEIGHTED] = weighted;
    compare(backend, args, {integers(types.in, tokens, 1), gates}, rows);
    args[TSR_ROUTED_KIND] = TSR_ROUTED_COLLECT;
    compare(backend, args, {rowsOf(s, layout, types.in, s.columns, 2), gates},
            tokens);
  }
  if (types.out == TSR_DTYPE_F32)
    compare(backend, argsOf(s, layout, TSR_ROUTED_COLLECT_GRAD_GATES, types),
            {integers(types.in, tokens, 3),
             rowsOf(s, layout, types.in, s.columns, 4), gates},
            gates.size());
  if (types.out == types.in && layout == Layout::Compact)
    compare(backend, argsOf(s, layout, TSR_ROUTED_EXPAND, types),
            {rowsOf(s, layout, types.in, s.columns, 9), gates},
            s.experts * tokens);
}

void compareProducts(const RoutedBackend &backend, const RoutedSizes &s,
                     Layout layout, Types types) {
  const Buffer gates = gatesOf(s);
  const int64_t weights = s.experts * s.columns * s.inner;
  const Buffer scales = scalesOf(s);
  for (bool transposed : {false, true}) {
    std::vector<int64_t> args = argsOf(s, layout, TSR_ROUTED_PRODUCT, types);
    args[TSR_ROUTED_TRANSPOSED] = transposed;
    const Buffer rows = rowsOf(s, layout, types.in, s.inner, 5);
    const int64_t results = countOf(s, layout) * s.columns;
    compare(backend, args, {rows, integers(types.in, weights, 6), gates},
            results);
    args[TSR_ROUTED_INT8] = 1;
    compare(backend, args,
            {rows, integers(TSR_DTYPE_I8, weights, 6), scales, gates}, results);
  }
  compare(backend, argsOf(s, layout, TSR_ROUTED_PRODUCT_GRAD_WEIGHT, types),
          {rowsOf(s, layout, types.in, s.columns, 7),
           rowsOf(s, layout, types.in, s.inner, 8), gates},
          weights);
}
} // namespace

void tessera::test::expectEqualsCpu(const RoutedBackend &backend,
                                    const RoutedSizes &sizes) {
  for (Layout layout : {Layout::Dense, Layout::Compact})
    for (Types types : kTypes) {
      compareRows(backend, sizes, layout, types);
      // The CPU has no products of f32 into bf16 either.
      if (types.in == TSR_DTYPE_BF16 || types.out == TSR_DTYPE_F32)
        compareProducts(backend, sizes, layout, types);
    }
}

namespace {
/// One rank's side of exchanges in rounds.
struct Side {
  RoutedSizes sizes;
  int64_t members, room; /* room: of a pair of ranks */
  bool own;

  /// Rows of a pair in all rounds; every token may have all experts.
  int64_t most() const { return sizes.tokens * sizes.experts / members; }
  int64_t rounds() const { return (most() + room - 1) / room; }
  int64_t message(int64_t round) const {
    return std::min(room, most() - (round - 1) * room);
  }
  /// Compact rows of a rank's own tokens are all; else those of a round.
  int64_t rows() const { return own ? roomOf(sizes) : members * room; }

  std::vector<int64_t> args(int64_t kind, Types types, int64_t round) const {
    std::vector<int64_t> args = argsOf(sizes, Layout::Compact, kind, types);
    args[TSR_ROUTED_K] = sizes.experts;
    args[TSR_ROUTED_ROWS] = rows();
    args[TSR_ROUTED_ROUND] = own ? 0 : round;
    return args;
  }
};

/// Rows of which nobody may read those from `used` on.
Buffer rowsUpTo(int64_t used, Types types, int64_t rows, int64_t width,
                unsigned seed) {
  Buffer made = integers(types.in, rows * width, seed);
  for (int64_t i = used * width; i < made.size(); ++i)
    made.set(i, std::numeric_limits<double>::quiet_NaN());
  return made;
}

/// Rows that gates route, or numbers in a round.
int64_t countOf(const Buffer &gates, int64_t round) {
  int64_t count = 0;
  for (int64_t i = 0; i < gates.size(); ++i)
    count += round == 0 ? gates.get(i) != 0 : gates.get(i) == double(round);
  return count;
}

/// Rows that no round or message holds are NaN, before and after.
void compareMessages(const RoutedBackend &backend, const Side &side,
                     const Buffer &gates, Types types, int64_t round) {
  const int64_t columns = side.sizes.columns;
  const int64_t used = countOf(gates, side.own ? 0 : round);
  const int64_t messages = side.members * side.message(round) * columns;
  std::vector<int64_t> args = side.args(TSR_ROUTED_PACK, types, round);
  args[TSR_ROUTED_MEMBERS] = side.members;
  args[TSR_ROUTED_MESSAGE] = side.message(round);
  args[TSR_ROUTED_SENT] = side.own ? (round - 1) * side.room : 0;
  args[TSR_ROUTED_OWN] = side.own;
  const Buffer made = compareInto(
      backend, args, {rowsUpTo(used, types, side.rows(), columns, 1), gates},
      Buffer(types.in, messages + kGuard));
  args[TSR_ROUTED_KIND] = TSR_ROUTED_UNPACK;
  Buffer arrived = made; // NaN where nothing was sent: nobody reads it
  compareInto(backend, args, {arrived, gates},
              Buffer(types.in, side.rows() * columns + kGuard));
}

/// Sums over rounds and what verify keeps hold the rounds before.
void compareRound(const RoutedBackend &backend, const Side &side,
                  const Buffer &numbers, Types types, int64_t round) {
  const RoutedSizes &s = side.sizes;
  const int64_t rows = side.rows(), weights = s.experts * s.columns * s.inner;
  const int64_t used = countOf(numbers, round);
  compare(backend, side.args(TSR_ROUTED_PRODUCT, types, round),
          {rowsUpTo(used, types, rows, s.inner, 5),
           integers(types.in, weights, 6), numbers},
          rows * s.columns);
  auto before = [&](int64_t count) {
    Buffer result(types.out, count + kGuard);
    const Buffer values = integers(types.out, count, 4);
    for (int64_t i = 0; round > 1 && i < count; ++i)
      result.set(i, values.get(i));
    return result;
  };
  compareInto(backend, side.args(TSR_ROUTED_PRODUCT_GRAD_WEIGHT, types, round),
              {rowsUpTo(used, types, rows, s.columns, 7),
               rowsUpTo(used, types, rows, s.inner, 8), numbers},
              before(weights));
  if (types.in == types.out)
    compareInto(backend, side.args(TSR_ROUTED_EXPAND, types, round),
                {rowsUpTo(used, types, rows, s.columns, 9), numbers},
                before(s.experts * s.tokens * s.columns));
}

/// Returns the rounds of the members' tokens, numbered apart.
Buffer compareNumbers(const RoutedBackend &backend, const Side &side,
                      const Buffer &gates) {
  std::vector<int64_t> args =
      side.args(TSR_ROUTED_ROUNDS, {TSR_DTYPE_F32, TSR_DTYPE_F32}, 0);
  args[TSR_ROUTED_ROWS] = side.room;
  args[TSR_ROUTED_MEMBERS] = side.members;
  return compareInto(backend, args, {gates},
                     Buffer(TSR_DTYPE_F32, gates.size() + kGuard));
}
} // namespace

void tessera::test::expectRoundsOfCpu(const RoutedBackend &backend,
                                      const MessageSizes &m) {
  const int64_t most = m.tokens * m.experts;
  const int64_t room = m.room > 0 ? m.room : most;
  const Side own = {{m.tokens, m.experts * m.members, m.columns, 0, m.routes},
                    m.members,
                    room,
                    /*own=*/true};
  const Side other = {
      {m.tokens * m.members, m.experts, m.columns, 12, m.routes},
      m.members,
      room,
      /*own=*/false};
  const Buffer gates = gatesOf(own.sizes);
  const Buffer numbers = compareNumbers(backend, other, gatesOf(other.sizes));
  for (Types types : {kTypes[0], kTypes[2]})
    for (int64_t round = 1; round <= own.rounds(); ++round) {
      compareMessages(backend, own, gates, types, round);
      compareMessages(backend, other, numbers, types, round);
      compareRound(backend, other, numbers, types, round);
    }
}

const std::vector<MessageSizes> &tessera::test::messageSizes() {
  static const std::vector<MessageSizes> sizes = {
      {2, 20, 3, 16, 0, Routes::Mixed},  {2, 20, 3, 16, 17, Routes::Mixed},
      {4, 9, 1, 5, 3, Routes::All},      {3, 7, 2, 24, 6, Routes::One},
      {2, 12, 2, 8, 11, Routes::Nobody}, {3, 1, 1, 1, 1, Routes::All}};
  return sizes;
}

void tessera::test::expectGatesOfCpu(const RoutedBackend &backend,
                                     int64_t tokens, int64_t experts,
                                     int64_t k) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16}) {
    const RoutedSizes sizes = {tokens, experts, 0, 0, Routes::All};
    std::vector<int64_t> args =
        argsOf(sizes, Layout::Dense, TSR_ROUTED_TOP_K, {dtype, TSR_DTYPE_F32});
    args[TSR_ROUTED_K] = k;
    std::vector<Buffer> found = {integers(dtype, tokens * experts, 9),
                                 Buffer(TSR_DTYPE_F32, tokens * experts)};
    // NaN is larger than numbers: all logits of a token, one of another.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int64_t x = 0; tokens > 1 && x < experts; ++x)
      found[0].set(x, nan);
    if (tokens > 1)
      found[0].set(2 * experts - 1, nan);
    std::vector<Buffer> wanted = found;
    std::string error;
    ASSERT_EQ(cpuRouted(1, pointers(wanted).data(), args.data(), &error), 0);
    backend(args, found);
    for (int64_t i = 0; i < tokens * experts; ++i) {
      const double gate = wanted[1].get(i);
      ASSERT_EQ(std::isnan(found[1].get(i)), std::isnan(gate)) << i;
      if (std::isnan(gate))
        continue;
      // exp of other libraries, and sums in another order.
      ASSERT_NEAR(found[1].get(i), gate, 1e-6 * gate)
          << experts << " experts, " << k << " chosen, at " << i;
    }
  }
}

const std::vector<RoutedSizes> &tessera::test::routedSizes() {
  static const std::vector<RoutedSizes> sizes = {
      {300, 3, 136, 72, Routes::Mixed}, {37, 5, 19, 12, Routes::Mixed},
      {130, 4, 64, 128, Routes::One},   {129, 2, 8, 200, Routes::All},
      {20, 3, 24, 16, Routes::Nobody},  {1, 1, 1, 1, Routes::All},
      {2500, 2, 8, 8, Routes::Mixed},   {5, 2, 16, 0, Routes::All},
      {0, 2, 16, 8, Routes::All}};
  return sizes;
}
