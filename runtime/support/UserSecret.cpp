#include "runtime/support/UserSecret.h"

#include "runtime/support/Secret.h"
#include "runtime/support/Status.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {

// 32 random bytes in hexadecimal digits.
static constexpr size_t userSecretBytes = 64;

/// The password file knows better than HOME, which sudo may keep.
static std::string homeDirectory() {
  char buffer[4096];
  struct passwd entry, *found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 &&
      found && found->pw_dir[0] == '/')
    return found->pw_dir;
  const char *home = std::getenv("HOME");
  return home && home[0] == '/' ? home : "";
}

static std::string userSecretDirectory() {
  const char *state = std::getenv("XDG_STATE_HOME");
  if (state && state[0] == '/')
    return std::string(state) + "/tessera";
  std::string home = homeDirectory();
  return home.empty() ? "" : home + "/.local/state/tessera";
}

std::string userSecretPath() {
  std::string directory = userSecretDirectory();
  return directory.empty() ? "" : directory + "/rendezvous-secret";
}

namespace {
/// Closes it at the end.
struct SecretFile {
  int descriptor;
  ~SecretFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
};
} // namespace

[[noreturn]] static void failUserSecret(const std::string &path,
                                        const std::string &why) {
  fail(TSR_INVALID_ARGUMENT, "'", path,
       "', by which processes of one user know each other, ", why,
       "; remove it, or set TESSERA_SECRET or --secret-file");
}

static void checkUserSecret(const std::string &path, const SecretFile &file) {
  struct stat status {};
  if (fstat(file.descriptor, &status) != 0)
    failUserSecret(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    failUserSecret(path, "is no regular file");
  if (status.st_uid != geteuid())
    failUserSecret(path, concat("belongs to user ", status.st_uid,
                                ", and this process is of user ", geteuid()));
  if (status.st_mode & 077)
    failUserSecret(path, "may be used by others");
}

/// Returns nothing if there is no such file.
static std::optional<std::string> readUserSecret(const std::string &path) {
  SecretFile file{
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
    return std::nullopt;
  if (file.descriptor < 0)
    failUserSecret(path, concat("cannot be read: ", std::strerror(errno)));
  checkUserSecret(path, file);
  char text[userSecretBytes + 1];
  ssize_t got = read(file.descriptor, text, sizeof text);
  if (got != userSecretBytes)
    failUserSecret(path, "holds no secret");
  return std::string(text, userSecretBytes);
}

static std::string newUserSecret() {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : randomNonce())
    text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

/// Makes the file, unless another process is faster; it is whole as soon as it
/// has its name. False if it cannot be made.
static bool makeUserSecret(const std::string &path) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder.parent_path(), ignored);
  mkdir(folder.c_str(), 0700);
  std::string scratch = path + ".XXXXXX", text = newUserSecret();
  SecretFile file{mkostemp(scratch.data(), O_CLOEXEC)}; // mode 0600
  if (file.descriptor < 0)
    return false;
  bool isWritten = write(file.descriptor, text.data(), text.size()) ==
                       static_cast<ssize_t>(text.size()) &&
                   fsync(file.descriptor) == 0;
  bool isNamed = isWritten &&
                 (link(scratch.c_str(), path.c_str()) == 0 || errno == EEXIST);
  unlink(scratch.c_str());
  return isNamed;
}

std::string userSecret() {
  std::string path = userSecretPath();
  if (path.empty() || !TESSERA_HAS_LIBCRYPTO)
    return "";
  if (auto text = readUserSecret(path))
    return *text;
  if (!makeUserSecret(path))
    return "";
  return readUserSecret(path).value_or("");
}

} // namespace tessera
