//===- ProgramFuzzer.cpp - mutated programs through every pass ------------===//
// A pass may refuse a program with an error; it may not crash or go on forever.
// Some mutants change lines of the tests' programs, the others the attributes
// and types of programs of every level (AttributeText.h, ProgramLevels.h).
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
#include "test/Fuzz/AttributeText.h"
#include "test/Fuzz/ProgramLevels.h"
#include "test/Fuzz/ProgramText.h"
#include "llvm/ADT/StringExtras.h"

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

/// Pipelines, and passes that do little or nothing without options.
const char *const kWithOptions[] = {
    "dist-assign-stages{stages=2}",
    "dist-distribute{mesh=dp=2,tp=2}",
    "dist-mask-padding{poison}",
    "nn-micro-batch{count=2}",
    "nn-recompute{mode=full}",
    "tessera-distribute{mesh=tp=3}",
    "tessera-lower",
    "tessera-communicate",
    "tessera-memory",
    "tessera-code",
};

/// A child's messages to its parent.
struct Shared {
  uint64_t mutant, valid;
  bool allowsUnknown; ///< Ops of dialects that are not registered.
  char passes[4096], text[1 << 20];
};

struct Settings {
  uint64_t seed = 1, first = 0, count = 1000;
  std::string folder, findings = "findings";
};

/// The programs that are mutated, and the passes that run on them.
struct Corpus {
  std::vector<ProgramText> programs; ///< In the form that the tests have.
  std::vector<ProgramText> generic;  ///< The valid ones of these.
  std::vector<ProgramText> levels;   ///< Small models before each pass.
  AttributePool pool;
  std::vector<std::string> passes;
};

/// A program to change, and the passes to run.
struct Mutant {
  std::string text;
  std::vector<std::string> passes;
};

/// Returns the passes of the program's test, or any one, or both.
std::vector<std::string> passesOf(const ProgramText &program,
                                  const Corpus &corpus, std::mt19937 &rng) {
  std::vector<std::string> passes;
  bool isOwn = rng() % 2 && !program.passes.empty();
  if (isOwn)
    passes = program.passes;
  if (!isOwn || rng() % 4 == 0)
    passes.push_back(corpus.passes[rng() % corpus.passes.size()]);
  return passes;
}

Mutant mutantOf(const Corpus &corpus, std::mt19937 &rng) {
  bool changesLines = rng() % 4 == 0, isModel = rng() % 8 == 0;
  const std::vector<ProgramText> &from = changesLines ? corpus.programs
                                         : isModel    ? corpus.levels
                                                      : corpus.generic;
  const ProgramText &program = from[rng() % from.size()];
  std::string text = changesLines
                         ? mutated(program, corpus.programs, rng)
                         : withOtherAttributes(program.text, corpus.pool, rng);
  return {text, passesOf(program, corpus, rng)};
}

/// Copies a text, or as much as there is room for.
template <size_t size>
void copyText(char (&to)[size], const std::string &text) {
  size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

/// Runs a mutant; returns false if the program does not even parse and verify.
bool runMutant(MLIRContext &context, const std::string &text,
               const std::vector<std::string> &passes) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return false;
  PassManager manager(&context);
  std::string ignored;
  llvm::raw_string_ostream errors(ignored);
  // Flags that are no passes stand among a test's.
  for (const std::string &pass : passes)
    (void)parsePassPipeline(pass, manager, errors);
  (void)manager.run(*module);
  return true;
}

/// Runs mutants [from, to) and tells which one it is at.
void runChild(const Settings &settings, const Corpus &corpus, uint64_t from,
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
    auto [text, passes] = mutantOf(corpus, rng);
    shared->mutant = mutant;
    shared->allowsUnknown = rng() % 2;
    copyText(shared->passes, llvm::join(passes, ","));
    copyText(shared->text, text);
    context.allowUnregisteredDialects(shared->allowsUnknown);
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
      << shared.passes << ")'"
      << (shared.allowsUnknown ? " --allow-unregistered-dialect\n" : "\n")
      << shared.text;
  std::cout << "mutant " << shared.mutant << " of seed " << settings.seed
            << ": " << (signal == SIGALRM ? "no end" : strsignal(signal))
            << ", " << shared.passes << ", kept as " << path << std::endl;
}

/// Returns whether each is a pass or a pipeline.
bool knowsPasses(const std::vector<std::string> &passes) {
  MLIRContext context;
  for (const std::string &pass : passes) {
    PassManager manager(&context);
    if (succeeded(parsePassPipeline(pass, manager)))
      continue;
    std::cerr << "error: there is no pass '" << pass << "'\n";
    return false;
  }
  return true;
}

/// Runs mutants [from, to) in a child; how it ended, as waitpid says it.
int runMutants(const Settings &settings, const Corpus &corpus, uint64_t from,
               uint64_t to, Shared *shared) {
  uint64_t valid = shared->valid;
  shared->mutant = from;
  shared->valid = valid;
  pid_t child = fork();
  if (child == 0) {
    runChild(settings, corpus, from, to, shared);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int fuzz(const Settings &settings) {
  std::string definitions = settings.folder + "/../include";
  std::vector<ProgramText> programs = programsBelow(settings.folder);
  std::vector<ProgramText> generic = genericForms(programs);
  std::vector<ProgramText> levels =
      programLevels(settings.folder + "/../examples");
  Corpus corpus{programs, generic, levels, AttributePool(generic),
                passesBelow(definitions)};
  if (corpus.generic.empty() || corpus.passes.empty()) {
    std::cerr << "error: no .mlir file below '" << settings.folder
              << "', or no Passes.td below '" << definitions << "'\n";
    return 1;
  }
  llvm::append_range(corpus.passes, kWithOptions);
  if (corpus.levels.empty() || !knowsPasses(corpus.passes))
    return 1;
  auto *shared = static_cast<Shared *>(mmap(nullptr, sizeof(Shared),
                                            PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  uint64_t next = settings.first, last = next + settings.count, found = 0;
  while (next < last) {
    uint64_t end = std::min(last, next + kMutantsOfChild);
    if (runMutants(settings, corpus, next, end, shared) == 0) {
      next = end;
      continue;
    }
    // MLIR's parser may damage the heap where a region does not parse, so a
    // mutant is at fault only if it crashes alone.
    next = shared->mutant + 1;
    if (int status = runMutants(settings, corpus, next - 1, next, shared)) {
      keep(settings, *shared, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
      ++found;
    }
  }
  std::cout << "program fuzzer: " << settings.count << " mutants of "
            << corpus.programs.size() << " programs and "
            << corpus.levels.size() << " levels of models with seed "
            << settings.seed << ", " << shared->valid << " ran, " << found
            << " crashed\n";
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
