//===- Court.cpp - all mutants of a program, judged on all cores ----------===//

#include "test/Mutation/Court.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <thread>

using namespace tessera::test;

static constexpr unsigned kMostThreads = 8;

bool Court::start() {
  unsigned threads =
      std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  std::vector<char> good(threads);
  std::vector<std::thread> builders;
  for (unsigned k = 0; k < threads; ++k)
    judges.push_back(std::make_unique<Judge>(strategy));
  for (unsigned k = 0; k < threads; ++k)
    builders.emplace_back([&, k] {
      good[k] = judges[k]->start(kernels,
                                 llvm::formatv("{0}/{1}-", scratch, k).str());
    });
  for (std::thread &builder : builders)
    builder.join();
  for (unsigned k = 0; k < threads; ++k)
    if (!good[k]) {
      ADD_FAILURE() << strategy.name() << ": " << judges[k]->programs.error();
      return false;
    }
  Verdict original = judges[0]->judgeOriginal();
  EXPECT_EQ(original.fate, Fate::Equal)
      << strategy.name() << ": the program itself differs by "
      << original.difference << " " << judges[0]->programs.error();
  return original.fate == Fate::Equal;
}

Mutants Court::enumerate() {
  Judge &judge = *judges.front();
  Mutants all;
  auto append = [&](Mutants more) {
    for (Mutant &mutant : more)
      all.push_back(std::move(mutant));
  };
  append(typedMutants(judge.programs.at(Stage::Typed)));
  if (strategy.generates())
    for (Stage stage : {Stage::Typed, Stage::Lowered})
      append(generationMutants(judge.programs.at(stage), stage));
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

Mutants tessera::test::sample(Mutants mutants, size_t count) {
  std::map<std::string, std::pair<size_t, size_t>> kinds; // all, seen
  for (const Mutant &mutant : mutants)
    ++kinds[mutant.kind].first;
  Mutants chosen;
  for (Mutant &mutant : mutants) {
    auto &[all, seen] = kinds[mutant.kind];
    size_t wanted = std::min(all, count);
    // The k-th of n is taken where k wanted / n passes a whole number.
    if ((seen + 1) * wanted / all > seen * wanted / all)
      chosen.push_back(std::move(mutant));
    ++seen;
  }
  return chosen;
}
