//===- ByteEntropy.cpp - what byte frequencies alone predict --------------===//

#include "tools/tessera/train/ByteEntropy.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

using namespace tessera;

using Counts = std::array<int64_t, 256>;

/// Adds the bytes of a source; returns how many could be read.
static int64_t countBytes(const ByteSource &source, Counts &counts) {
  std::ifstream file(source.path, std::ios::binary);
  file.seekg(source.first);
  std::vector<char> buffer(1 << 16);
  int64_t total = 0;
  while (file && total < source.count) {
    file.read(buffer.data(),
              std::min<int64_t>(source.count - total,
                                static_cast<int64_t>(buffer.size())));
    std::streamsize read = file.gcount();
    for (std::streamsize i = 0; i < read; ++i)
      ++counts[static_cast<unsigned char>(buffer[i])];
    total += read;
  }
  return total;
}

double tessera::byteEntropy(const std::vector<ByteSource> &sources) {
  std::array<double, 256> portions = {};
  for (const ByteSource &source : sources) {
    Counts counts = {};
    int64_t total = countBytes(source, counts);
    for (size_t byte = 0; total && byte < counts.size(); ++byte)
      portions[byte] += source.share * static_cast<double>(counts[byte]) /
                        static_cast<double>(total);
  }
  double entropy = 0;
  for (double portion : portions)
    if (portion > 0)
      entropy -= portion * std::log(portion);
  return entropy;
}
