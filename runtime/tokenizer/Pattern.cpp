#include "runtime/tokenizer/Pattern.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace tessera {

void Pattern::Free::operator()(pcre2_code *object) const {
  pcre2_code_free(object);
}
void Pattern::Free::operator()(pcre2_match_data *object) const {
  pcre2_match_data_free(object);
}
void Pattern::Free::operator()(pcre2_match_context *object) const {
  pcre2_match_context_free(object);
}
void Pattern::Free::operator()(pcre2_jit_stack *object) const {
  pcre2_jit_stack_free(object);
}

static std::string messageOf(int code) {
  char text[256] = "";
  pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR *>(text),
                          sizeof text);
  return text;
}

static void requireMemory(const void *pointer) {
  if (!pointer)
    throw std::bad_alloc();
}

static pcre2_code *compile(const std::string &expression,
                           const std::string &where) {
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context *)>
      settings(pcre2_compile_context_create(nullptr),
               pcre2_compile_context_free);
  requireMemory(settings.get());
  pcre2_set_newline(settings.get(), PCRE2_NEWLINE_LF);
  constexpr size_t longest = size_t(1) << 18;
  pcre2_set_max_pattern_length(settings.get(), longest);
  int error = 0;
  size_t offset = 0;
  pcre2_code *code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_USE_OFFSET_LIMIT, &error, &offset,
      settings.get());
  if (!code)
    fail(TSR_CORRUPT, where, " is no regular expression: ", messageOf(error),
         " at byte ", offset, " of '", excerpt(expression), "'");
  return code;
}

Pattern::Pattern(const std::string &expression, const std::string &where,
                 Translated)
    : name(where), code(compile(expression, where)),
      data(pcre2_match_data_create(1, nullptr)),
      context(pcre2_match_context_create(nullptr)) {
  requireMemory(data.get());
  requireMemory(context.get());
  constexpr uint32_t mostKilobytes = 1 << 16;
  pcre2_set_heap_limit(context.get(), mostKilobytes);
  isJit = pcre2_jit_compile(code.get(),
                            PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0;
  if (!isJit)
    return;
  constexpr size_t first = 1 << 15, most = 1 << 26;
  stack.reset(pcre2_jit_stack_create(first, most, nullptr));
  requireMemory(stack.get());
  pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
}

/// A few starts that are tried at once. Its bytes alone decide whether a text
/// is matched, never a clock: PCRE2 has limits on backtracking from one start,
/// but none on the work of all starts, which grows with the square of a text
/// for an expression such as `a+[bc]`. So a few starts are tried within a
/// window of the text at a time. If one of them needs to see more, or to
/// backtrack more, the window or the limit grows for that one.
struct Pattern::Attempt {
  static constexpr size_t firstBytes = 128;
  static constexpr uint32_t firstBacktracks = 128;
  static constexpr uint32_t mostBacktracks = 10000000; ///< PCRE2's default.

  size_t from;
  size_t starts = 1;         ///< Mostly a match begins at the first.
  size_t bytes = firstBytes; ///< The length of the window.
  uint32_t backtracks = firstBacktracks;

  /// Returns the end of the window, which is between two characters.
  size_t end(std::string_view text) const {
    size_t at = std::min(from + bytes, text.size());
    while (at < text.size() && (text[at] & 0xC0) == 0x80)
      ++at;
    return at;
  }
  size_t steps(std::string_view text, size_t tried) const {
    size_t window = end(text) - from;
    return std::min(tried, window + 1) * (window + backtracks);
  }

  /// A start needs to see more.
  void look(size_t start) {
    from = start;
    starts = 1;
    bytes *= 2;
  }
  /// Lets a start backtrack more; which one needs it is not known.
  void backtrack() {
    if (starts == 1)
      backtracks *= 4;
    starts = 1;
  }
  /// None of the starts matches. False: there are no others.
  bool moveOn(std::string_view text) {
    from += starts;
    while (from < text.size() && (text[from] & 0xC0) == 0x80)
      ++from;
    starts = std::min(2 * starts, firstBytes);
    bytes = firstBytes;
    backtracks = firstBacktracks;
    return from <= text.size();
  }
};

void Pattern::begin(size_t textBytes) const {
  leftSteps = mostSteps = stepsPerByte * textBytes + spareSteps;
}

int Pattern::run(std::string_view text, const Attempt &attempt) const {
  size_t end = attempt.end(text);
  pcre2_set_match_limit(context.get(), attempt.backtracks);
  pcre2_set_offset_limit(context.get(), attempt.from + attempt.starts - 1);
  uint32_t options = end < text.size() ? PCRE2_PARTIAL_HARD : 0;
  auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  if (isJit)
    return pcre2_jit_match(code.get(), subject, end, attempt.from, options,
                           data.get(), context.get());
  return pcre2_match(code.get(), subject, end, attempt.from,
                     options | PCRE2_NO_UTF_CHECK, data.get(), context.get());
}

bool Pattern::find(std::string_view text, size_t from, Match &match) const {
  Attempt attempt{from};
  for (;;) {
    int found = run(text, attempt);
    const size_t *bounds = pcre2_get_ovector_pointer(data.get());
    bool isStart = found >= 0 || found == PCRE2_ERROR_PARTIAL;
    size_t tried = isStart ? bounds[0] - attempt.from + 1 : attempt.starts;
    size_t steps = attempt.steps(text, tried);
    if (steps > leftSteps)
      refuse(text, concat("it takes more than ", mostSteps, " steps"));
    leftSteps -= steps;
    if (found >= 0) {
      match = {bounds[0], bounds[1]};
      return true;
    }
    bool mayRetry = attempt.backtracks < Attempt::mostBacktracks;
    if (found == PCRE2_ERROR_PARTIAL)
      attempt.look(bounds[0]);
    else if (found == PCRE2_ERROR_MATCHLIMIT && mayRetry)
      attempt.backtrack();
    else if (found != PCRE2_ERROR_NOMATCH)
      refuse(text, messageOf(found));
    else if (!attempt.moveOn(text))
      return false;
  }
}

void Pattern::refuse(std::string_view text, const std::string &why) const {
  fail(TSR_UNSUPPORTED, name, " cannot be matched against a text of ",
       text.size(), " bytes: ", why, "; split the text into shorter documents");
}

} // namespace tessera
