//===- SentencePieceTokenizer.cpp - the tokenizer of a tokenizer.model ----===//
// For folders without a tokenizer.json: sentencepiece itself does it.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/Decoder.h"
#include "runtime/tokenizer/TextLimit.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/UnknownRuns.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <sentencepiece_processor.h>

namespace tessera {

namespace {

class SentencePieceTokenizer final : public Tokenizer {
public:
  SentencePieceTokenizer(const std::string &source, std::string_view content,
                         AroundText around)
      : source(source), model(source, content), runs(model, source),
        around(around) {
    load();
    if (processor.eos_id() >= 0)
      endToken = processor.IdToPiece(processor.eos_id());
    if (around.begins && processor.bos_id() < 0)
      fail(TSR_CORRUPT, source,
           " has no token that begins a text, but its "
           "tokenizer_config.json adds one");
    if (around.ends && processor.eos_id() < 0)
      fail(TSR_CORRUPT, source,
           " has no token that ends a text, but its "
           "tokenizer_config.json adds one");
  }

  void encode(std::string_view text, tsr_special special,
              std::vector<int32_t> &ids) override {
    bool isSpecial = special == TSR_WITH_SPECIAL;
    if (isSpecial && around.begins)
      ids.push_back(processor.bos_id());
    std::vector<int> found;
    std::string_view valid = validUtf8(text, repaired);
    requireShort(valid.size());
    require(processor.Encode(runs.shorten(valid, shortened), &found),
            TSR_UNSUPPORTED, "sentencepiece cannot encode the text");
    ids.insert(ids.end(), found.begin(), found.end());
    if (isSpecial && around.ends)
      ids.push_back(processor.eos_id());
  }
  std::string decode(const std::vector<int32_t> &ids,
                     tsr_special special) const override {
    std::string text;
    std::vector<int> run;
    requireFew(ids.size());
    for (int32_t id : ids)
      if (!processor.IsControl(id))
        run.push_back(id);
      else if (special == TSR_WITH_SPECIAL) {
        decodeRun(run, text);
        text += processor.IdToPiece(id);
      }
    decodeRun(run, text);
    return text;
  }
  int32_t vocabularySize() const override { return processor.GetPieceSize(); }
  int32_t idOf(std::string_view token) const override {
    // The id of <unk>, if the token is unknown.
    int32_t id = processor.PieceToId(token);
    return processor.IdToPiece(id) == token ? id : -1;
  }
  bool appendBytesOf(int32_t, tsr_special, std::string &) const override {
    return false;
  }
  int byteOf(int32_t id) const override {
    return processor.IsByte(id) ? byteOfToken(processor.IdToPiece(id)) : -1;
  }

private:
  static void require(const sentencepiece::util::Status &status,
                      tsr_status code, const std::string &what) {
    if (!status.ok())
      fail(code, what, ": ", status.ToString());
  }
  void load() {
    const std::string what = source + " is no model of sentencepiece";
    try {
      require(processor.LoadFromSerializedProto(model.content), TSR_CORRUPT,
              what);
    } catch (const std::bad_alloc &) {
      throw;
    } catch (const Error &) {
      throw;
    } catch (const std::exception &error) { // thrown by Darts-clone
      fail(TSR_CORRUPT, what, ": ", error.what());
    }
    model.content.clear();
    model.content.shrink_to_fit();
  }

  /// The library counts bytes in 31 bits, and looks for pieces at each byte.
  void requireShort(size_t bytes) const {
    constexpr size_t most = INT32_MAX, usual = 256;
    constexpr uint64_t mostSteps = uint64_t(1) << 33;
    if (bytes > most / model.growth - TextLimit::spare)
      fail(TSR_UNSUPPORTED, source, " may make more than ", most,
           " bytes of a text of ", bytes, "; split it into documents");
    uint64_t steps = uint64_t(bytes) * model.growth * model.longestPiece;
    if (model.longestPiece > usual && steps > mostSteps)
      fail(TSR_UNSUPPORTED, source, " may need more than ", mostSteps,
           " steps for a text of ", bytes, " bytes, as it has a piece of ",
           model.longestPiece, "; split the text into documents");
  }
  void requireFew(size_t ids) const {
    constexpr size_t most = INT32_MAX;
    size_t each = std::max(model.longestPiece, TextLimit::spare) * model.growth;
    if (ids > most / each)
      fail(TSR_UNSUPPORTED, source, " may make more than ", most, " bytes of ",
           ids, " tokens; decode fewer at once");
  }
  void decodeRun(std::vector<int> &run, std::string &text) const {
    std::string part;
    if (!run.empty())
      require(processor.Decode(run, &part), TSR_UNSUPPORTED,
              "sentencepiece cannot decode ids");
    text += part;
    run.clear();
  }

  std::string source;
  SentencePieceModel model;
  UnknownRuns runs;
  sentencepiece::SentencePieceProcessor processor;
  AroundText around;
  std::string repaired, shortened;
};

} // namespace

std::unique_ptr<Tokenizer> readSentencePiece(const std::string &source,
                                             std::string_view content,
                                             AroundText around) {
  return std::make_unique<SentencePieceTokenizer>(source, content, around);
}

} // namespace tessera
