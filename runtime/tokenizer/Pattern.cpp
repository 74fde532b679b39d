#include "runtime/tokenizer/Pattern.h"

#include "runtime/support/Status.h"

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
  int error = 0;
  size_t offset = 0;
  pcre2_code *code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK, &error, &offset,
      settings.get());
  if (!code)
    fail(TSR_CORRUPT, where, " is no regular expression: ", messageOf(error),
         " at byte ", offset, " of '", expression, "'");
  return code;
}

Pattern::Pattern(const std::string &expression, const std::string &where,
                 Translated)
    : name(where), code(compile(expression, where)),
      data(pcre2_match_data_create(1, nullptr)),
      context(pcre2_match_context_create(nullptr)) {
  requireMemory(data.get());
  requireMemory(context.get());
  isJit = pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) == 0;
  if (!isJit)
    return;
  constexpr size_t first = 1 << 15, most = 1 << 26;
  stack.reset(pcre2_jit_stack_create(first, most, nullptr));
  requireMemory(stack.get());
  pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
}

bool Pattern::find(std::string_view text, size_t from, Match &match) const {
  auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int found = isJit
                  ? pcre2_jit_match(code.get(), subject, text.size(), from, 0,
                                    data.get(), context.get())
                  : pcre2_match(code.get(), subject, text.size(), from,
                                PCRE2_NO_UTF_CHECK, data.get(), context.get());
  if (found < 0) {
    if (found != PCRE2_ERROR_NOMATCH)
      refuse(text, found);
    return false;
  }
  const size_t *bounds = pcre2_get_ovector_pointer(data.get());
  match = {bounds[0], bounds[1]};
  return true;
}

void Pattern::refuse(std::string_view text, int code) const {
  fail(TSR_UNSUPPORTED, name, " cannot be matched against a text of ",
       text.size(), " bytes: ", messageOf(code),
       "; split the text into shorter documents");
}

} // namespace tessera
