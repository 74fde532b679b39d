#include "runtime/collectives/process/Hello.h"

#include "runtime/support/CpuPath.h"
#include "runtime/support/JsonLimits.h"

#include <algorithm>
#include <cstring>

namespace tessera {

using nlohmann::json;

static constexpr auto lastPath = static_cast<int64_t>(CpuPath::Amx);
// Limits the part of a value of the other side that an error shows.
static constexpr size_t shownBytes = 200;

static JsonView viewOf(const JsonTree &tree, const char *source) {
  return JsonView(tree.root, source);
}

//===----------------------------------------------------------------------===//
// Hello
//===----------------------------------------------------------------------===//

std::string writeHello(const Hello &hello) {
  JsonTree tree(JsonTree::Type::object);
  json &root = tree.root;
  root["version"] = hello.version;
  root["rank"] = hello.rank;
  root["world"] = hello.world;
  root["port"] = hello.port;
  root["machine"] = hello.machine;
  json &pairs = root["agreement"] = JsonTree::Type::array;
  for (const auto &[name, value] : hello.agreement) {
    json &pair = pairs.emplace_back(JsonTree::Type::array);
    pair.push_back(name);
    pair.push_back(value);
  }
  root["network"] = hello.network;
  root["cpu"] = hello.processor.identity;
  root["cpu path"] = hello.processor.path;
  return writeJson(root);
}

static Agreement readAgreement(const JsonView &view) {
  Agreement agreement;
  for (const JsonView &item : view.items()) {
    std::vector<JsonView> pair = item.items();
    if (pair.size() != 2)
      item.refuse(concat("must be a name and a value, it has ", pair.size(),
                         " elements"));
    const std::string &name = pair[0].text();
    agreement.emplace_back(name, pair[1].text());
  }
  return agreement;
}

static int readPort(const JsonView &view) {
  return static_cast<int>(view.integer(1, 65535));
}

/// Returns "" if the side says nothing of it.
static std::string readNetwork(const JsonView &view) {
  return view.has("network") ? view.at("network").text() : "";
}

Hello readHello(const std::string &text) {
  const char *source = "the first message";
  JsonTree tree = parseJson(source, text, json_kinds::hello);
  JsonView view = viewOf(tree, source);
  Hello hello;
  hello.version = view.at("version").text();
  hello.rank = view.at("rank").integer(0, INT32_MAX);
  hello.world = view.at("world").integer(1, INT32_MAX);
  if (hello.version != TESSERA_VERSION)
    return hello;
  hello.port = readPort(view.at("port"));
  hello.machine = view.at("machine").text();
  hello.agreement = readAgreement(view.at("agreement"));
  hello.network = readNetwork(view);
  if (view.has("cpu"))
    hello.processor = {view.at("cpu path").integer(0, lastPath),
                       view.at("cpu").text()};
  return hello;
}

/// Returns a value as errors show it: quoted, of bounded length, without
/// controls.
static std::string shown(const std::string &text) {
  bool isLong = text.size() > shownBytes;
  return writeJson(isLong ? text.substr(0, shownBytes) + "..." : text);
}

static std::string differs(const Hello &theirs, const std::string &what,
                           const std::string &value, const std::string &own) {
  return concat("rank ", theirs.rank, " has ", what, " ", value,
                ", rank 0 has ", own,
                what == kProgramProcessor
                    ? "; compile one for both, or accept other bits on each "
                      "with --allow-mixed-cpus"
                    : "; start all processes alike");
}

std::string disagreement(const Hello &theirs, const Hello &own) {
  if (theirs.version != own.version)
    return differs(theirs, "version", shown(theirs.version),
                   shown(own.version));
  if (theirs.world != own.world)
    return differs(theirs, "a world size of", concat(theirs.world),
                   concat(own.world));
  const Agreement &a = theirs.agreement, &b = own.agreement;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size() || a[i].first != b[i].first)
      return differs(theirs, "as option",
                     i < a.size() ? shown(a[i].first) : "nothing",
                     i < b.size() ? shown(b[i].first) : "nothing");
    if (a[i].second != b[i].second)
      return differs(theirs, b[i].first, shown(a[i].second),
                     shown(b[i].second)) +
             ", with the same files";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

std::string writeTable(const Table &table) {
  JsonTree tree(JsonTree::Type::object);
  tree.root["cookie"] = table.cookie;
  json &processes = tree.root["processes"] = JsonTree::Type::array;
  for (const Table::Process &process : table.processes) {
    json &entry = processes.emplace_back(JsonTree::Type::object);
    entry["host"] = process.host;
    entry["port"] = process.port;
    entry["machine"] = process.machine;
    entry["network"] = process.network;
  }
  tree.root["mixed"] = table.processor.isMixed;
  tree.root["cpu path"] = table.processor.path;
  tree.root["cpu rank"] = table.processor.rank;
  return writeJson(tree.root);
}

std::string writeRefusal(const Status &why) {
  JsonTree tree(JsonTree::Type::object);
  tree.root["error"] = why.message;
  tree.root["code"] = static_cast<int>(why.code);
  return writeJson(tree.root);
}

static uint64_t readCookie(const JsonView &view) {
  if (!view.raw().is_number_unsigned())
    view.refuse(concat("must be a number, it is ", view.raw().type_name()));
  return view.raw().get<uint64_t>();
}

Table readTable(const std::string &text, int64_t world) {
  const char *source = "the rendezvous's answer";
  JsonTree tree = parseJson(source, text, json_kinds::rendezvous_table);
  JsonView view = viewOf(tree, source);
  if (view.has("error")) {
    const std::string &why = view.at("error").text();
    fail(static_cast<tsr_status>(
             view.at("code").integer(TSR_INVALID_ARGUMENT, TSR_INTERNAL)),
         why.empty() ? "rank 0 refuses this process without a reason" : why);
  }
  Table table;
  table.cookie = readCookie(view.at("cookie"));
  for (const JsonView &item : view.at("processes").items())
    table.processes.push_back({item.at("host").text(),
                               readPort(item.at("port")),
                               item.at("machine").text(), readNetwork(item)});
  if (view.has("mixed"))
    table.processor = {view.at("mixed").boolean(),
                       view.at("cpu path").integer(0, lastPath),
                       view.at("cpu rank").integer(0, INT32_MAX)};
  if (static_cast<int64_t>(table.processes.size()) != world)
    view.at("processes")
        .refuse(concat("has ", table.processes.size(), " elements, there are ",
                       world, " processes"));
  return table;
}

//===----------------------------------------------------------------------===//
// Greeting
//===----------------------------------------------------------------------===//

std::string writeGreeting(const Greeting &greeting) {
  return std::string(reinterpret_cast<const char *>(&greeting),
                     sizeof greeting);
}

Greeting readGreeting(const std::string &bytes) {
  Greeting greeting;
  if (bytes.size() != sizeof greeting)
    fail(TSR_CORRUPT, "a greeting has ", sizeof greeting, " bytes, this has ",
         bytes.size());
  std::memcpy(&greeting, bytes.data(), sizeof greeting);
  return greeting;
}

} // namespace tessera
