#include "test/Fuzz/ProgramText.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace tessera::test {

namespace {

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string join(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

/// Rewrites `--dist-distribute=mesh=tp=2` and `--dist-distribute="mesh=tp=2
/// zero"` as `dist-distribute{mesh=tp=2 zero}`; returns "" for a word that is
/// no flag.
std::string pipelineOf(std::string word) {
  if (word.rfind("--", 0) != 0)
    return "";
  word = word.substr(2);
  word.erase(std::remove(word.begin(), word.end(), '"'), word.end());
  word.erase(std::remove(word.begin(), word.end(), '\''), word.end());
  size_t equals = word.find('=');
  if (equals == std::string::npos)
    return word;
  return word.substr(0, equals) + "{" + word.substr(equals + 1) + "}";
}

/// Returns the flags of the first command of a test that runs tessera-opt.
std::vector<std::string> passesOf(const std::vector<std::string> &lines) {
  static const std::regex flag(R"(--[a-z0-9-]+(=("[^"]*"|'[^']*'|[^\s"']*))?)");
  std::vector<std::string> passes;
  for (const std::string &line : lines) {
    if (line.find("RUN:") == std::string::npos ||
        line.find("tessera-opt") == std::string::npos)
      continue;
    std::string command = line.substr(0, line.find('|'));
    for (std::sregex_iterator at(command.begin(), command.end(), flag), end;
         at != end; ++at)
      if (std::string pass = pipelineOf(at->str()); !pass.empty())
        passes.push_back(pass);
    break;
  }
  return passes;
}

class Mutator {
public:
  Mutator(const ProgramText &program, const std::vector<ProgramText> &others,
          std::mt19937 &rng)
      : lines(linesOf(program.text)), others(others), rng(rng) {}

  std::string run() {
    // Most programs with several changes do not even parse.
    do
      change();
    while (!lines.empty() && below(4) == 0);
    return join(lines);
  }

private:
  size_t below(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(rng);
  }
  std::string &anyLine() { return lines[below(lines.size())]; }
  template <class Words> std::string anyOf(const Words &words) {
    return words[below(std::size(words))];
  }

  void change();
  void replaceOperand();
  void replaceName();
  void replaceMatch(const std::regex &pattern,
                    const std::vector<std::string> &words);
  std::string number();
  std::string lineOfOther();

  std::vector<std::string> lines;
  const std::vector<ProgramText> &others;
  std::mt19937 &rng;
};

/// Replaces one match of a pattern in some line by one of the words.
void Mutator::replaceMatch(const std::regex &pattern,
                           const std::vector<std::string> &words) {
  for (int tries = 0; tries < 8; ++tries) {
    std::string &line = anyLine();
    std::vector<std::pair<size_t, size_t>> found;
    for (std::sregex_iterator at(line.begin(), line.end(), pattern), end;
         at != end; ++at)
      // MLIR's parser makes room for as many results as `%x#N` names.
      if (at->position() == 0 || line[at->position() - 1] != '#')
        found.push_back({at->position(), at->length()});
    if (found.empty())
      continue;
    auto [position, length] = found[below(found.size())];
    line.replace(position, length, anyOf(words));
    return;
  }
}

std::string Mutator::number() {
  static const char *const kinds[] = {
      "0",  "1",   "2",          "3",          "-1",
      "7",  "16",  "1000000007", "2147483647", "2147483648",
      "64", "255", "4294967296", "-2",         "9223372036854775807"};
  return anyOf(kinds);
}

std::string Mutator::lineOfOther() {
  std::vector<std::string> other = linesOf(others[below(others.size())].text);
  return other.empty() ? "" : other[below(other.size())];
}

/// Reads another value of the program.
void Mutator::replaceOperand() {
  static const std::regex value(R"(%[A-Za-z0-9_]+)");
  std::vector<std::string> words;
  for (const std::string &line : lines)
    for (std::sregex_iterator at(line.begin(), line.end(), value), end;
         at != end; ++at)
      words.push_back(at->str());
  if (!words.empty())
    replaceMatch(value, {anyOf(words)});
}

/// Names the op or attribute of another program.
void Mutator::replaceName() {
  static const std::regex name(R"(\b(nn|rt|dist)\.[a-z_]+)");
  std::smatch found;
  std::string other = lineOfOther();
  if (std::regex_search(other, found, name))
    replaceMatch(name, {found.str()});
}

void Mutator::change() {
  static const std::regex digits(R"(\d+)"),
      type(R"(\b(f32|f64|bf16|i32|i64)\b)"),
      state(R"(\b(I|R|P|M|S\(\d\)|A\(\d\))( [ZNF])?)"),
      axis(R"(\b(dp|tp|pp|cp|ep)\b)");
  switch (below(12)) {
  case 0:
    lines.erase(lines.begin() + below(lines.size()));
    return;
  case 1:
    std::swap(anyLine(), anyLine());
    return;
  case 2:
    lines.insert(lines.begin() + below(lines.size()), anyLine());
    return;
  case 3:
    lines.insert(lines.begin() + below(lines.size()), lineOfOther());
    return;
  case 4:
  case 5:
    return replaceMatch(digits, {number()});
  case 6:
    return replaceMatch(type, {"f32", "f64", "bf16", "i32", "i64", "i1"});
  case 7:
    return replaceMatch(state,
                        {"I", "R", "P", "M", "S(0)", "S(1)", "S(2)", "S(0:1)",
                         "A(0)", "A(1)", "A(7)", "S(0) Z", "S(1) N", "S(0) F"});
  case 8:
    return replaceOperand();
  case 9:
    return replaceMatch(axis, {"dp", "tp", "pp", "cp", "ep"});
  case 10:
    return replaceName();
  default:
    if (std::string &line = anyLine(); !line.empty())
      line.erase(below(line.size()), 1 + below(8));
  }
}

/// Files whose names end so, below a folder, in alphabetical order.
std::vector<std::string> filesBelow(const std::string &folder,
                                    const std::string &ending) {
  std::vector<std::string> paths;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    std::string path = entry.path().string();
    if (path.size() >= ending.size() &&
        path.compare(path.size() - ending.size(), ending.size(), ending) == 0)
      paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string readText(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Returns whether a line is part of a program. Comments are not: they would
/// take most of the changes.
bool isProgram(const std::string &line) {
  size_t start = line.find_first_not_of(' ');
  return start != std::string::npos && line.compare(start, 2, "//") != 0;
}

} // namespace

std::vector<ProgramText> programsBelow(const std::string &folder) {
  std::vector<ProgramText> programs;
  for (const std::string &path : filesBelow(folder, ".mlir")) {
    std::vector<std::string> lines = linesOf(readText(path)), program;
    std::vector<std::string> passes = passesOf(lines);
    lines.push_back("// -----");
    for (const std::string &line : lines) {
      if (isProgram(line))
        program.push_back(line);
      if (line.rfind("// -----", 0) != 0 || program.empty())
        continue;
      programs.push_back({path, join(program), passes});
      program.clear();
    }
  }
  return programs;
}

std::vector<std::string> passesBelow(const std::string &folder) {
  static const std::regex definition(R"re(: Pass<"([a-z0-9-]+)")re");
  std::vector<std::string> passes;
  for (const std::string &path : filesBelow(folder, "/Passes.td")) {
    std::string text = readText(path);
    for (std::sregex_iterator at(text.begin(), text.end(), definition), end;
         at != end; ++at)
      passes.push_back((*at)[1]);
  }
  return passes;
}

std::string mutated(const ProgramText &program,
                    const std::vector<ProgramText> &others, std::mt19937 &rng) {
  return Mutator(program, others, rng).run();
}

} // namespace tessera::test
