#include "runtime/support/JsonLimits.h"

#include "runtime/support/Status.h"

namespace tessera {

using nlohmann::json;

namespace {
/// Counts what a text holds and keeps none of it. (The parser can ask a
/// function while it keeps values, but then its time grows with the square of
/// an array.)
class LimitCheck : public nlohmann::json_sax<json> {
public:
  LimitCheck(const std::string &source, const JsonLimits &limits)
      : source(source), limits(limits) {}

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t &) override {
    return count();
  }
  bool string(string_t &) override { return count(); }
  bool binary(binary_t &) override { return count(); }
  bool key(string_t &) override { return count(); }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return --depth >= 0; }
  bool end_array() override { return --depth >= 0; }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &) override {
    return false;
  }

private:
  bool count() {
    if (++values > limits.values)
      fail(TSR_CORRUPT, source, " has more than ", limits.values, " values");
    return true;
  }
  bool open() {
    if (++depth > limits.depth)
      fail(TSR_CORRUPT, source, " nests arrays and objects more than ",
           limits.depth, " deep");
    return count();
  }

  const std::string &source;
  const JsonLimits &limits;
  size_t values = 0;
  int depth = 0;
};
} // namespace

json parseJson(const std::string &source, const char *begin, const char *end,
               const JsonLimits &limits) {
  auto bytes = static_cast<size_t>(end - begin);
  if (bytes > limits.bytes)
    fail(TSR_CORRUPT, source, " has ", bytes, " bytes, at most ", limits.bytes,
         " are read");
  LimitCheck check(source, limits);
  json::sax_parse(begin, end, &check); // what is no JSON fails below
  return parseJson(source, begin, end);
}

std::string writeJson(const json &value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

} // namespace tessera
