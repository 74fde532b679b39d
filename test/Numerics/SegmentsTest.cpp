//===- SegmentsTest.cpp - attention within documents, without padding -----===//
// Sessions find segments by separators and padding, or are given them: the
// losses of transformers are ReferenceTest's.
//===----------------------------------------------------------------------===//

#include "test/Numerics/Model.h"
#include "test/Numerics/Reference.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

constexpr size_t kBatch = 8, kSequence = 8, kTokens = kBatch * kSequence;
constexpr int kSeparator = 2, kPadding = 0;

std::string compile(const char *family, const char *mesh = "dp=2") {
  Build build;
  build.mesh = mesh;
  build.sequence = kSequence;
  build.documentMask = family == std::string("llama-packed");
  build.paddingMask = family != std::string("llama-packed");
  return compileModel(referenceConfig(family), build);
}

tsr_batch batchOf(const Tokens &ids, const Tokens &labels,
                  const Tokens *segments = nullptr) {
  return {sizeof(tsr_batch),
          ids.data(),
          labels.data(),
          nullptr,
          segments ? segments->data() : nullptr,
          nullptr};
}

double lossOf(const std::string &path, const tsr_batch &batch) {
  Trainer trainer(path);
  tsr_step_result result = {-1, -1, -1, -1};
  EXPECT_EQ(tsr_session_step_batch(trainer.get(), &batch, &result), TSR_OK)
      << tsr_last_error();
  return result.loss;
}

std::string refusal(const std::string &path, const tsr_batch &batch) {
  Trainer trainer(path);
  tsr_step_result result;
  EXPECT_EQ(tsr_session_step_batch(trainer.get(), &batch, &result),
            TSR_INVALID_ARGUMENT);
  return tsr_last_error();
}

/// Tokens from 3 on, different ones at each place.
Tokens anyTokens(size_t count) {
  Tokens tokens;
  for (size_t k = 0; k < count; ++k)
    tokens.push_back(static_cast<int32_t>(3 + k * 7 % 31));
  return tokens;
}

/// Each half of a sequence is a document, trained with the other or alone:
/// rotations depend on distances, so nothing else differs.
TEST(Segments, DocumentsTrainAsAlone) {
  Tokens ids = anyTokens(kTokens), labels = anyTokens(kTokens + 5);
  labels.erase(labels.begin(), labels.begin() + 5);
  for (size_t k = 3; k < kTokens; k += 4)
    ids[k] = kSeparator;
  double packed = lossOf(compile("llama-packed"), batchOf(ids, labels));
  Build build;
  build.sequence = kSequence / 2;
  build.batch = 2 * kBatch;
  double alone = lossOf(compileModel(referenceConfig("llama-packed"), build),
                        batchOf(ids, labels));
  build.sequence = kSequence;
  build.batch = kBatch;
  double mixed = lossOf(compileModel(referenceConfig("llama-packed"), build),
                        batchOf(ids, labels));
  EXPECT_NEAR(packed / alone, 1, 1e-13);
  EXPECT_GT(std::abs(packed / mixed - 1), 1e-6);
}

/// The same bits: only whether numbers are equal matters. A separator that
/// follows another is a document of its own.
TEST(Segments, OnesOwnAreThoseOfSeparators) {
  Tokens ids = anyTokens(kTokens), labels = ids, segments(kTokens);
  for (size_t k = 0; k < kTokens; ++k)
    segments[k] = k % kSequence < 3 ? 5 : k % kSequence < 4 ? 9 : 0;
  for (size_t k = 0; k < kTokens; k += kSequence)
    ids[k + 2] = ids[k + 3] = kSeparator;
  std::string path = compile("llama-packed");
  double three = lossOf(path, batchOf(ids, labels, &segments));
  EXPECT_EQ(lossOf(path, batchOf(ids, labels)), three);
  for (size_t k = 0; k < kTokens; k += kSequence)
    ids[k + 3] = 5;
  double other = lossOf(path, batchOf(ids, labels, &segments));
  for (size_t k = 0; k < kTokens; ++k)
    segments[k] = k % kSequence < 3 ? 5 : 1;
  EXPECT_EQ(lossOf(path, batchOf(ids, labels, &segments)),
            lossOf(path, batchOf(ids, labels)));
  EXPECT_NE(other, lossOf(path, batchOf(ids, labels)));
}

/// Tokens in padding change no bit of the loss.
TEST(Segments, NothingReadsPadding) {
  for (const char *mesh : {"dp=2", "cp=2"}) {
    Tokens ids = anyTokens(kTokens), labels = ids, segments(kTokens, 0);
    for (size_t k = 0; k < kTokens; ++k)
      if (k % kSequence >= 3 + k / kSequence % 6)
        segments[k] = -1;
    std::string path = compile("bert-padded", mesh);
    double first = lossOf(path, batchOf(ids, labels, &segments));
    Tokens changed = ids, none = labels;
    for (size_t k = 0; k < kTokens; ++k)
      if (segments[k] < 0) {
        changed[k] = kPadding;
        none[k] = -100;
      }
    EXPECT_EQ(first, lossOf(path, batchOf(changed, labels, &segments)));
    EXPECT_EQ(first, lossOf(path, batchOf(changed, none)));
  }
}

/// A sequence of padding alone has no label, and what it holds is not read.
TEST(Segments, ASequenceOfPaddingCountsNothing) {
  for (const char *mesh : {"dp=2", "cp=2"}) {
    std::string path = compile("bert-padded", mesh);
    Tokens ids = anyTokens(kTokens), labels = ids, segments(kTokens, 0);
    std::fill_n(ids.begin() + kSequence, kSequence, kPadding);
    double padded = lossOf(path, batchOf(ids, labels));
    EXPECT_TRUE(std::isfinite(padded));
    std::fill_n(segments.begin() + kSequence, kSequence, -1);
    EXPECT_EQ(lossOf(path, batchOf(anyTokens(kTokens), labels, &segments)),
              padded);
    std::fill_n(labels.begin() + kSequence, kSequence, -100);
    EXPECT_EQ(lossOf(path, batchOf(ids, labels)), padded);
  }
}

TEST(Segments, AreAtLeastThoseOfPadding) {
  Tokens ids = anyTokens(kTokens), labels = ids, segments(kTokens, 0);
  segments[5] = -2;
  EXPECT_EQ(refusal(compile("bert-padded"), batchOf(ids, labels, &segments)),
            "segment -2 at position 5 of sequence 0 of segments is below -1, "
            "which is padding");
  // A label of padding cannot be left out of a loss over all labels.
  segments.assign(kTokens, 0);
  segments[5] = -1;
  EXPECT_EQ(refusal(compile("llama-packed"),
                    batchOf(anyTokens(kTokens), labels, &segments)),
            "label -100 at position 5 of sequence 0 is negative, but the model "
            "counts all labels; compile it with --ignore-labels");
}

TEST(Segments, RefusesThoseThatAModelHasNot) {
  Tokens ids = anyTokens(kTokens), labels = ids, segments(kTokens, 0);
  Build build;
  build.sequence = kSequence;
  std::string plain = compileModel(referenceConfig("bert"), build);
  EXPECT_EQ(refusal(plain, batchOf(ids, labels, &segments)),
            "the model's attention has no mask of documents or padding; leave "
            "segments NULL, or compile it with --document-mask or "
            "--padding-mask");
  tsr_batch batch = batchOf(ids, labels);
  batch.decoder_segments = segments.data();
  EXPECT_EQ(refusal(compile("bert-padded"), batch),
            "the model has no decoder with a mask of padding; leave "
            "decoder_segments NULL");
}

/// With labels that may be ignored, that of a separator is.
TEST(Segments, SeparatorsPredictNothingWhereLabelsAreIgnored) {
  Build build;
  build.sequence = kSequence;
  build.documentMask = build.ignoresLabels = true;
  std::string path = compileModel(referenceConfig("llama-packed"), build);
  Tokens tokens = anyTokens(kBatch * (kSequence + 1)), ids, labels;
  for (size_t k = 0; k < tokens.size(); ++k) {
    if (k % (kSequence + 1) == 4)
      tokens[k] = kSeparator;
  }
  for (size_t k = 0; k < kTokens; ++k) {
    size_t at = k / kSequence * (kSequence + 1) + k % kSequence;
    ids.push_back(tokens[at]);
    labels.push_back(ids.back() == kSeparator ? -100 : tokens[at + 1]);
  }
  EXPECT_EQ(Trainer(path).step(tokens).loss,
            lossOf(path, batchOf(ids, labels)));
}

} // namespace
