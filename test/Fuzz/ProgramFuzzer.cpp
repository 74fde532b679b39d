//===- ProgramFuzzer.cpp - mutated programs through every pass ------------===//
// A pass may refuse a program with an error; it may not crash or go on forever.
// Mutants run in a child process, which tells in shared memory which one it is
// at; after a crash another child goes on with the next.
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tessera/Pipelines/Compile.h"
#include "test/Fuzz/ProgramText.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

/// Mutants of one child: types of a context are never freed.
constexpr uint64_t kMutantsOfChild = 2000;
constexpr unsigned kSecondsPerMutant = 20;

const char *const kPasses[] = {
    "convert-kernel-to-llvm",
    "convert-kernel-to-nvvm",
    "convert-rt-to-llvm",
    "dist-assign-owners",
    "dist-assign-stages{stages=2}",
    "dist-distribute{mesh=dp=2,tp=2}",
    "dist-erase",
    "dist-mask-padding",
    "dist-mask-padding{poison}",
    "dist-regather",
    "dist-split-owners",
    "dist-split-stages",
    "emulate-grid",
    "expand-kernel-math",
    "lower-kernels",
    "nn-add-optimizer",
    "nn-differentiate",
    "nn-fix-order",
    "nn-mark-chunked-sums",
    "nn-micro-batch{count=2}",
    "nn-mixed-precision",
    "nn-recompute{mode=full}",
    "rt-annotate-sharing",
    "rt-attach-metadata",
    "rt-check-memory",
    "rt-check-messages",
    "rt-decompose",
    "rt-expand-micro-batches",
    "rt-form-kernels",
    "rt-gemm-epilogues",
    "rt-insert-copies",
    "rt-localize",
    "rt-lower-experts",
    "rt-lower-library",
    "rt-lower-rings",
    "rt-merge-collectives",
    "rt-number-values",
    "rt-overlap-collectives",
    "rt-overlap-messages",
    "rt-pad-rows",
    "rt-plan-memory",
    "rt-recompute-elementwise",
    "rt-round-operands",
    "tessera-distribute{mesh=tp=3}",
    "tessera-lower",
    "tessera-communicate",
    "tessera-memory",
    "tessera-code",
};

/// What a child tells its parent.
struct Shared {
  uint64_t mutant, valid;
  char passes[1024], text[1 << 16];
};

struct Settings {
  uint64_t seed = 1, first = 0, count = 1000;
  std::string folder, findings = "findings";
};

std::string passesOf(const ProgramText &program, std::mt19937 &rng) {
  std::string passes;
  auto add = [&](const std::string &pass) {
    passes += (passes.empty() ? "" : ",") + pass;
  };
  bool isOwn = rng() % 2 && !program.passes.empty();
  if (isOwn)
    for (const std::string &pass : program.passes)
      add(pass);
  if (!isOwn || rng() % 4 == 0)
    add(kPasses[rng() % std::size(kPasses)]);
  return passes;
}

/// False where the program does not even parse and verify.
bool runMutant(MLIRContext &context, const std::string &text,
               StringRef passes) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return false;
  PassManager manager(&context);
  std::string ignored;
  llvm::raw_string_ostream errors(ignored);
  std::string pipeline;
  // Flags that are no passes stand among a test's.
  SmallVector<StringRef> words;
  int depth = 0;
  size_t start = 0;
  for (size_t k = 0; k <= passes.size(); ++k) {
    if (k < passes.size() && passes[k] == '{')
      ++depth;
    if (k < passes.size() && passes[k] == '}')
      --depth;
    if (k == passes.size() || (passes[k] == ',' && depth == 0)) {
      words.push_back(passes.slice(start, k));
      start = k + 1;
    }
  }
  for (StringRef word : words)
    (void)parsePassPipeline(word, manager, errors);
  (void)manager.run(*module);
  return true;
}

/// Runs mutants [from, to) and tells which one it is at.
void runChild(const Settings &settings,
              const std::vector<ProgramText> &programs, uint64_t from,
              uint64_t to, Shared *shared) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  for (uint64_t mutant = from; mutant < to; ++mutant) {
    std::seed_seq seed{settings.seed, mutant};
    std::mt19937 rng(seed);
    const ProgramText &program = programs[rng() % programs.size()];
    std::string text = mutated(program, programs, rng);
    std::string passes = passesOf(program, rng);
    shared->mutant = mutant;
    std::strncpy(shared->passes, passes.c_str(), sizeof shared->passes - 1);
    std::strncpy(shared->text, text.c_str(), sizeof shared->text - 1);
    alarm(kSecondsPerMutant);
    shared->valid += runMutant(context, text, passes);
  }
  alarm(0);
}

/// Keeps a mutant that ended its process.
void keep(const Settings &settings, const Shared &shared, int signal) {
  std::string path =
      settings.findings + "-" + std::to_string(shared.mutant) + ".mlir";
  std::ofstream(path)
      << "// RUN: not tessera-opt %s --pass-pipeline='builtin.module("
      << shared.passes << ")'\n"
      << shared.text;
  std::cout << "mutant " << shared.mutant << " of seed " << settings.seed
            << ": " << (signal == SIGALRM ? "no end" : strsignal(signal))
            << ", " << shared.passes << ", kept as " << path << std::endl;
}

/// Whether every name of kPasses is a pass or a pipeline.
bool knowsPasses() {
  MLIRContext context;
  for (const char *pass : kPasses) {
    PassManager manager(&context);
    if (succeeded(parsePassPipeline(pass, manager)))
      continue;
    std::cerr << "error: there is no pass '" << pass << "'\n";
    return false;
  }
  return true;
}

/// Runs mutants [from, to) in a child; how it ended, as waitpid says it.
int runMutants(const Settings &settings,
               const std::vector<ProgramText> &programs, uint64_t from,
               uint64_t to, Shared *shared) {
  uint64_t valid = shared->valid;
  *shared = {};
  shared->valid = valid;
  pid_t child = fork();
  if (child == 0) {
    runChild(settings, programs, from, to, shared);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int fuzz(const Settings &settings) {
  if (!knowsPasses())
    return 1;
  std::vector<ProgramText> programs = programsBelow(settings.folder);
  if (programs.empty()) {
    std::cerr << "error: no .mlir file below '" << settings.folder << "'\n";
    return 1;
  }
  auto *shared = static_cast<Shared *>(mmap(nullptr, sizeof(Shared),
                                            PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  uint64_t next = settings.first, last = next + settings.count, found = 0;
  while (next < last) {
    uint64_t end = std::min(last, next + kMutantsOfChild);
    if (runMutants(settings, programs, next, end, shared) == 0) {
      next = end;
      continue;
    }
    // MLIR's parser may damage the heap where a region does not parse, so a
    // mutant is at fault only if it crashes alone.
    next = shared->mutant + 1;
    if (int status = runMutants(settings, programs, next - 1, next, shared)) {
      keep(settings, *shared, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
      ++found;
    }
  }
  std::cout << "program fuzzer: " << settings.count << " mutants of "
            << programs.size() << " programs with seed " << settings.seed
            << ", " << shared->valid << " ran, " << found << " crashed\n";
  return found > 0;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  if (argc < 2) {
    std::cerr
        << "usage: " << argv[0] << " FOLDER [COUNT [SEED [FINDINGS [FIRST]]]]\n"
        << "Runs COUNT mutants of the .mlir files below FOLDER through "
           "their passes or others; a crash is kept as FINDINGS-N.mlir.\n";
    return 2;
  }
  settings.folder = argv[1];
  if (argc > 2)
    settings.count = std::stoull(argv[2]);
  if (argc > 3)
    settings.seed = std::stoull(argv[3]);
  if (argc > 4)
    settings.findings = argv[4];
  if (argc > 5)
    settings.first = std::stoull(argv[5]);
  registerAllPasses();
  registerCompilerPasses();
  return fuzz(settings);
}
