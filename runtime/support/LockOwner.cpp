#include "runtime/support/LockOwner.h"

#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <pwd.h>
#include <unistd.h>

namespace tessera {

static std::string userName() {
  char buffer[4096];
  struct passwd entry, *found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 &&
      found)
    return found->pw_name;
  return std::to_string(geteuid());
}

static std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

static std::string timeText() {
  std::time_t now = std::time(nullptr);
  struct tm parts;
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ",
                gmtime_r(&now, &parts));
  return text;
}

/// Returns field 22 of /proc/N/stat; the second is a name in brackets that may
/// hold anything. 0: there is no such process.
static int64_t startOf(int64_t process) {
  std::ifstream file(concat("/proc/", process, "/stat"));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  size_t bracket = text.rfind(')');
  if (bracket == std::string::npos)
    return 0;
  std::istringstream fields(text.substr(bracket + 1));
  fields.exceptions(std::ios::badbit); // want of memory
  std::string skipped;
  for (int field = 3; field < 22; ++field)
    fields >> skipped;
  int64_t start = 0;
  fields >> start;
  return start;
}

LockOwner LockOwner::self() {
  LockOwner owner{hostName(), userName(), timeText(), getpid(), 0};
  owner.processStart = startOf(owner.process);
  return owner;
}

LockOwner LockOwner::parse(const std::string &text) {
  constexpr int64_t most = int64_t(1) << 62;
  if (text.empty())
    return {};
  try {
    JsonTree parsed = parseJson("lock", text, json_kinds::lock);
    JsonView root(parsed.root, "lock");
    return {root.at("host").text(), root.at("user").text(),
            root.at("since").text(), root.at("process").integer(1, most),
            root.at("process_start").integer(0, most)};
  } catch (const Error &) {
    return {};
  }
}

std::string LockOwner::text() const {
  JsonTree tree(JsonTree::Type::object);
  tree.root["host"] = host;
  tree.root["user"] = user;
  tree.root["since"] = since;
  tree.root["process"] = process;
  tree.root["process_start"] = processStart;
  return writeJson(tree.root) + "\n";
}

std::string LockOwner::describe() const {
  if (process == 0)
    return "a process that has not given its name";
  return concat("process ", process, " of user '", user, "' on host '", host,
                "', since ", since);
}

bool LockOwner::isRunning() const {
  if (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH)
    return false;
  int64_t start = startOf(process);
  return start == 0 || start == processStart;
}

bool isInUse(const LockOwner &owner, const LockOwner &self, FileLock lock,
             bool reachesHosts) {
  if (lock == FileLock::Held)
    return true;
  if (owner.process == 0)
    return false;
  bool isHere = owner.host == self.host;
  if (lock == FileLock::Granted && (isHere || reachesHosts))
    return false;
  return !isHere || owner.isRunning();
}

} // namespace tessera
