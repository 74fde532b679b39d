//===- TestHeaders.h - what is parsed once for tests ------------*- C++ -*-===//
// The precompiled header of tests that do not use MLIR. Sources include what
// they use nevertheless: they compile without it, too.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_TESTHEADERS_H
#define TESSERA_TEST_TESTHEADERS_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#endif // TESSERA_TEST_TESTHEADERS_H
