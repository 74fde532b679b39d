//===- ByteEntropy.cpp - what byte frequencies alone predict --------------===//

#include "tools/tessera/train/ByteEntropy.h"
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>

double tessera::byteEntropy(const std::vector<std::string> &paths) {
  std::array<int64_t, 256> counts = {};
  int64_t total = 0;
  std::vector<char> buffer(1 << 16);
  for (const std::string &path : paths) {
    std::ifstream file(path, std::ios::binary);
    while (file) {
      file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      std::streamsize read = file.gcount();
      for (std::streamsize i = 0; i < read; ++i)
        ++counts[static_cast<unsigned char>(buffer[i])];
      total += read;
    }
  }
  double entropy = 0;
  for (int64_t count : counts)
    if (count) {
      double p = static_cast<double>(count) / static_cast<double>(total);
      entropy -= p * std::log(p);
    }
  return entropy;
}
