//===- compiler.hpp - C++ wrapper of the compiler's C API -------*- C++ -*-===//
// Header only, C++17, as tessera.hpp is.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COMPILER_HPP
#define TESSERA_COMPILER_HPP

#include "tessera/compiler.h"
#include "tessera/tessera.hpp"
#include <functional>

namespace tessera {

namespace detail {
struct DestroyCompiler {
  void operator()(tsr_compiler *object) const { tsr_compiler_destroy(object); }
};
} // namespace detail

/// A search for a plan, as tsr_plan_search has it. 0 and "" mean: not given.
struct PlanSearch {
  std::string cluster; ///< A file.
  std::int64_t devices = 0;
  std::string objective = "time"; ///< Or "memory" or "cost".
  std::int64_t evaluations = 0;
  std::int32_t threads = 0;
};

/// The checks of a plan. A failure is a result, and no exception.
struct Verification {
  bool isVerified = false;
  std::string json; ///< The output of `tessera verify --json`.
};

/// A model and its plan.
class Compiler {
public:
  /// Takes a config.json, a folder that holds one, or a .mlir program.
  explicit Compiler(const std::string &model) {
    tsr_compiler *raw = nullptr;
    detail::check(tsr_compiler_create(model.c_str(), &raw));
    handle.reset(raw);
  }

  /// Has each line of progress and each note told to `listener`, which must not
  /// throw.
  void listen(std::function<void(const std::string &line)> listener) {
    told = std::make_unique<Listener>(std::move(listener));
    tsr_compiler_listen(
        get(),
        [](void *context, const char *line) {
          (*static_cast<Listener *>(context))(line);
        },
        told.get());
  }

  /// Sets an option of `tessera compile`: set("mesh", "dp=2,tp=2").
  Compiler &set(const std::string &option, const std::string &value) {
    detail::check(tsr_compiler_set(get(), option.c_str(), value.c_str()));
    return *this;
  }
  void loadPlan(const std::string &path) {
    detail::check(tsr_compiler_load_plan(get(), path.c_str()));
  }
  /// Takes the best plan that is found, and returns what `tessera plan --json`
  /// prints.
  std::string findPlan(const PlanSearch &search) {
    tsr_plan_search wanted = {};
    wanted.size = sizeof wanted;
    wanted.cluster = search.cluster.c_str();
    wanted.devices = search.devices;
    wanted.objective = search.objective.c_str();
    wanted.evaluations = search.evaluations;
    wanted.threads = search.threads;
    const char *json = nullptr;
    detail::check(tsr_compiler_find_plan(get(), &wanted, &json));
    return json;
  }
  void savePlan(const std::string &path) const {
    detail::check(tsr_compiler_save_plan(get(), path.c_str()));
  }

  /// Returns what `tessera report --json` prints.
  std::string report() {
    const char *json = nullptr;
    detail::check(tsr_compiler_report(get(), &json));
    return json;
  }
  /// Returns what `tessera simulate --json` prints.
  std::string simulate(const std::string &cluster) {
    const char *json = nullptr;
    detail::check(tsr_compiler_simulate(get(), cluster.c_str(), &json));
    return json;
  }
  Verification verify() {
    std::int32_t isVerified = 0;
    const char *json = nullptr;
    detail::check(tsr_compiler_verify(get(), &isVerified, &json));
    return {isVerified != 0, json};
  }
  /// Writes the artifact.
  void compile(const std::string &path) {
    detail::check(tsr_compiler_compile(get(), path.c_str()));
  }

  tsr_compiler *get() const { return handle.get(); }

private:
  using Listener = std::function<void(const std::string &line)>;
  std::unique_ptr<Listener> told; ///< It outlives the handle's calls.
  std::unique_ptr<tsr_compiler, detail::DestroyCompiler> handle;
};

} // namespace tessera

#endif // TESSERA_COMPILER_HPP
