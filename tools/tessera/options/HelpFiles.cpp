//===- HelpFiles.cpp - writes manual pages and completions ----------------===//

#include "tools/tessera/options/HelpFiles.h"
#include <cstdio>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

static std::string writeFile(const fs::path &path, const std::string &text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::remove(path, error); // a link is replaced, not followed
  std::FILE *file = std::fopen(path.c_str(), "wx");
  bool isWritten = file && std::fputs(text.c_str(), file) >= 0;
  if (file)
    isWritten = std::fclose(file) == 0 && isWritten;
  return isWritten
             ? ""
             : "cannot write '" + path.string() + "'; name another directory";
}

std::string tessera::writeHelpFiles(const std::string &directory,
                                    const std::vector<CommandEntry> &commands) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"bash-completion/completions/tessera", bashCompletion(commands)},
      {"zsh/site-functions/_tessera", zshCompletion(commands)},
      {"fish/vendor_completions.d/tessera.fish", fishCompletion(commands)}};
  for (const CommandEntry &command : commands)
    files.emplace_back("man/man1/tessera" +
                           (command.name.empty() ? "" : "-" + command.name) +
                           ".1",
                       manPage(command, commands));
  for (const auto &[name, text] : files)
    if (std::string why = writeFile(fs::path(directory) / name, text);
        !why.empty())
      return why;
  return "";
}
