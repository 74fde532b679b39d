//===- LoraOptions.cpp - adapters as users write them ---------------------===//

#include "tessera/Options/LoraOptions.h"
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

using namespace tessera;

namespace {

constexpr const char *kRemedy = "write r=16,alpha=32,targets=q_proj,v_proj";

/// Reads a number, which must be the whole text.
bool readNumber(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(value);
}

std::string refuse(const std::string &key, const std::string &must,
                   const std::string &text) {
  return "--lora: " + key + " must be " + must + ", but is '" + text + "'";
}

std::string readRank(const std::string &text, int64_t &rank) {
  constexpr int64_t most = int64_t(1) << 20;
  char *end = nullptr;
  errno = 0;
  rank = std::strtoll(text.c_str(), &end, 10);
  bool isNumber = !text.empty() && !*end && !errno;
  return isNumber && rank >= 1 && rank <= most
             ? ""
             : refuse("r", "a whole number from 1 to " + std::to_string(most),
                      text);
}

std::string readKey(const std::string &key, const std::string &text,
                    LoraOptions &lora) {
  if (key == "r")
    return readRank(text, lora.rank);
  if (key == "alpha")
    return readNumber(text, lora.alpha) && lora.alpha > 0
               ? ""
               : refuse(key, "a number above 0", text);
  if (key == "dropout")
    return readNumber(text, lora.dropout) && lora.dropout >= 0 &&
                   lora.dropout < 1
               ? ""
               : refuse(key, "a number from 0 to below 1", text);
  if (key != "targets")
    return "--lora: unknown key '" + key +
           "'; use r, alpha, dropout and targets";
  lora.targets.push_back(text);
  return text.empty()
             ? "--lora: a name of targets is empty; " + std::string(kRemedy)
             : "";
}

} // namespace

/// Parses options; a word without '=' goes on with the names of targets.
std::string LoraOptions::parse(const std::string &text) {
  constexpr int64_t usualRank = 8;
  *this = {};
  rank = usualRank;
  if (text.empty()) {
    rank = 0;
    return "";
  }
  std::istringstream stream(text);
  std::string last;
  std::set<std::string> given;
  for (std::string part; std::getline(stream, part, ',');) {
    size_t equals = part.find('=');
    bool hasKey = equals != std::string::npos;
    if (!hasKey && last != "targets")
      return "--lora: '" + part + "' is no KEY=VALUE; " + kRemedy;
    last = hasKey ? part.substr(0, equals) : last;
    if (hasKey && !given.insert(last).second)
      return "--lora gives " + last + " twice; leave out one of the two";
    if (std::string why =
            readKey(last, hasKey ? part.substr(equals + 1) : part, *this);
        !why.empty())
      return why;
  }
  return targets.empty()
             ? "--lora names no targets; give the linear layers that get "
               "adapters, e.g. targets=q_proj,v_proj or targets=" +
                   std::string(kAllLinear)
             : "";
}

std::string LoraOptions::str() const {
  if (!isGiven())
    return "";
  std::ostringstream text;
  text << "r=" << rank << ",alpha=" << alpha;
  if (dropout > 0)
    text << ",dropout=" << dropout;
  for (size_t k = 0; k < targets.size(); ++k)
    text << (k == 0 ? ",targets=" : ",") << targets[k];
  return text.str();
}
