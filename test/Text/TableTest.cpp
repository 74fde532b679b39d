//===- TableTest.cpp - columns in a width ---------------------------------===//

#include "tessera/Text/Table.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

Table places() {
  Table table({"where", "calls", "reason"});
  table.add({"layers.0-31.post_attention_layernorm", "64", "a sum"});
  table.add({"loss", "1", "-"});
  table.mayWrap("where", 18);
  table.mayLeaveOut({"reason"});
  return table;
}

TEST(Table, HasAllColumnsWhereTheyFit) {
  EXPECT_EQ(places().str(),
            "  where                                 calls  reason\n"
            "  layers.0-31.post_attention_layernorm     64  a sum\n"
            "  loss                                      1  -\n");
  EXPECT_TRUE(places().leftOut(53).empty());
}

TEST(Table, BreaksNamesBeforeItLeavesOutColumns) {
  EXPECT_EQ(places().str(40), "  where                    calls  reason\n"
                              "  layers.0-31.post_           64  a sum\n"
                              "  attention_layernorm\n"
                              "  loss                         1  -\n");
  EXPECT_TRUE(places().leftOut(40).empty());
}

TEST(Table, LeavesOutColumnsBeforeNamesAreUnreadable) {
  EXPECT_EQ(places().str(30), "  where                  calls\n"
                              "  layers.0-31.post_         64\n"
                              "  attention_layernorm\n"
                              "  loss                       1\n"
                              "  (without reason: --wide\n"
                              "   shows all)\n");
  EXPECT_EQ(places().leftOut(30), std::vector<std::string>{"reason"});
}

TEST(Table, IsNeverWithoutItsOtherColumns) {
  Table table({"kind", "bytes"});
  table.add({"weights", "4096"});
  EXPECT_EQ(table.str(3), "  kind     bytes\n  weights   4096\n");
  EXPECT_EQ(Table({"kind", "bytes"}).str(3), "  kind  bytes\n");
}

} // namespace
