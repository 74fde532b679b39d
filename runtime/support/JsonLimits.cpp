#include "runtime/support/JsonLimits.h"

#include "runtime/support/Status.h"

namespace tessera {

using nlohmann::json;

json parseJson(const std::string &source, const char *begin, const char *end,
               const JsonLimits &limits) {
  auto bytes = static_cast<size_t>(end - begin);
  if (bytes > limits.bytes)
    fail(TSR_CORRUPT, source, " has ", bytes, " bytes, at most ", limits.bytes,
         " are read");
  size_t values = 0;
  auto count = [&](int depth, json::parse_event_t event, json &) {
    using Event = json::parse_event_t;
    bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= limits.depth)
      fail(TSR_CORRUPT, source, " nests arrays and objects more than ",
           limits.depth, " deep");
    bool isNew = opens || event == Event::value || event == Event::key;
    if (isNew && ++values > limits.values)
      fail(TSR_CORRUPT, source, " has more than ", limits.values, " values");
    return true;
  };
  try {
    return json::parse(begin, end, count);
  } catch (const json::exception &error) {
    fail(TSR_CORRUPT, source, " is not JSON: ", error.what());
  }
}

std::string writeJson(const json &value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

} // namespace tessera
