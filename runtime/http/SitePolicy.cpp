//===- SitePolicy.cpp - whose pages may ask -------------------------------===//

#include "runtime/http/SitePolicy.h"
#include <algorithm>
#include <arpa/inet.h>

using namespace tessera;
using namespace tessera::http;

static bool isAddress(const std::string &text) {
  in6_addr address;
  if (text.size() > 2 && text.front() == '[' && text.back() == ']')
    return inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(),
                     &address) == 1;
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

static bool isHostName(std::string_view name) {
  return !name.empty() && name.size() < 254 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
         });
}

/// Removes ":80" from the end; false: what follows ':' is no port.
static bool removePort(std::string_view &host) {
  const std::size_t colon = host.rfind(':');
  if (colon == host.npos || host.find(']', colon) != host.npos)
    return true; // the colon is in an address of IPv6
  const std::string_view port = host.substr(colon + 1);
  host = host.substr(0, colon);
  return !port.empty() && port.size() <= 5 &&
         port.find_first_not_of("0123456789") == port.npos;
}

static bool isOrigin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.substr(0, scheme.size()) == scheme) {
      std::string_view host = origin.substr(scheme.size());
      return removePort(host) &&
             (isHostName(host) || isAddress(std::string(host)));
    }
  return false;
}

SitePolicy::SitePolicy(const HttpOptions &options)
    : hosts(options.hosts), origins(options.origins) {
  for (const std::string &host : hosts)
    if (!isHostName(host))
      throw std::invalid_argument("'" + host +
                                  "' is no name of a host; give a name alone, "
                                  "such as models.example.org");
  for (const std::string &origin : origins)
    if (!isOrigin(origin))
      throw std::invalid_argument("'" + origin +
                                  "' is no origin of pages; give one such as "
                                  "https://chat.example.org");
  hosts.push_back("localhost");
  if (isHostName(options.address))
    hosts.push_back(options.address);
}

bool SitePolicy::isOwnHost(std::string_view host) const {
  if (!removePort(host))
    return false;
  auto isThis = [&](const std::string &each) { return isSameText(each, host); };
  return isAddress(std::string(host)) ||
         std::any_of(hosts.begin(), hosts.end(), isThis);
}

bool SitePolicy::isAllowed(std::string_view origin) const {
  return std::any_of(
      origins.begin(), origins.end(),
      [&](const std::string &each) { return isSameText(each, origin); });
}

Refusal SitePolicy::check(const RequestReader &reader) const {
  const HttpRequest &request = reader.request;
  const std::string host = request.header("Host");
  if (reader.count("Host") != 1)
    return {400, "the header Host must be there once"};
  if (!isOwnHost(host))
    return {403, "the header Host must be localhost, an address, or a name "
                 "that the server was given"};
  const std::string origin = request.header("Origin");
  const bool hasOrigin = reader.count("Origin") > 0;
  if (reader.count("Origin") == 1 && isAllowed(origin))
    return {};
  const bool isOwn = isSameText(origin, "http://" + host) ||
                     isSameText(origin, "https://" + host);
  // An address that is typed or a link is no question of a page's script.
  const std::string site = request.header("Sec-Fetch-Site");
  const bool isRead = request.method == "GET" || request.method == "HEAD";
  const bool isNear = isRead && isSameText(site, "same-site") &&
                      isSameText(request.header("Sec-Fetch-Mode"), "navigate");
  const bool isFar = !site.empty() && !isSameText(site, "same-origin") &&
                     !isSameText(site, "none") && !isNear;
  if (reader.count("Origin") > 1 || (hasOrigin && !isOwn) || isFar)
    return {403, "pages of other sites may not ask"};
  return {};
}

HttpHeaders SitePolicy::headersFor(const HttpRequest &request,
                                   const std::string &methods) const {
  const std::string origin = request.header("Origin");
  if (!isAllowed(origin))
    return {};
  HttpHeaders headers = {{"Access-Control-Allow-Origin", origin},
                         {"Vary", "Origin"}};
  if (request.method == "OPTIONS") {
    headers.emplace_back("Access-Control-Allow-Methods", methods);
    headers.emplace_back("Access-Control-Allow-Headers",
                         "Authorization, Content-Type");
    headers.emplace_back("Access-Control-Max-Age", "600");
  }
  return headers;
}
