//===- serve.cpp - a model behind HTTP, for clients of OpenAI's API -------===//
// The generator's thread steps. Each request that runs has a thread of its own,
// which waits for its tokens, and cancels it when the client has gone.
//===----------------------------------------------------------------------===//
#include <serve-page.h>
#include <tessera/completions.hpp>
#include <tessera/http.hpp>
#include <tessera/printable.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <malloc.h>
#include <map>
#include <sstream>
#include <system_error>

using tessera::Completion, tessera::CompletionError, tessera::CompletionModel,
    tessera::HttpAnswer, tessera::HttpError, tessera::HttpRequest;

/// The JSON of a larger body is read alone: it takes many times its size.
constexpr std::size_t kSmallBody = 16 << 10;

std::unique_ptr<Completion> read(const CompletionModel &model,
                                 const std::string &body) {
  if (body.size() <= kSmallBody)
    return std::make_unique<Completion>(model, body);
  static std::mutex isReading;
  std::lock_guard<std::mutex> alone(isReading);
  struct Trim {
    ~Trim() { malloc_trim(0); }
  } before; // the next is read
  return std::make_unique<Completion>(model, body);
}

/// Sends parts as events, as they come.
void stream(Completion &completion, HttpAnswer &answer) {
  constexpr std::chrono::milliseconds patience(50);
  bool isRead = true;
  answer.begin(200, "text/event-stream");
  while (isRead && answer.isAwaited() && !completion.hasEnded()) {
    completion.wait(patience);
    if (completion.hasNews() && completion.failure().empty())
      isRead = answer.write("data: " + completion.part() + "\n\n");
  }
  if (!completion.hasEnded())
    return; // without an end: the client has gone, or the server stops
  if (const std::string failure = completion.failure(); !failure.empty())
    answer.write("data: " + CompletionError::body(500, failure) + "\n\n");
  answer.write("data: [DONE]\n\n");
  answer.end();
}

/// The status of a text as a whole is known with its first token.
void sendWhole(Completion &completion, HttpAnswer &answer) {
  constexpr std::chrono::milliseconds patience(50);
  while (answer.isAwaited() && !completion.hasBegun())
    completion.wait(patience);
  if (!completion.failure().empty())
    throw CompletionError(500, completion.failure());
  answer.begin(200, "application/json");
  while (answer.isAwaited() && !completion.hasEnded())
    completion.wait(patience);
  if (!completion.hasEnded() || !completion.failure().empty())
    return; // without an end
  answer.write(completion.part());
  answer.end();
}

/// Parameters such as a charset may follow a type, which has no case.
bool isJson(std::string type) {
  type = type.substr(0, type.find(';'));
  type.resize(type.find_last_not_of(" \t") + 1);
  const std::string wanted = "application/json";
  return std::equal(
      type.begin(), type.end(), wanted.begin(), wanted.end(),
      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

void complete(const CompletionModel &model, HttpRequest &request,
              HttpAnswer answer) {
  // No page of another site may send this type.
  const std::string type = request.header("Content-Type");
  if (!isJson(type))
    throw CompletionError(415, "the Content-Type must be application/json");
  const std::unique_ptr<Completion> completion = read(model, request.body);
  request.body = std::string();
  if (completion->isStream())
    return stream(*completion, answer);
  sendWhole(*completion, answer);
}

void addRoutes(tessera::HttpServer &server, const CompletionModel &model) {
  server.page("/", "text/html; charset=utf-8", kPage);
  server.page("/v1/models", "application/json", model.list());
  server.route(
      "POST", "/v1/completions", [&](HttpRequest &request, HttpAnswer answer) {
        try {
          complete(model, request, answer);
        } catch (const std::exception &error) {
          throw HttpError(CompletionError::statusOf(error), error.what());
        }
      });
}

tessera::HttpErrorBody errorBody(int status, const std::string &why) {
  const std::string there =
      why == "there is nothing at this path"
          ? ": there are GET /, GET /v1/models and POST /v1/completions"
          : "";
  return {"application/json", CompletionError::body(status, why + there)};
}

/// Options by name; each is taken once.
class Options {
public:
  Options(int argc, char **argv) {
    if (argc < 3 || argc % 2 == 0)
      throw std::runtime_error(
          "usage: serve MODEL.tsr FOLDER [--host ADDRESS] [--port NUMBER] "
          "[--requests NUMBER] [--max-tokens NUMBER] [--name NAME] "
          "[--allow-host NAME[,NAME]..] [--allow-origin ORIGIN[,ORIGIN]..]");
    for (int i = 3; i < argc; i += 2)
      given[argv[i]] = argv[i + 1];
  }
  std::string text(const std::string &name, const std::string &standard) {
    auto found = given.extract(name);
    return found ? found.mapped() : standard;
  }
  int64_t number(const std::string &name, int64_t standard, int64_t least,
                 int64_t most) {
    const std::string value = text(name, std::to_string(standard));
    int64_t found = 0;
    const char *end = value.data() + value.size();
    const auto [read, error] = std::from_chars(value.data(), end, found);
    if (error != std::errc() || read != end || found < least || found > most)
      throw std::runtime_error(name + " must be a whole number from " +
                               std::to_string(least) + " to " +
                               std::to_string(most));
    return found;
  }
  /// Returns the parts between commas.
  std::vector<std::string> list(const std::string &name) {
    std::istringstream parts(text(name, ""));
    std::vector<std::string> found;
    for (std::string part; std::getline(parts, part, ',');)
      found.push_back(part);
    return found;
  }
  void finish() {
    if (!given.empty())
      throw std::runtime_error("unknown option '" + given.begin()->first + "'");
  }

private:
  std::map<std::string, std::string> given;
};

/// Returns the newest step of a directory of checkpoints, or the folder itself
/// if it is a model or holds no checkpoint.
std::string modelIn(const std::string &folder) {
  tsr_checkpoint *checkpoint = nullptr;
  if (std::filesystem::exists(folder + "/config.json") ||
      tsr_checkpoint_open(folder.c_str(), &checkpoint) != TSR_OK)
    return folder;
  const std::string step = tsr_checkpoint_path(checkpoint);
  tsr_checkpoint_destroy(checkpoint);
  return step;
}

std::atomic<bool> isEnding{false};

int listen(tessera::HttpServer &server, const tessera::HttpOptions &options) {
  try {
    return server.listen();
  } catch (const std::system_error &error) {
    throw std::runtime_error("cannot listen on " + options.address + ", port " +
                             std::to_string(options.port) + ": " +
                             error.what());
  }
}

/// Serves until a signal comes, or a step fails.
void run(tessera::HttpServer &server, tessera::TextGenerator &texts) {
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int) { isEnding = true; });
  std::thread listener([&] { server.run(); });
  while (!isEnding && texts.failure().empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  texts.stop();
  listener.join();
  if (!texts.failure().empty())
    throw std::runtime_error(texts.failure());
}

void serve(const std::string &file, const std::string &folder, Options &given) {
  tessera::HttpOptions options;
  options.port = static_cast<int>(given.number("--port", 8080, 0, 65535));
  options.address = given.text("--host", "127.0.0.1");
  options.hosts = given.list("--allow-host");
  options.origins = given.list("--allow-origin");
  options.errorBody = errorBody;
  const int64_t requests = given.number("--requests", 64, 1, 1024);
  const int64_t tokens = given.number("--max-tokens", 4096, 1, INT32_MAX);
  const std::string name = given.text("--name", folder);
  given.finish();
  // Some threads are for those that are refused.
  options.limits.workers = static_cast<int>(requests) + 8;
  options.limits.connections += requests;
  options.limits.memoryBytes = 12 << 20; // a body that is read takes more
  options.limits.pieceTime = std::chrono::seconds(10);
  tessera::HttpServer server(options);
  tessera::TextGenerator texts(tessera::Artifact(file), modelIn(folder));
  const CompletionModel model{name, requests, tokens, texts};
  std::fputs(model.notes().c_str(), stderr);
  addRoutes(server, model);
  const int port = listen(server, options);
  const bool isIPv6 = options.address.find(':') != std::string::npos;
  std::printf(isIPv6 ? "listening on http://[%s]:%d\n"
                     : "listening on http://%s:%d\n",
              options.address.c_str(), port);
  std::fflush(stdout);
  run(server, texts);
}

int main(int argc, char **argv) {
  // Else each thread keeps what its requests needed.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  try {
    Options options(argc, argv);
    serve(argv[1], argv[2], options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n",
                 tessera::printable(error.what()).c_str());
    return 1;
  }
}
