//===- LoraOptions.h - adapters of low rank beside a model ------*- C++ -*-===//
// Low-rank adaptation (Hu et al. 2021, arXiv 2106.09685): y = x W + b becomes
// x W + b + alpha / rank (x A) B, and only A and B are trained. Words and
// defaults are those of Hugging Face's peft. It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_LORAOPTIONS_H
#define TESSERA_OPTIONS_LORAOPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

struct LoraOptions {
  int64_t rank = 0; ///< 0: the model has no adapters.
  double alpha = 8;
  double dropout = 0; ///< Probability for elements that A reads.
  /// Ends of modules' names, "q_proj", or kAllLinear.
  std::vector<std::string> targets;

  bool isGiven() const { return rank > 0; }
  /// Reads "r=16,alpha=32,targets=q_proj,v_proj". Returns what is wrong, or "".
  std::string parse(const std::string &text);
  /// Returns the text that parse takes; "" without adapters.
  std::string str() const;
};

/// Every linear layer but the head.
constexpr const char *kAllLinear = "all-linear";

} // namespace tessera

#endif // TESSERA_OPTIONS_LORAOPTIONS_H
