#include "runtime/support/JsonLimits.h"

#include "runtime/support/Status.h"

namespace tessera {

JsonTree parseJson(const std::string &source, std::string_view text,
                   const JsonLimits &limits) {
  JsonTree tree(JsonTree::Type::null);
  JsonTreeBuilder builder(tree.root);
  if (std::optional<JsonProblem> problem = readJson(text, limits, builder))
    fail(TSR_CORRUPT, source, problem->isSyntax ? " is not JSON: " : ": ",
         problem->text());
  return tree;
}

std::string readJsonText(const InputFile &file, const JsonLimits &limits) {
  if (file.size() > limits.bytes)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(), " bytes; ",
         limits.what, " has at most ", limits.bytes);
  return file.readAll();
}

std::string writeJson(const nlohmann::json &value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

} // namespace tessera
