#include "runtime/support/JsonLimits.h"

#include "runtime/support/Status.h"

namespace tessera {

using nlohmann::json;

namespace {
/// Builds a tree of what the parser finds, within limits. The library's own
/// builder returns a value, which it may have to destroy, and where it asks a
/// function its time grows with the square of an array.
class TreeBuilder final : public nlohmann::json_sax<json> {
public:
  TreeBuilder(json &root, const std::string &source, const JsonLimits &limits)
      : root(root), source(source), limits(limits) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(int64_t value) override { return put(value); }
  bool number_unsigned(uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string &) override {
    return put(value);
  }
  bool string(std::string &value) override { return put(std::move(value)); }
  bool binary(json::binary_t &) override { return false; } // not in texts
  bool start_object(size_t) override { return open(json::value_t::object); }
  bool start_array(size_t) override { return open(json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string &name) override {
    count();
    if (limits.repeated == RepeatedKey::Refused &&
        containers.back()->contains(name))
      fail(TSR_CORRUPT, source, " has '", name, "' twice; write it anew");
    member = &(*containers.back())[name];
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const json::exception &error) override {
    fail(TSR_CORRUPT, source, " is not JSON: ", error.what());
  }

private:
  void count() {
    if (++values > limits.values)
      fail(TSR_CORRUPT, source, " has more than ", limits.values, " values");
  }
  /// Where the next value belongs. A key that comes twice has the last one.
  json &place() {
    if (containers.empty())
      return root;
    if (containers.back()->is_array())
      return containers.back()->emplace_back();
    dismantle(*member);
    return *member;
  }
  bool put(json value) {
    count();
    place() = std::move(value);
    return true;
  }
  bool open(json::value_t type) {
    if (containers.size() >= static_cast<size_t>(limits.depth))
      fail(TSR_CORRUPT, source, " nests arrays and objects more than ",
           limits.depth, " deep");
    count();
    json &container = place();
    container = json(type);
    containers.push_back(&container);
    return true;
  }
  bool close() {
    containers.pop_back();
    return true;
  }

  json &root;
  const std::string &source;
  const JsonLimits &limits;
  std::vector<json *> containers; ///< that are open, the innermost last
  json *member = nullptr;         ///< of the innermost object
  size_t values = 0;
};
} // namespace

JsonTree parseJson(const std::string &source, const char *begin,
                   const char *end, const JsonLimits &limits) {
  auto bytes = static_cast<size_t>(end - begin);
  if (bytes > limits.bytes)
    fail(TSR_CORRUPT, source, " has ", bytes, " bytes, at most ", limits.bytes,
         " are read");
  JsonTree tree(JsonTree::Type::null);
  TreeBuilder builder(tree.root, source, limits);
  json::sax_parse(begin, end, &builder);
  return tree;
}

JsonTree parseJson(const std::string &source, const char *begin,
                   const char *end) {
  return parseJson(source, begin, end, {SIZE_MAX, INT32_MAX, SIZE_MAX});
}

std::string writeJson(const json &value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

} // namespace tessera
