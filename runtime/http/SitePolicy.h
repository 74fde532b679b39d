//===- SitePolicy.h - whose pages may ask -----------------------*- C++ -*-===//
// A browser sends requests of any page, also to this machine, and says in Host,
// Origin and Sec-Fetch-Site whose they are.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HTTP_SITEPOLICY_H
#define TESSERA_RUNTIME_HTTP_SITEPOLICY_H

#include "runtime/http/RequestReader.h"

namespace tessera::http {

class SitePolicy {
public:
  /// Throws std::invalid_argument if a name or an origin is none.
  explicit SitePolicy(const HttpOptions &options);

  /// Returns why a request is refused.
  Refusal check(const RequestReader &reader) const;
  /// Returns the headers by which an allowed page of another site may read the
  /// answer, and send requests of `methods` (CORS); none for all others.
  HttpHeaders headersFor(const HttpRequest &request,
                         const std::string &methods) const;

private:
  bool isOwnHost(std::string_view host) const;
  bool isAllowed(std::string_view origin) const;

  std::vector<std::string> hosts, origins;
};

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_SITEPOLICY_H
