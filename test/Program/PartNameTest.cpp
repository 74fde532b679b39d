//===- PartNameTest.cpp - the names of parts of a model -------------------===//

#include "tessera/Program/PartName.h"
#include <gtest/gtest.h>

using namespace tessera;
using program::layerOfPart;
using program::placeOf;
using program::placeText;

namespace {

TEST(PartName, ALayerEndsWithItsNumber) {
  EXPECT_EQ(layerOfPart("h.3.mlp").name, "h.3");
  EXPECT_EQ(layerOfPart("h.3.mlp").number, 3);
  EXPECT_EQ(layerOfPart("encoder.block.1.layer.0").name, "encoder.block.1");
  EXPECT_EQ(layerOfPart("layers.12").number, 12);
}

TEST(PartName, APartWithoutANumberIsInNoLayer) {
  for (const char *part : {"", "embedding", "h.-1.mlp", "h.3x.mlp", "h3"}) {
    EXPECT_EQ(layerOfPart(part).name, "") << part;
    EXPECT_EQ(layerOfPart(part).number, -1) << part;
  }
}

TEST(PartName, LayersAreAlikeBecauseOfTheirPlace) {
  EXPECT_EQ(placeOf("h.3.mlp"), "h.#.mlp");
  EXPECT_EQ(placeOf("h.3.layers.3.mlp"), "layers.#.mlp");
  EXPECT_EQ(placeOf("h.3.layers.4.mlp"), "h.#.layers.4.mlp");
  EXPECT_EQ(placeOf("head"), "head");
  EXPECT_EQ(placeText("h.#.mlp", {0, 1, 5}), "h.0-5.mlp");
  EXPECT_EQ(placeText("h.#.mlp", {2}), "h.2.mlp");
  EXPECT_EQ(placeText("", {}), "-");
}

} // namespace
