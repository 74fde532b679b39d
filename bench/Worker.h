//===- Worker.h - Protocol between bench/run.py and a program ---*- C++ -*-===//
// A worker gets ready, prints one line of JSON, and then for each number N that
// it reads does N repetitions and prints {"seconds": [...],
// "processor_seconds": [...], "vmhwm": bytes}. Workers live side by side, so
// that run.py can measure them in turns.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_BENCH_WORKER_H
#define TESSERA_BENCH_WORKER_H

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>

namespace bench {

/// The most memory that this process has had resident, in bytes; 0: unknown.
inline int64_t peakResident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::stoll(line.substr(6)) * 1024;
  return 0;
}

/// Serves requests until the input ends.
template <typename Repetition>
void serve(const std::string &ready, Repetition repetition) {
  std::cout << ready << std::endl;
  for (int64_t count; std::cin >> count;) {
    std::string seconds, processorSeconds;
    for (int64_t i = 0; i < count; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const std::clock_t processor = std::clock();
      repetition();
      const std::chrono::duration<double> time =
          std::chrono::steady_clock::now() - start;
      const double used = double(std::clock() - processor) / CLOCKS_PER_SEC;
      seconds += (i ? ", " : "") + std::to_string(time.count());
      processorSeconds += (i ? ", " : "") + std::to_string(used);
    }
    std::cout << "{\"seconds\": [" << seconds << "], \"processor_seconds\": ["
              << processorSeconds << "], \"vmhwm\": " << peakResident() << "}"
              << std::endl;
  }
}

} // namespace bench
#endif // TESSERA_BENCH_WORKER_H
