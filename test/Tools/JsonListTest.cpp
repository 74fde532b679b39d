//===- JsonListTest.cpp - a long list of a JSON object --------------------===//

#include "tools/tessera/report/JsonList.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

using Entries = std::vector<llvm::StringRef>;

TEST(JsonList, TakesTheListOfTheOutermostObject) {
  JsonList list =
      takeList(R"({"a":{"ops":[0]},"ops":[{"x":[1,2]},3, "b"],"c":4})", "ops");
  EXPECT_EQ(list.entries, Entries({R"({"x":[1,2]})", "3", R"("b")"}));
  EXPECT_EQ(list.rest, R"({"a":{"ops":[0]},"ops":[],"c":4})");
}

TEST(JsonList, TextIsNotStructure) {
  JsonList list = takeList(R"({"]\\":"}\"","ops":["],\"[","{"]})", "ops");
  EXPECT_EQ(list.entries, Entries({R"("],\"[")", R"("{")"}));
  EXPECT_EQ(list.rest, R"({"]\\":"}\"","ops":[]})");
}

TEST(JsonList, EmptyListsAndSpace) {
  JsonList list = takeList("{ \"ops\" : [ ] , \"c\" : 1 }", "ops");
  EXPECT_TRUE(list.entries.empty());
  EXPECT_EQ(list.rest, "{ \"ops\" : [] , \"c\" : 1 }");
}

TEST(JsonList, WhatIsNoSuchObjectIsLeftToTheParser) {
  for (const char *text :
       {"", "{", "[1]", R"({"c":1})", R"({"ops":1})", R"({"ops")",
        R"({"ops":["a" 2]})", R"({"c" 1,"ops":[1]})", R"({"c":"\)"}) {
    JsonList list = takeList(text, "ops");
    EXPECT_TRUE(list.entries.empty()) << text;
    EXPECT_EQ(list.rest, text);
  }
}

TEST(JsonList, ListsWithoutAnEndStayMalformed) {
  for (const char *text : {R"({"ops":[)", R"({"ops":[1,)", R"({"ops":[1)"})
    EXPECT_EQ(takeList(text, "ops").rest, R"({"ops":[)") << text;
}

} // namespace
