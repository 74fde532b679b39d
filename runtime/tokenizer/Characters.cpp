#include "runtime/tokenizer/Characters.h"

#include "runtime/tokenizer/Utf8.h"

#include <unicode/uchar.h>

namespace tessera {

static bool isIn(char32_t c, uint32_t categories) {
  return U_MASK(u_charType(static_cast<UChar32>(c))) & categories;
}

/// Returns whether Unicode had it in that version.
static bool isOfAge(char32_t c, int version) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] < version || (age[0] == version && age[1] == 0);
}

bool isWhitespace(char32_t c) {
  if (c < 128)
    return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(static_cast<UChar32>(c));
}

bool isNumber(char32_t c) {
  if (c < 128)
    return c >= '0' && c <= '9';
  return isIn(c, U_GC_N_MASK);
}

bool isWordCharacter(char32_t c) {
  auto code = static_cast<UChar32>(c);
  return u_isUAlphabetic(code) ||
         isIn(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) ||
         u_hasBinaryProperty(code, UCHAR_JOIN_CONTROL);
}

bool isPunctuation(char32_t c) {
  if (c < 128)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  if (c == 0x166D || c == 0x111C9) // no longer punctuation
    return true;
  return isIn(c, U_GC_P_MASK) && isOfAge(c, 8);
}

bool isRemovedByBert(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r')
    return false;
  if (c < 128)
    return c < ' ' || c == 0x7F;
  if (c == replacementCharacter)
    return true;
  return isIn(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK) && isOfAge(c, 8);
}

bool isIdeographOfBert(char32_t c) {
  static constexpr char32_t blocks[][2] = {
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
      {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
      {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  for (const auto &block : blocks)
    if (c >= block[0] && c <= block[1])
      return true;
  return false;
}

bool isAccentOfBert(char32_t c) {
  if (c < 0x300)
    return false;
  if (c == 0x1734) // Mc by now
    return true;
  if (c == 0x1885 || c == 0x1886 || c == 0xA9BD || c == 0x111C9) // not yet
    return false;
  return isIn(c, U_GC_MN_MASK) && isOfAge(c, 8);
}

bool isCombiningMark(char32_t c) {
  if (c < 0x300)
    return false;
  if (c == 0x1CF2 || c == 0x1CF3) // letters by now
    return true;
  return isIn(c, U_GC_M_MASK) && isOfAge(c, 9) && c != 0x111C9;
}

void appendLowercase(std::string &text, char32_t c) {
  if (c < 128) {
    text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return;
  }
  if (c == 0x130) // the one whose lower case is two
    text += "i\xCC\x87";
  else
    appendCodePoint(text,
                    static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
}

} // namespace tessera
