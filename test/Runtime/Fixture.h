//===- Fixture.h - artifacts, files and directories for tests
//-----------------===
#ifndef TESSERA_TEST_RUNTIME_FIXTURE_H
#define TESSERA_TEST_RUNTIME_FIXTURE_H

#include "tessera/tessera.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fixture {

/// A fresh directory, removed with what is in it.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }

  std::string path;
};

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &content);

/// The metadata of the fixture program on a dp x tp mesh: 1x1, 2x2 or 1x4.
nlohmann::json metadataOf(int dp, int tp);
/// The ELF file of the program.
std::string codeOf(int dp, int tp);
/// The bytes of a `.tsr`.
std::string artifactOf(const std::string &metadata, const std::string &code);

using Change = std::function<void(nlohmann::json &)>;
/// Writes the fixture's artifact and returns `path`.
std::string writeArtifact(const std::string &path, int dp, int tp,
                          const Change &change = nullptr);

/// An artifact with its session, initialised; fails the test on an error.
class Training {
public:
  Training(int dp, int tp, tsr_session_options options = {},
           const Change &change = nullptr);
  ~Training();
  Training(const Training &) = delete;
  Training &operator=(const Training &) = delete;

  /// One step on the tokens of `number`.
  tsr_status step(int64_t number, tsr_step_result *result = nullptr);
  std::vector<double> read(const char *role, const char *name, size_t count);
  void write(const char *role, const char *name,
             const std::vector<double> &values);
  /// All parameters and moments.
  std::vector<double> state();

  TemporaryDirectory directory;
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
};

/// [BATCH, SEQUENCE + 1], a function of `number`.
std::vector<int32_t> tokensOf(int64_t number);

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_FIXTURE_H
