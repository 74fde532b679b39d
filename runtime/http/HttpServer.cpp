//===- HttpServer.cpp - the public classes of the server ------------------===//

#include "runtime/http/ServerCore.h"

using namespace tessera;

/// Ends the answer where no copy is left.
struct HttpAnswer::Handle {
  explicit Handle(std::shared_ptr<http::Exchange> exchange)
      : exchange(std::move(exchange)) {}
  ~Handle() { exchange->abandon(); }
  const std::shared_ptr<http::Exchange> exchange;
};

HttpAnswer::HttpAnswer(std::shared_ptr<http::Exchange> exchange)
    : handle(std::make_shared<Handle>(std::move(exchange))) {}

void HttpAnswer::send(int status, std::string_view type, std::string_view body,
                      const HttpHeaders &headers) {
  handle->exchange->send(status, type, body, headers);
}

void HttpAnswer::fail(int status, const std::string &why) {
  handle->exchange->fail(status, why);
}

void HttpAnswer::begin(int status, std::string_view type,
                       const HttpHeaders &headers) {
  handle->exchange->begin(status, type, headers);
}

bool HttpAnswer::write(std::string_view part) {
  return handle->exchange->write(part);
}

void HttpAnswer::end() { handle->exchange->end(); }

bool HttpAnswer::isAwaited() const { return handle->exchange->isAwaited(); }

void HttpAnswer::whenGone(std::function<void()> left) {
  handle->exchange->whenGone(std::move(left));
}

HttpServer::HttpServer(HttpOptions options)
    : core(std::make_unique<http::ServerCore>(std::move(options))) {}

HttpServer::~HttpServer() = default;

void HttpServer::route(const std::string &method, const std::string &path,
                       Handler handler) {
  core->routes[path][method].handler = std::move(handler);
}

void HttpServer::page(const std::string &path, const std::string &type,
                      std::string text) {
  core->routes[path]["GET"] = {
      nullptr, type, std::make_shared<const std::string>(std::move(text))};
}

int HttpServer::listen() { return core->listen(); }

void HttpServer::run() { core->run(); }

void HttpServer::stop() { core->stop(); }
