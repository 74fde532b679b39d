//===- EntriesTest.cpp - scatter_add, fill, copy, attention ---------------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"
#include "test/Runtime/cuda/GpuWorld.h"

#include <gtest/gtest.h>

using namespace gpu;
using tessera::test::Buffer;

namespace {

std::vector<unsigned char> bytesOf(Buffer &buffer, int64_t elementBytes) {
  auto *data = static_cast<unsigned char *>(buffer.data());
  return {data, data + buffer.size() * elementBytes};
}

struct ScatterTypes {
  int64_t source, table, sourceBytes, tableBytes;
};

void compareScatter(const ScatterTypes &t, int64_t rows, int64_t columns) {
  constexpr int64_t tableRows = 12, start = 3, valid = 10;
  Buffer source(t.source, rows * columns), table(t.table, tableRows * columns);
  source.fillNormal(1); // the order of additions shows in the bits
  table.fillNormal(2);
  std::vector<int32_t> ids(rows);
  for (int64_t r = 0; r < rows; ++r)
    ids[r] = static_cast<int32_t>((r * r * 7 + r) % 17) - 1; // some outside
  const int64_t idsAt = 1 << 20, tableAt = 2 << 20;
  std::vector<int64_t> args = {rows, columns, start, valid, t.source, t.table};
  World world(single(3 << 20, [&](const Program &p) {
    return p.call(p.frame.api->scatter_add,
                  {p.at(0), p.at(idsAt), p.at(tableAt)}, args);
  }));
  world.write(0, 0, bytesOf(source, t.sourceBytes));
  world.write(0, idsAt, ids);
  world.write(0, tableAt, bytesOf(table, t.tableBytes));
  tessera::Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  void *host[] = {source.data(), ids.data(), table.data()};
  std::string error;
  ASSERT_EQ(tessera::cpuScatterAdd(1, host, args.data(), &error), 0) << error;
  std::vector<unsigned char> wanted = bytesOf(table, t.tableBytes);
  EXPECT_EQ(world.read<unsigned char>(0, tableAt, wanted.size()), wanted)
      << rows << " x " << columns;
}

TEST(GpuScatter, HasTheBitsOfTheCpu) {
  const ScatterTypes types[] = {{TSR_DTYPE_F32, TSR_DTYPE_F32, 4, 4},
                                {TSR_DTYPE_BF16, TSR_DTYPE_F32, 2, 4},
                                {TSR_DTYPE_F32, TSR_DTYPE_F64, 4, 8},
                                {TSR_DTYPE_F64, TSR_DTYPE_F64, 8, 8}};
  for (const ScatterTypes &type : types)
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {57, 300}, {200, 33}, {0, 5}})
      compareScatter(type, rows, columns);
}

TEST(GpuFill, WritesItsBytesOnly) {
  World world(single(4096, [](const Program &p) {
    if (int32_t code = p.call(p.frame.api->fill, {p.at(64)}, {0}))
      return code;
    return p.call(p.frame.api->fill, {p.at(100)}, {77});
  }));
  std::vector<unsigned char> wanted(4096, 0xAB);
  world.write(0, 0, wanted);
  tessera::Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  std::fill_n(wanted.begin() + 100, 77, 0);
  EXPECT_EQ(world.read<unsigned char>(0, 0, 4096), wanted);
}

struct RowCase {
  int64_t rows, bytes, srcStride, dstStride;
};

TEST(GpuCopy, MovesRows) {
  for (RowCase c :
       {RowCase{1, 100, 0, 0}, RowCase{5, 12, 12, 12}, RowCase{5, 12, 40, 16},
        RowCase{4, 8, 0, 24}, RowCase{3, 7, 9, 11}, RowCase{0, 7, 9, 11}}) {
    World world(single(4096, [&](const Program &p) {
      return p.call(p.frame.api->copy, {p.at(0), p.at(2048)},
                    {c.rows, c.bytes, c.srcStride, c.dstStride});
    }));
    std::vector<unsigned char> wanted(4096);
    for (int i = 0; i < 4096; ++i)
      wanted[i] = static_cast<unsigned char>(i * 31 + i / 7);
    world.write(0, 0, wanted);
    tessera::Status status = world.step();
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t row = 0; row < c.rows; ++row)
      std::copy_n(wanted.begin() + row * c.srcStride, c.bytes,
                  wanted.begin() + 2048 + row * c.dstStride);
    EXPECT_EQ(world.read<unsigned char>(0, 0, 4096), wanted);
  }
}

TEST(GpuArena, StartsAsZerosAndIsPoisoned) {
  WorldOptions options = single(1000, [](const Program &) { return 0; });
  World world(options);
  EXPECT_EQ(world.read<unsigned char>(0, 0, 1000),
            std::vector<unsigned char>(1000));
}

TEST(GpuArena, TooLargeSaysWhatIsNeededAndFree) {
  try {
    World world(single(int64_t(1) << 45, [](const Program &) { return 0; }));
    FAIL() << "no error";
  } catch (const tessera::Error &error) {
    EXPECT_EQ(error.status.code, TSR_OUT_OF_MEMORY);
    EXPECT_NE(error.status.message.find("35184372088832"), std::string::npos)
        << error.status.message;
    EXPECT_NE(error.status.message.find("are free"), std::string::npos);
  }
}

} // namespace
