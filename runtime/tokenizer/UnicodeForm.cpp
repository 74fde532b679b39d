#include "runtime/tokenizer/UnicodeForm.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera {

static void requireIcu(UErrorCode error) {
  if (error == U_MEMORY_ALLOCATION_ERROR)
    throw std::bad_alloc();
  if (U_FAILURE(error))
    fail(TSR_INTERNAL, "ICU cannot normalize a text: ", u_errorName(error));
}

struct UnicodeForm::Tables {
  Tables(const icu::Normalizer2 &form, const icu::Normalizer2 &parts,
         UErrorCode &error)
      : known(u"[:age=9.0:]", error), filtered(form, known), parts(parts) {}

  /// Returns whether a character is a mark, or begins with one when decomposed:
  /// marks beside each other are sorted.
  bool isMark(UChar32 c) const {
    return c >= 0x300 && !parts.hasBoundaryBefore(c) && known.contains(c);
  }
  bool sortMarks(std::string_view text, std::string &out) const;
  void appendSorted(std::string_view run, std::string &out) const;

  icu::UnicodeSet known;
  icu::FilteredNormalizer2 filtered;
  const icu::Normalizer2 &parts; ///< Decomposes as the form does.
};

/// Sorts the marks in long runs of them: ICU inserts each where it belongs,
/// which takes the square of their number. False if there is none; the result
/// has the same normalization forms.
bool UnicodeForm::Tables::sortMarks(std::string_view text,
                                    std::string &out) const {
  constexpr size_t mostMarks = 256;
  out.clear();
  size_t done = 0, marks = 0, runBegin = 0;
  auto endRun = [&](size_t end) {
    if (marks > mostMarks) {
      out.append(text, done, runBegin - done);
      appendSorted(text.substr(runBegin, end - runBegin), out);
      done = end;
    }
    marks = 0;
  };
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    if (!isMark(static_cast<UChar32>(nextCodePoint(text, at))))
      endRun(begin);
    else if (marks++ == 0)
      runBegin = begin;
  }
  endRun(text.size());
  out.append(text, done);
  return done > 0;
}

void UnicodeForm::Tables::appendSorted(std::string_view run,
                                       std::string &out) const {
  std::vector<std::pair<uint8_t, UChar32>> marks; // with their classes
  icu::UnicodeString whole;
  for (size_t at = 0; at < run.size();) {
    auto c = static_cast<UChar32>(nextCodePoint(run, at));
    if (!parts.getDecomposition(c, whole))
      whole.setTo(c);
    for (int32_t i = 0; i < whole.length(); i = whole.moveIndex32(i, 1)) {
      UChar32 mark = whole.char32At(i);
      marks.emplace_back(parts.getCombiningClass(mark), mark);
    }
  }
  std::stable_sort(
      marks.begin(), marks.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &mark : marks)
    appendCodePoint(out, static_cast<char32_t>(mark.second));
}

static const icu::Normalizer2 *findForm(const std::string &name,
                                        UErrorCode &error) {
  if (name == "NFC")
    return icu::Normalizer2::getNFCInstance(error);
  if (name == "NFD")
    return icu::Normalizer2::getNFDInstance(error);
  if (name == "NFKC")
    return icu::Normalizer2::getNFKCInstance(error);
  return icu::Normalizer2::getNFKDInstance(error);
}

UnicodeForm::UnicodeForm(const std::string &name) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2 *form = findForm(name, error);
  const icu::Normalizer2 *parts =
      findForm(name.size() == 3 ? "NFD" : "NFKD", error);
  requireIcu(error);
  tables = std::make_unique<Tables>(*form, *parts, error);
  requireIcu(error);
  tables->known.freeze();
}
UnicodeForm::UnicodeForm(UnicodeForm &&) noexcept = default;
UnicodeForm::~UnicodeForm() = default;

bool UnicodeForm::apply(std::string_view text, std::string &out) const {
  if (std::all_of(text.begin(), text.end(), isAscii))
    return false;
  if (text.size() > INT32_MAX / 2)
    fail(TSR_UNSUPPORTED, "a text of ", text.size(),
         " bytes is too long to be normalized; split it into documents");
  std::string sorted;
  bool hasSorted = tables->sortMarks(text, sorted);
  if (hasSorted)
    text = sorted;
  UErrorCode error = U_ZERO_ERROR;
  icu::StringPiece piece(text.data(), static_cast<int32_t>(text.size()));
  if (tables->filtered.isNormalizedUTF8(piece, error) && U_SUCCESS(error)) {
    out = std::move(sorted);
    return hasSorted;
  }
  out.clear();
  icu::StringByteSink<std::string> sink(&out,
                                        static_cast<int32_t>(text.size()));
  tables->filtered.normalizeUTF8(0, piece, sink, nullptr, error);
  requireIcu(error);
  return true;
}

} // namespace tessera
