#include "runtime/cuda/products/ProductChoices.h"

#include "runtime/support/Status.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tessera::cuda {

namespace {
constexpr int formatVersion = 1;
using Json = nlohmann::json;
} // namespace

ProductChoices::ProductChoices(std::string path, std::string place)
    : file(std::move(path)), place(std::move(place)) {
  if (access(file.c_str(), F_OK) == 0)
    read();
}

ProductChoices *ProductChoices::ofProcess(const std::string &place) {
  const char *path = std::getenv("TESSERA_PRODUCTS");
  if (!path || !*path)
    return nullptr;
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>,
                  std::unique_ptr<ProductChoices>>
      all;
  std::lock_guard<std::mutex> lock(mutex);
  auto &slot = all[{path, place}];
  if (!slot)
    slot = std::make_unique<ProductChoices>(path, place);
  return slot.get();
}

void ProductChoices::read() {
  std::ifstream stream(file);
  if (!stream)
    fail(TSR_IO, "cannot read '", file,
         "' (TESSERA_PRODUCTS): ", std::strerror(errno));
  const Json json = Json::parse(stream, nullptr, false);
  try {
    if (json.is_discarded() || json.at("format") != formatVersion)
      fail(TSR_CORRUPT, "'", file,
           "' (TESSERA_PRODUCTS) is no file of choices "
           "in format ",
           formatVersion, "; name a new file");
    if (json.at("place") != place)
      fail(TSR_MISMATCH, "'", file, "' (TESSERA_PRODUCTS) was measured for ",
           json.at("place").get<std::string>(), ", this is ", place,
           "; name a new file");
    for (const Json &each : json.at("products"))
      choices[each.at("key").get<Key>()] = {
          each.at("epilogue").get<bool>(),
          each.at("algorithm").get<std::array<uint64_t, 8>>()};
  } catch (const Json::exception &error) {
    fail(TSR_CORRUPT, "'", file, "' (TESSERA_PRODUCTS): ", error.what(),
         "; name a new file");
  }
}

bool ProductChoices::has(const Key &key) const {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  return choices.count(key) != 0;
}

ProductChoice
ProductChoices::get(const Key &key,
                    const std::function<ProductChoice()> &measure) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  auto found = choices.find(key);
  if (found != choices.end())
    return found->second;
  isNew = true;
  return choices[key] = measure();
}

void ProductChoices::save() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (!isNew)
    return;
  Json products = Json::array();
  for (const auto &[key, choice] : choices)
    products.push_back({{"key", key},
                        {"epilogue", choice.hasEpilogue},
                        {"algorithm", choice.algorithm}});
  const std::string text = Json{
      {"format", formatVersion},
      {"place", place},
      {"products", products}}.dump(1);
  const std::string partial = file + "." + std::to_string(getpid());
  std::ofstream stream(partial);
  stream << text << "\n";
  stream.close();
  if (!stream || std::rename(partial.c_str(), file.c_str()) != 0)
    fail(TSR_IO, "cannot write '", file,
         "' (TESSERA_PRODUCTS): ", std::strerror(errno));
  isNew = false;
}

} // namespace tessera::cuda
