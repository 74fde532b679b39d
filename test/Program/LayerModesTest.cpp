//===- LayerModesTest.cpp - what each layer of an artifact recomputes -----===//

#include "tessera/Program/ProgramJson.h"
#include <gtest/gtest.h>

using namespace tessera;
using program::LayerModes;

namespace {

/// Reads the modes from metadata whose "recompute" is `text`; nothing if that
/// says too little.
std::optional<LayerModes> read(const std::string &text) {
  llvm::Expected<program::Program> read =
      program::readProgram("{\"recompute\": " + text + "}");
  EXPECT_TRUE(!!read) << llvm::toString(read.takeError());
  return read ? read->layers : std::nullopt;
}

TEST(LayerModes, LayersAreNumberedInTheOrderOfTheirNames) {
  auto modes = read(R"({"mode": "none", "layers": -1, "ranges": "2=full",
                        "names": ["encoder.block.0", "encoder.block.1",
                                  "decoder.block.0", "decoder.block.1"]})");
  ASSERT_TRUE(modes);
  EXPECT_EQ(modes->layers(), 4u);
  EXPECT_EQ(modes->layerOf("decoder.block.0.layer.1.EncDecAttention"), 2);
  EXPECT_EQ(modes->layerOf("encoder.block.1"), 1);
  EXPECT_EQ(modes->layerOf("encoder.block.10.layer.0"), std::nullopt);
  EXPECT_EQ(modes->layerOf("encoder"), std::nullopt);
  EXPECT_EQ(modes->layerOf(""), std::nullopt);
  EXPECT_EQ(modes->modeOf("decoder.block.0.layer.0"), Recompute::Full);
  EXPECT_EQ(modes->modeOf("encoder.block.0.layer.0"), Recompute::None);
  EXPECT_EQ(modes->modeOf("embedding"), Recompute::None);
}

/// The rest of a model recomputes what is cheap.
TEST(LayerModes, TheFirstLayersMayBeFull) {
  auto modes = read(R"({"mode": "full", "layers": 1, "ranges": "2=none",
                        "names": ["h.0", "h.1", "h.2"]})");
  ASSERT_TRUE(modes);
  EXPECT_EQ(modes->modeOf("h.0.attn"), Recompute::Full);
  EXPECT_EQ(modes->modeOf("h.1.attn"), Recompute::Selective);
  EXPECT_EQ(modes->modeOf("h.2.attn"), Recompute::None);
  EXPECT_EQ(modes->modeOf("loss"), Recompute::Selective);
}

TEST(LayerModes, WithoutNamesLayersMustBeAlike) {
  auto modes = read(R"({"mode": "full", "layers": -1})");
  ASSERT_TRUE(modes);
  EXPECT_EQ(modes->modeOf("h.1.attn"), Recompute::Full);
  EXPECT_FALSE(read(R"({"mode": "full", "layers": 1})"));
  EXPECT_FALSE(read(R"({"mode": "none", "layers": -1, "ranges": "0=full"})"));
  EXPECT_FALSE(read(R"({"mode": "none", "layers": -1, "ranges": "x"})"));
  EXPECT_FALSE(read(R"({"mode": "none", "layers": -1, "ranges": "1=full",
                        "names": ["h.0"]})"));
}

} // namespace
