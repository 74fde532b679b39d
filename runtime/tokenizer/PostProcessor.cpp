#include "runtime/tokenizer/PostProcessor.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/TokenTable.h"

namespace tessera {

static int32_t idIn(const JsonView &view) {
  return static_cast<int32_t>(view.integer(0, TokenTable::mostIds - 1));
}

/// Reads ["token", id].
static int32_t idOfPair(const JsonView &pair) {
  std::vector<JsonView> items = pair.items();
  if (items.size() != 2)
    pair.refuse("must be a token and its id");
  items[0].text();
  return idIn(items[1]);
}

/// Tokens around a text: published files have less than ten. A template may
/// name a list of ids again and again.
static constexpr size_t mostTokens = 1024;

static void requireFew(const JsonView &part, size_t tokens) {
  if (tokens > mostTokens)
    refusePart(part, concat("adds ", tokens, " tokens or more around a text, ",
                            "at most ", mostTokens, " are added"));
}

/// Reads [{"SpecialToken": {"id": "[CLS]", ..}}, {"Sequence": {"id": "A", ..}},
/// ..].
static PostProcessor readTemplate(const JsonView &part) {
  requireKeys(part, {"type", "single", "pair", "special_tokens"});
  PostProcessor result;
  bool hasText = false;
  for (const JsonView &item : part.at("single").items()) {
    requireKeys(item, {"SpecialToken", "Sequence"});
    if (item.has("Sequence")) {
      if (hasText || item.at("Sequence").at("id").text() != "A")
        refusePart(item, "is a second text, supported is one, 'A'");
      hasText = true;
      continue;
    }
    const std::string &name = item.at("SpecialToken").at("id").text();
    JsonView ids = part.at("special_tokens").at(name.c_str()).at("ids");
    requireFew(part,
               result.before.size() + result.after.size() + ids.raw().size());
    for (const JsonView &id : ids.items())
      (hasText ? result.after : result.before).push_back(idIn(id));
  }
  if (!hasText)
    refusePart(part.at("single"), "has no place for the text");
  return result;
}

static PostProcessor readProcessor(const JsonView &part) {
  std::string type = typeOf(part);
  if (type == "TemplateProcessing")
    return readTemplate(part);
  PostProcessor result;
  if (type == "Sequence") {
    requireKeys(part, {"type", "processors"});
    for (const JsonView &item : part.at("processors").items()) {
      PostProcessor inner = readProcessor(item);
      result.before.insert(result.before.begin(), inner.before.begin(),
                           inner.before.end());
      result.after.insert(result.after.end(), inner.after.begin(),
                          inner.after.end());
      requireFew(part, result.before.size() + result.after.size());
    }
  } else if (type == "ByteLevel") { // is about offsets alone
    requireKeys(part,
                {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    requireKeys(part,
                {"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    result.before = {idOfPair(part.at("cls"))};
    result.after = {idOfPair(part.at("sep"))};
  } else
    refusePart(part, concat("is of type '", type,
                            "', which is no post-processor that is supported"));
  return result;
}

PostProcessor readPostProcessor(const JsonView &part) {
  requireFewValues(part, size_t(1) << 16);
  return readProcessor(part);
}

} // namespace tessera
