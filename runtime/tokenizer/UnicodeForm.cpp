#include "runtime/tokenizer/UnicodeForm.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>

#include <algorithm>

namespace tessera {

static void requireIcu(UErrorCode error) {
  if (error == U_MEMORY_ALLOCATION_ERROR)
    throw std::bad_alloc();
  if (U_FAILURE(error))
    fail(TSR_INTERNAL, "ICU cannot normalize a text: ", u_errorName(error));
}

struct UnicodeForm::Tables {
  Tables(const icu::Normalizer2 &form, UErrorCode &error)
      : known(u"[:age=9.0:]", error), filtered(form, known) {}

  icu::UnicodeSet known;
  icu::FilteredNormalizer2 filtered;
};

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
  requireIcu(error);
  tables = std::make_unique<Tables>(*form, error);
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
  UErrorCode error = U_ZERO_ERROR;
  icu::StringPiece piece(text.data(), static_cast<int32_t>(text.size()));
  if (tables->filtered.isNormalizedUTF8(piece, error) && U_SUCCESS(error))
    return false;
  out.clear();
  icu::StringByteSink<std::string> sink(&out,
                                        static_cast<int32_t>(text.size()));
  tables->filtered.normalizeUTF8(0, piece, sink, nullptr, error);
  requireIcu(error);
  return true;
}

} // namespace tessera
