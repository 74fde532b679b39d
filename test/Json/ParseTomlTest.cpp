// These tests check the limits of readToml and readText.
#include "tessera/Json/ParseToml.h"
#include "tessera/Json/ReadText.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera;

namespace {

class ParseTomlTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "tessera-toml-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    path = folder + "/a.toml";
  }
  void TearDown() override {
    unlink(path.c_str());
    rmdir(folder.c_str());
  }

  /// Returns what is wrong, without the path, or "".
  std::string refusal(const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    llvm::Expected<toml::table> table = readToml(path);
    if (table)
      return "";
    std::string why = llvm::toString(table.takeError());
    EXPECT_NE(why.find(path), std::string::npos) << why;
    return why.substr(why.find(path) + path.size());
  }

  std::string folder, path;
};

/// Returns "a.a.a" with so many dots.
std::string dotted(size_t dots) {
  std::string text = "a";
  for (size_t i = 0; i < dots; ++i)
    text += ".a";
  return text;
}

std::string nested(size_t depth) {
  return "x = " + std::string(depth, '[') + std::string(depth, ']') + "\n";
}

const char *const kTooManyDots =
    ":1: more than 32 dots between names; nest tables less deep";

TEST_F(ParseTomlTest, dots_have_a_limit_in_keys_and_headers) {
  EXPECT_EQ(refusal("[" + dotted(32) + "]\n"), "");
  EXPECT_EQ(refusal("[" + dotted(33) + "]\n"), kTooManyDots);
  EXPECT_EQ(refusal("[[" + dotted(33) + "]]\n"), kTooManyDots);
  EXPECT_EQ(refusal(dotted(32) + " = 1\n"), "");
  EXPECT_EQ(refusal(dotted(33) + " = 1\n"), kTooManyDots);
  EXPECT_EQ(refusal("x = {" + dotted(33) + " = 1}\n"), kTooManyDots);
  EXPECT_EQ(refusal("[" + dotted(500000) + "]\n"), kTooManyDots);
}

/// Whatever hides a dot from the check would hide a million.
TEST_F(ParseTomlTest, no_string_or_comment_hides_dots) {
  std::string deep = dotted(40);
  for (const char *start :
       {"\"#\".", "'#'.", "\"\\\"#\".", "'\\'.", "\"\\\\\".", "\"=\" . ",
        "\"'\".", "'\"'.", "1.2 . 3.4.", "\t"})
    EXPECT_EQ(refusal(start + deep + " = 1\n"), kTooManyDots) << start;
  std::string numbers = "1.1";
  for (int i = 0; i < 40; ++i)
    numbers += " . 1.1";
  EXPECT_EQ(refusal(numbers + " = 1\n"), kTooManyDots);
  EXPECT_EQ(refusal("x = [ \"\"\"\n# \"\"\", {" + deep + " = 1}]\n"),
            ":1: a text over several lines is not supported; write it in one "
            "line");
  EXPECT_NE(refusal("x = \"a\\\n" + deep + " = 1\n"), "");
}

TEST_F(ParseTomlTest, dots_of_numbers_strings_and_comments_do_not_count) {
  std::string numbers = "x = [1.5";
  for (int i = 0; i < 100; ++i)
    numbers += ", -2.5e+3";
  EXPECT_EQ(refusal(numbers + "]\n"), "");
  EXPECT_EQ(refusal("x = \"" + std::string(100, '.') + "\"\n"), "");
  EXPECT_EQ(refusal("x = 1 # " + std::string(100, '.') + " \xc3\xa9\n"), "");
}

TEST_F(ParseTomlTest, arrays_and_tables_have_a_depth) {
  EXPECT_EQ(refusal(nested(16)), "");
  EXPECT_NE(refusal(nested(17)), "");
  EXPECT_NE(refusal(nested(300000)), "");
  std::string tables = "x = ";
  for (int i = 0; i < 100000; ++i)
    tables += "{a=";
  EXPECT_NE(refusal(tables), "");
}

TEST_F(ParseTomlTest, other_mistakes_are_named) {
  EXPECT_EQ(refusal("a = 1\nb = \"\xc3\xa9\"\n"),
            ":2: a character that is not of ASCII; only comments may have "
            "those");
  EXPECT_EQ(refusal("a = 1\na = 2\n").substr(0, 3), ":2:");
  EXPECT_EQ(refusal(std::string(kMostTomlBytes, '\n')), "");
  EXPECT_EQ(refusal(std::string(kMostTomlBytes + 1, '\n')),
            "' has 4194305 bytes; a file of TOML has at most 4194304");
}

TEST_F(ParseTomlTest, only_regular_files_are_read) {
  auto reason = [](const std::string &name) {
    auto text = readText(name, 100, "a text");
    return text ? "" : llvm::toString(text.takeError());
  };
  EXPECT_EQ(reason("/dev/zero"),
            "cannot read '/dev/zero': it is not a regular file");
  EXPECT_EQ(reason(folder), "cannot read '" + folder + "': Is a directory");
  EXPECT_EQ(reason(path),
            "cannot read '" + path + "': No such file or directory");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(reason(path),
            "cannot read '" + path + "': it is not a regular file");
  unlink(path.c_str());
  std::ofstream(path) << std::string(100, 'x');
  EXPECT_EQ(reason(path), "");
  std::ofstream(path) << std::string(101, 'x');
  EXPECT_EQ(reason(path), "'" + path +
                              "' has 101 bytes; a text has at most "
                              "100");
  // A descriptor of the process may be a pipe, which has no size.
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(write(pipe[1], std::string(101, 'x').data(), 101), 101);
  close(pipe[1]);
  EXPECT_EQ(reason("/dev/fd/" + std::to_string(pipe[0])),
            "'/dev/fd/" + std::to_string(pipe[0]) +
                "' has more than 100 bytes; a text has at most 100");
  close(pipe[0]);
}

} // namespace
