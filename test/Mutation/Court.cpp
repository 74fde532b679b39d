//===- Court.cpp - all mutants of a program, judged on all cores ----------===//

#include "test/Mutation/Court.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <thread>

using namespace tessera::test;

static constexpr unsigned kMostThreads = 8;

bool Court::each(bool (Judge::*act)()) {
  std::vector<char> good(judges.size());
  std::vector<std::thread> threads;
  for (size_t k = 0; k < judges.size(); ++k)
    threads.emplace_back([&, k] { good[k] = (*judges[k].*act)(); });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t k = 0; k < judges.size(); ++k)
    if (!good[k]) {
      ADD_FAILURE() << strategy.name() << ": " << judges[k]->programs.error();
      return false;
    }
  return true;
}

bool Court::start() {
  unsigned threads =
      std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  for (unsigned k = 0; k < threads; ++k)
    judges.push_back(std::make_unique<Judge>(
        strategy, kernels, llvm::formatv("{0}/{1}-", scratch, k).str()));
  if (!each(&Judge::start))
    return false;
  bool isRefused = judges[0]->refusalOfOriginal().has_value();
  EXPECT_FALSE(isRefused) << strategy.name()
                          << ": the program itself is refused";
  return !isRefused;
}

bool Court::prepare() {
  if (!each(&Judge::prepare))
    return false;
  Verdict original = judges[0]->judgeOriginal();
  EXPECT_EQ(original.fate, Fate::Equal)
      << strategy.name() << ": the program itself differs by "
      << original.difference << " " << judges[0]->programs.error();
  return original.fate == Fate::Equal;
}

static void append(Mutants &all, Mutants more) {
  for (Mutant &mutant : more)
    all.push_back(std::move(mutant));
}

Mutants Court::enumerateTyped() {
  mlir::ModuleOp typed = judges.front()->programs.at(Stage::Typed);
  Mutants all = typedMutants(typed);
  if (strategy.generates())
    append(all, generationMutants(typed, Stage::Typed));
  return all;
}

Mutants Court::enumerate() {
  Judge &judge = *judges.front();
  Mutants all = enumerateTyped();
  auto append = [&](Mutants more) { ::append(all, std::move(more)); };
  if (strategy.generates())
    append(
        generationMutants(judge.programs.at(Stage::Lowered), Stage::Lowered));
  std::map<std::string, bool> known;
  append(localizedMutants(judge.programs.at(Stage::Localized),
                          [&](llvm::StringRef name) {
                            auto [it, isNew] = known.try_emplace(name.str());
                            if (isNew)
                              it->second = judge.readsFactors(name);
                            return it->second;
                          }));
  append(loweredMutants(judge.programs.at(Stage::Lowered)));
  append(collectiveMutants(judge.programs.at(Stage::Lowered)));
  append(messageMutants(judge.programs.at(Stage::Lowered)));
  append(orderMutants(judge.programs.at(Stage::Lowered)));
  append(plannedMutants(judge.programs.at(Stage::Planned)));
  append(frameMutants(judge.programs.at(Stage::Planned)));
  return all;
}

std::vector<Verdict> Court::judge(const Mutants &mutants) {
  std::vector<Verdict> verdicts(mutants.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (auto &judge : judges)
    threads.emplace_back([&] {
      for (size_t k = next++; k < mutants.size(); k = next++)
        verdicts[k] = judge->judge(mutants[k]);
    });
  for (std::thread &thread : threads)
    thread.join();
  return verdicts;
}

static Mutants sampleBy(Mutants mutants, size_t count,
                        std::string (*groupOf)(const Mutant &)) {
  std::map<std::string, std::pair<size_t, size_t>> groups; // all, seen
  for (const Mutant &mutant : mutants)
    ++groups[groupOf(mutant)].first;
  Mutants chosen;
  for (Mutant &mutant : mutants) {
    auto &[all, seen] = groups[groupOf(mutant)];
    size_t wanted = std::min(all, count);
    // The k-th of n is taken where k wanted / n passes a whole number.
    if ((seen + 1) * wanted / all > seen * wanted / all)
      chosen.push_back(std::move(mutant));
    ++seen;
  }
  return chosen;
}

Mutants tessera::test::sample(Mutants mutants, size_t count) {
  return sampleBy(std::move(mutants), count,
                  [](const Mutant &mutant) { return mutant.kind; });
}

/// `what` begins with the op in quotation marks, or is about an input.
Mutants tessera::test::sampleOps(Mutants mutants, size_t count) {
  return sampleBy(std::move(mutants), count, [](const Mutant &mutant) {
    llvm::StringRef op = mutant.what;
    op = op.consume_front("'") ? op.take_until([](char c) { return c == '\''; })
                               : "";
    return mutant.kind + " " + op.str();
  });
}
