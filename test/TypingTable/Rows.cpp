//===- Rows.cpp - reads the specification's typing table ------------------===//

#include "test/TypingTable/Rows.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tessera::test;

/// Returns the words up to `end`, which is dropped.
static States upTo(std::istream &words, const std::string &end) {
  States found;
  for (std::string word; words >> word && word != end;)
    found.push_back(word);
  return found;
}

static bool addLine(TypingTable &table, const std::string &line) {
  std::istringstream words(line);
  std::string what, a, b;
  words >> what;
  if (what == "op") {
    words >> a >> b;
    table.ops.push_back({a, b, {}});
  } else if (what == "row" && !table.ops.empty()) {
    States operands = upTo(words, "->");
    words >> table.ops.back().rows[operands];
  } else if (what == "convert") {
    words >> a >> b >> table.conversions[{a, b}];
  } else if (what == "route") {
    words >> a >> b;
    upTo(words, ":");
    table.routes[{a, b}] = upTo(words, "");
    return true;
  } else if (what == "dual") {
    words >> a >> table.duals[a];
  } else if (what == "ring") {
    int ranks;
    words >> a >> ranks >> table.shares[{a, ranks}];
  } else {
    return what == "#";
  }
  return !words.fail();
}

TypingTable tessera::test::readTypingTable(const std::string &path) {
  TypingTable table;
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  for (std::string line; std::getline(file, line);)
    EXPECT_TRUE(addLine(table, line)) << path << ": '" << line << "'";
  return table;
}
