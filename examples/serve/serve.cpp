//===- serve.cpp - a model behind HTTP, for clients of OpenAI's API -------===//
// The generator's thread steps. Each connection has one of its own, which waits
// for the tokens of its request, and cancels it when the client has gone.
//===----------------------------------------------------------------------===//
#include <serve-page.h>
#include <tessera/completions.hpp>

#include <httplib.h>

#include <charconv>
#include <csignal>
#include <filesystem>

using tessera::Completion, tessera::CompletionError, tessera::CompletionModel;

/// The status of a text as a whole is known with its first token; that its
/// client has gone is noticed after that.
void send(const std::shared_ptr<Completion> &completion,
          httplib::Response &response) {
  constexpr std::chrono::milliseconds patience(50);
  const bool isStream = completion->isStream();
  while (!isStream && !completion->hasBegun())
    completion->wait(patience);
  if (!isStream && !completion->failure().empty())
    throw CompletionError(500, completion->failure());
  auto provide = [=](size_t, httplib::DataSink &sink) {
    completion->wait(patience);
    const std::string failure = completion->failure();
    if (!sink.is_writable() || (!failure.empty() && !isStream))
      return false;
    if (!completion->hasEnded() && !(isStream && completion->hasNews()))
      return true;
    std::string text = failure.empty() ? completion->part()
                                       : CompletionError::body(500, failure);
    if (isStream)
      text = "data: " + text + "\n\n";
    if (isStream && completion->hasEnded())
      text += "data: [DONE]\n\n";
    bool isGood = sink.write(text.data(), text.size());
    if (completion->hasEnded())
      sink.done();
    return isGood;
  };
  response.set_chunked_content_provider(
      isStream ? "text/event-stream" : "application/json", provide);
}

void answerError(httplib::Response &response, int status,
                 const std::string &why) {
  response.status = status;
  response.set_content(CompletionError::body(status, why), "application/json");
}

void addPages(httplib::Server &server, const CompletionModel &model) {
  const std::string list = model.list();
  server.Get("/v1/models", [=](const auto &, httplib::Response &response) {
    response.set_content(list, "application/json");
  });
  server.Get("/", [](const auto &, httplib::Response &response) {
    response.set_content(kPage, "text/html; charset=utf-8");
  });
  server.Post("/v1/completions", [&](const httplib::Request &request,
                                     httplib::Response &response) {
    // No page of another site may send this type.
    const std::string type = request.get_header_value("Content-Type");
    if (type.rfind("application/json", 0) != 0)
      throw CompletionError(415, "the Content-Type must be application/json");
    send(std::make_shared<Completion>(model, request.body), response);
  });
}

void addErrors(httplib::Server &server) {
  server.set_exception_handler(
      [](const auto &, httplib::Response &response, std::exception_ptr thrown) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::exception &error) {
          answerError(response, CompletionError::statusOf(error), error.what());
        }
      });
  server.set_error_handler([](const auto &, httplib::Response &response) {
    if (response.body.empty())
      answerError(response, response.status,
                  "there are GET /, GET /v1/models and POST /v1/completions of "
                  "at most 1 MiB");
  });
}

void setUp(httplib::Server &server, const CompletionModel &model) {
  const int64_t threads = model.mostRequests + 8; // some are for the refused
  server.new_task_queue = [=] { return new httplib::ThreadPool(threads); };
  server.set_payload_max_length(1 << 20);
  server.set_keep_alive_timeout(1);
  server.set_tcp_nodelay(true);
  server.set_socket_options([](int socket) { // one server to a port
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_pre_routing_handler([](const httplib::Request &request, auto &) {
    // Compressed events would wait for each other.
    const_cast<httplib::Request &>(request).headers.erase("Accept-Encoding");
    return httplib::Server::HandlerResponse::Unhandled;
  });
  addPages(server, model);
  addErrors(server);
}

/// Options by name; each is taken once.
class Options {
public:
  Options(int argc, char **argv) {
    if (argc < 3 || argc % 2 == 0)
      throw std::runtime_error(
          "usage: serve MODEL.tsr FOLDER [--host ADDRESS] [--port NUMBER] "
          "[--requests NUMBER] [--max-tokens NUMBER] [--name NAME]");
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

/// Until a signal comes, or a step fails.
void serve(const std::string &file, const std::string &folder,
           Options &options) {
  const auto port = static_cast<int>(options.number("--port", 8080, 0, 65535));
  const int64_t requests = options.number("--requests", 64, 1, 1024);
  const int64_t tokens = options.number("--max-tokens", 4096, 1, INT32_MAX);
  const std::string host = options.text("--host", "127.0.0.1");
  const std::string name = options.text("--name", folder);
  options.finish();
  tessera::TextGenerator texts(tessera::Artifact(file), modelIn(folder));
  const CompletionModel model{name, requests, tokens, texts};
  std::fputs(model.notes().c_str(), stderr);
  httplib::Server server;
  setUp(server, model);
  const int bound = port == 0 ? server.bind_to_any_port(host)
                    : server.bind_to_port(host, port) ? port
                                                      : -1;
  if (bound < 0)
    throw std::runtime_error("cannot listen on " + host + ", port " +
                             std::to_string(port));
  std::printf("listening on http://%s:%d\n", host.c_str(), bound);
  std::fflush(stdout);
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int) { isEnding = true; });
  std::thread listener([&] { server.listen_after_bind(); });
  while (!isEnding && texts.failure().empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  texts.stop();
  server.stop();
  listener.join();
  if (!texts.failure().empty())
    throw std::runtime_error(texts.failure());
}

int main(int argc, char **argv) {
  try {
    Options options(argc, argv);
    serve(argv[1], argv[2], options);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
