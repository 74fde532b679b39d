//===- ApiCompiler.cpp - the C boundary of the compiler -------------------===//

#include "lib/Compiler/Compiler.h"
#include "tessera/compiler.h"
#include "tessera/printable.hpp"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;

struct tsr_compiler {
  explicit tsr_compiler(const char *model) : compiler(model) {}

  Compiler compiler;
  std::string text; ///< The JSON of the last call.
};

static tsr_status fail(const std::string &message,
                       tsr_status status = TSR_INVALID_ARGUMENT) {
  return tsr_set_last_error(status, printableMessage(message).c_str());
}

static tsr_status statusOf(llvm::Error error,
                           tsr_status status = TSR_INVALID_ARGUMENT) {
  return error ? fail(llvm::toString(std::move(error)), status) : TSR_OK;
}

/// Hands out JSON, which stays with the compiler.
static tsr_status give(tsr_compiler *compiler,
                       llvm::Expected<llvm::json::Value> json,
                       const char **out) {
  if (!json)
    return statusOf(json.takeError());
  compiler->text = llvm::formatv("{0:2}", *json);
  if (out)
    *out = compiler->text.c_str();
  return TSR_OK;
}

static tsr_status missing(const char *function, const char *argument) {
  return fail(std::string(function) + ": " + argument + " is NULL");
}

#define REQUIRE(ARGUMENT)                                                      \
  if (!(ARGUMENT))                                                             \
  return missing(__func__, #ARGUMENT)

tsr_status tsr_compiler_create(const char *model, tsr_compiler **out_compiler) {
  REQUIRE(model);
  REQUIRE(out_compiler);
  *out_compiler = nullptr;
  ModelArgument argument;
  argument.model = model;
  if (argument.isArtifact())
    return fail("'" + argument.model +
                "' is compiled already; give the config.json that it was made "
                "of");
  if (!llvm::sys::fs::exists(argument.model))
    return fail("there is no file or folder '" + argument.model + "'",
                TSR_NOT_FOUND);
  *out_compiler = new tsr_compiler(model);
  return TSR_OK;
}

void tsr_compiler_destroy(tsr_compiler *compiler) { delete compiler; }

void tsr_compiler_listen(tsr_compiler *compiler, tsr_compiler_listener listener,
                         void *context) {
  if (!compiler)
    return;
  compiler->compiler.listener = nullptr;
  if (listener)
    compiler->compiler.listener = [=](const std::string &line) {
      listener(context, printableMessage(line).c_str());
    };
}

tsr_status tsr_compiler_set(tsr_compiler *compiler, const char *option,
                            const char *value) {
  REQUIRE(compiler);
  REQUIRE(option);
  REQUIRE(value);
  return statusOf(compiler->compiler.set(option, value));
}

tsr_status tsr_compiler_load_plan(tsr_compiler *compiler, const char *path) {
  REQUIRE(compiler);
  REQUIRE(path);
  if (!llvm::sys::fs::exists(path))
    return fail("there is no file '" + std::string(path) + "'", TSR_NOT_FOUND);
  return statusOf(compiler->compiler.loadPlan(path));
}

tsr_status tsr_compiler_save_plan(const tsr_compiler *compiler,
                                  const char *path) {
  REQUIRE(compiler);
  REQUIRE(path);
  return statusOf(compiler->compiler.savePlan(path), TSR_IO);
}

tsr_status tsr_compiler_find_plan(tsr_compiler *compiler,
                                  const tsr_plan_search *search,
                                  const char **out_json) {
  REQUIRE(compiler);
  REQUIRE(search);
  if (search->size != sizeof *search)
    return fail("tsr_plan_search has " + std::to_string(search->size) +
                " bytes, but this library knows one of " +
                std::to_string(sizeof *search) +
                "; build the program with the headers of the library");
  REQUIRE(search->cluster);
  PlanningOptions options;
  if (search->devices < 0 || search->evaluations < 0 || search->threads < 0)
    return fail("devices, evaluations and threads of a search must not be "
                "negative, but are " +
                std::to_string(search->devices) + ", " +
                std::to_string(search->evaluations) + " and " +
                std::to_string(search->threads));
  options.gpus = search->devices;
  if (search->objective)
    options.objective = search->objective;
  if (search->evaluations)
    options.evaluations = search->evaluations;
  options.threads = search->threads;
  return give(compiler, compiler->compiler.findPlan(options, search->cluster),
              out_json);
}

tsr_status tsr_compiler_report(tsr_compiler *compiler, const char **out_json) {
  REQUIRE(compiler);
  REQUIRE(out_json);
  return give(compiler, compiler->compiler.report(), out_json);
}

tsr_status tsr_compiler_simulate(tsr_compiler *compiler, const char *cluster,
                                 const char **out_json) {
  REQUIRE(compiler);
  REQUIRE(cluster);
  REQUIRE(out_json);
  return give(compiler, compiler->compiler.simulate(cluster), out_json);
}

tsr_status tsr_compiler_verify(tsr_compiler *compiler, int32_t *out_verified,
                               const char **out_json) {
  REQUIRE(compiler);
  REQUIRE(out_verified);
  llvm::Expected<VerifiedPlan> verified = compiler->compiler.verify();
  if (!verified)
    return statusOf(verified.takeError());
  *out_verified = verified->isVerified;
  return give(compiler, std::move(verified->json), out_json);
}

tsr_status tsr_compiler_compile(tsr_compiler *compiler, const char *path) {
  REQUIRE(compiler);
  REQUIRE(path);
  return statusOf(compiler->compiler.compile(path));
}
