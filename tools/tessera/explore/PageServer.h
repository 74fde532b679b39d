//===- PageServer.h - a page and its questions over HTTP --------*- C++ -*-===//
// Plain data: the library behind it uses exceptions, MLIR has none.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_EXPLORE_PAGESERVER_H
#define TESSERA_TOOLS_TESSERA_EXPLORE_PAGESERVER_H

#include <functional>
#include <string>

namespace tessera {

/// Returns whether somebody still waits for an answer. Asked several times a
/// second.
using IsAwaited = std::function<bool()>;

struct PageService {
  std::string page; ///< HTML.
  /// Answers a body of JSON with JSON. Called from several threads.
  std::function<std::string(const std::string &body, const IsAwaited &)> answer;
};

/// Serves to browsers of this machine until SIGINT or SIGTERM: on 127.0.0.1, at
/// `port` or, if that is 0, any free one, below a path that nobody can guess.
/// `ready` is told the address of the page. Returns what went wrong, or "".
std::string servePage(const PageService &service, int port,
                      const std::function<void(const std::string &)> &ready);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_EXPLORE_PAGESERVER_H
