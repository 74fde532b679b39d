//===- SitePolicyTest.cpp - whose pages may ask ---------------------------===//

#include "runtime/http/SitePolicy.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

int statusOf(const HttpOptions &options, const std::string &headers) {
  http::RequestReader reader(options.limits);
  reader.take("GET / HTTP/1.1\r\n" + headers + "\r\n");
  EXPECT_TRUE(reader.isWhole()) << headers;
  return http::SitePolicy(options).check(reader).status;
}

TEST(SitePolicy, KnowsItsHosts) {
  HttpOptions options;
  options.address = "models.local";
  options.hosts = {"models.example.org"};
  for (const char *host :
       {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "[::1]",
        "[::1]:8080", "192.0.2.7:8080", "[2001:db8::1]", "models.local:8080",
        "Models.Example.Org"})
    EXPECT_EQ(statusOf(options, "Host: " + std::string(host) + "\r\n"), 0)
        << host;
  // A page whose name was made to lead to this machine sends such a name.
  for (const char *host : {"evil.example",
                           "evil.example:8080",
                           "127.0.0.1.evil.example",
                           "localhost.evil.example",
                           "127.0.0.1:80x",
                           "127.0.0.1:",
                           "localhost:",
                           "localhost:123456",
                           "evil.example/127.0.0.1",
                           "127.1",
                           "0x7f000001",
                           "::1",
                           "[::1",
                           "[evil]",
                           "user@localhost",
                           "localhost evil",
                           "",
                           "example.org",
                           "xmodels.example.org",
                           "models.example.org.evil"})
    EXPECT_EQ(statusOf(options, "Host: " + std::string(host) + "\r\n"), 403)
        << host;
  EXPECT_EQ(statusOf(options, ""), 400);
  EXPECT_EQ(statusOf(options, "Host: localhost\r\nHost: localhost\r\n"), 400);
  EXPECT_EQ(statusOf(options, "Host: localhost\r\nhost: evil\r\n"), 400);
}

TEST(SitePolicy, RefusesPagesOfOtherSites) {
  HttpOptions options;
  options.origins = {"https://chat.example.org"};
  const std::string host = "Host: localhost:8080\r\n";
  auto with = [&](const std::string &headers) {
    return statusOf(options, host + headers + "\r\n");
  };
  for (const char *headers :
       {"Origin: http://localhost:8080", "Origin: https://localhost:8080",
        "Origin: https://chat.example.org", "Sec-Fetch-Site: same-origin",
        "Sec-Fetch-Site: none",
        "Sec-Fetch-Site: same-site\r\n"
        "Sec-Fetch-Mode: navigate",
        "Origin: https://chat.example.org\r\nSec-Fetch-Site: cross-site"})
    EXPECT_EQ(with(headers), 0) << headers;
  for (const char *headers :
       {"Origin: null", "Origin: ", "Origin: http://evil.example",
        "Origin: http://localhost", "Origin: http://localhost:3000",
        "Origin: http://localhost:8080.evil.example",
        "Origin: http://localhost:8080/", "Origin: ftp://localhost:8080",
        "Origin: http://chat.example.org",
        "Origin: https://chat.example.org.evil",
        "Origin: http://localhost:8080\r\nOrigin: http://evil.example",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate",
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors"})
    EXPECT_EQ(with(headers), 403) << headers;
}

TEST(SitePolicy, RefusesOptionsThatNameNothing) {
  for (const char *host : {"", "http://name", "name:80", "a b", "*"}) {
    HttpOptions options;
    options.hosts = {host};
    EXPECT_THROW(http::SitePolicy{options}, std::invalid_argument) << host;
  }
  for (const char *origin : {"", "null", "*", "example.org",
                             "https://example.org/", "https://", "ftp://a"}) {
    HttpOptions options;
    options.origins = {origin};
    EXPECT_THROW(http::SitePolicy{options}, std::invalid_argument) << origin;
  }
}

} // namespace
