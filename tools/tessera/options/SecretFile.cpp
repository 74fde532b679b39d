//===- SecretFile.cpp - what processes know, from a file ------------------===//

#include "tools/tessera/options/SecretFile.h"
#include <cstdio>
#include <fstream>
#include <sys/stat.h>

using namespace tessera;

// A device or a log is no secret, and need not end.
static constexpr size_t kLongestSecret = 4096;

/// Pipes and devices have an owner of their own making.
static std::string foreignAccess(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      (status.st_mode & 077) == 0)
    return "";
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777u);
  return "--secret-file: other users may open '" + path + "' (mode " + mode +
         ") and then take part in the run; chmod 600 it";
}

std::string tessera::readSecretFile(const std::string &path,
                                    std::string *secret, std::string *note) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestSecret + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kLongestSecret)
    return "'" + path + "' has more than " + std::to_string(kLongestSecret) +
           " bytes, it is no secret; make one with: openssl rand -hex 32";
  text.resize(text.find_last_not_of("\r\n") + 1);
  if (text.empty())
    return "'" + path +
           "' cannot be read or is empty; make one with: openssl rand -hex 32";
  *note = foreignAccess(path);
  *secret = text;
  return "";
}
