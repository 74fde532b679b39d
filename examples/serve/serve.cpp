//===- serve.cpp - a model behind HTTP, for clients of OpenAI's API -------===//
// One thread steps. Each connection has one of its own, which waits for the
// tokens of its request, and cancels it when the client has gone.
//===----------------------------------------------------------------------===//
#include <serve-page.h>
#include <tessera/tokenizer.hpp>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <optional>
#include <random>

using Json = nlohmann::json;
using Token = tessera::GeneratorRequest::Token;

/// What a client is told instead of a text.
struct Refusal : std::runtime_error {
  Refusal(int status, const std::string &why)
      : std::runtime_error(why), status(status) {}
  int status;
};

void require(bool isGood, const std::string &why, int status = 400) {
  if (!isGood)
    throw Refusal(status, why);
}

std::string errorText(int status, const std::string &why) {
  const char *type = status < 500 ? "invalid_request_error" : "server_error";
  Json error = {{"message", why}, {"type", type}, {"code", status}};
  return Json{{"error", error}}.dump(-1, ' ', false,
                                     Json::error_handler_t::replace);
}

/// Removes a field of a request's body; null is as good as not given.
Json take(Json &body, const char *name) {
  Json value = body.value(name, Json());
  body.erase(name);
  return value;
}

template <class T>
T number(Json &body, const char *name, T standard, T least, T most) {
  const Json value = take(body, name);
  bool isKind =
      std::is_integral_v<T> ? value.is_number_integer() : value.is_number();
  require(value.is_null() || (isKind && value >= least && value <= most),
          std::string(name) + " must be " +
              (std::is_integral_v<T> ? "a whole number" : "a number") +
              " from " + Json(least).dump() + " to " + Json(most).dump());
  return value.is_null() ? standard : value.get<T>();
}

std::string textOf(Json &body, const char *name, const std::string &standard) {
  const Json value = take(body, name);
  if (value.is_null())
    return standard;
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> stopsOf(Json &body) {
  Json value = take(body, "stop");
  if (!value.is_array())
    value = value.is_null() ? Json::array() : Json::array({value});
  bool isGood = value.size() <= 16;
  for (const Json &one : value)
    isGood = isGood && one.is_string() && one != "" &&
             one.get<std::string>().find('\0') == std::string::npos;
  require(isGood, "stop must be a text or a list of at most 16 texts, none of "
                  "them empty or with U+0000");
  return value;
}

struct Model {
  std::string name;
  int64_t mostRequests, mostTokens;
  tessera::TextGenerator texts;
  std::mutex adding;
  std::atomic<bool> isStopping{false};
};

/// A request and what becomes of it.
class Completion {
public:
  Completion(Model &model, Json body) : model(model) {
    require(body.is_object(), "the body must be a JSON object");
    const Json name = take(body, "model"), prompt = take(body, "prompt");
    require(name.is_null() || name == model.name,
            "there is one model: '" + model.name + "'", 404);
    const tsr_request_options options = read(body);
    const std::vector<std::string> stops = stopsOf(body);
    const Json harmless = {{"n", 1}, {"best_of", 1}, {"echo", false}};
    for (const auto &[key, value] : body.items())
      require(value.is_null() || key == "user" ||
                  harmless.value(key, Json()) == value,
              "'" + key + "' is not supported; leave it out");
    for (const Json &one : prompt.is_array() ? prompt : Json::array({0}))
      require(one.is_number_integer() && one >= 0 && one <= INT32_MAX &&
                  (prompt.is_array() || prompt.is_string()),
              "prompt must be one text, or one list of token ids");
    const auto ids = prompt.is_array() ? prompt.get<std::vector<int32_t>>()
                                       : model.texts.encode(prompt);
    promptTokens = ids.size();
    std::lock_guard<std::mutex> lock(model.adding);
    require(model.texts.active() < model.mostRequests,
            "as many requests as may wait do so; try again later", 503);
    request.emplace(model.texts, ids, options, stops);
  }

  /// Waits a while for the next token.
  void wait() {
    tessera::GeneratorRequest::Token token;
    std::string added;
    if (model.isStopping && !ended)
      ended = TSR_ENDED_CANCELLED;
    if (!request->take(token, added, std::chrono::milliseconds(50)))
      return;
    ended = token.made.ended;
    newTokens += token.made.token >= 0;
    text += added;
    if (hasLogs && token.made.token >= 0)
      addLogs(token);
  }
  bool hasFailed() const { return ended > TSR_ENDED_LENGTH; }
  bool hasBegun() const { return newTokens > 0 || ended; }
  bool hasNews() const { return ended || text != "" || !logs.is_null(); }
  std::string failure() const {
    if (ended == TSR_ENDED_CANCELLED)
      return "the server is stopping";
    const std::string why = model.texts.failure();
    return why.empty() ? "the logits are not numbers" : why;
  }

  /// What has come since the last call.
  std::string part() {
    Json choice = {{"index", 0}, {"text", std::exchange(text, "")}};
    choice["logprobs"] = std::exchange(logs, Json());
    choice["finish_reason"] =
        ended ? Json(ended == TSR_ENDED_STOP ? "stop" : "length") : Json();
    Json whole = {{"id", "cmpl-" + std::to_string(request->number())},
                  {"object", "text_completion"},
                  {"created", created},
                  {"model", model.name},
                  {"choices", Json::array({choice})}};
    if (ended)
      whole["usage"] = {{"prompt_tokens", promptTokens},
                        {"completion_tokens", newTokens},
                        {"total_tokens", promptTokens + newTokens}};
    return whole.dump();
  }

  bool isStream = false;
  int32_t ended = TSR_GOES_ON;

private:
  tsr_request_options read(Json &body) {
    tsr_request_options options = tessera::requestOptions();
    const Json stream = take(body, "stream");
    require(stream.is_null() || stream.is_boolean(),
            "stream must be true or false");
    isStream = stream == true;
    hasLogs = !body.value("logprobs", Json()).is_null();
    options.alternatives = number<int64_t>(body, "logprobs", 0, 0, 20);
    options.max_new_tokens =
        number<int64_t>(body, "max_tokens", 16, 1, model.mostTokens);
    options.temperature = number<double>(body, "temperature", 1, 0, 100);
    options.top_p = number<double>(body, "top_p", 1, 1e-9, 1);
    options.seed = number<int64_t>(body, "seed", std::random_device()(),
                                   INT64_MIN, INT64_MAX);
    return options;
  }
  /// A token's text, or its number where that says more.
  std::string nameOf(int32_t token) {
    const std::string name = model.texts.decode(token);
    return !name.empty() && name.find("\uFFFD") == std::string::npos
               ? name
               : "token_id:" + std::to_string(token);
  }
  void addLogs(const tessera::GeneratorRequest::Token &token) {
    Json top = Json::object();
    for (const tsr_alternative &one : token.alternatives)
      top.emplace(nameOf(one.token), one.log_probability);
    logs["tokens"].push_back(nameOf(token.made.token));
    logs["token_logprobs"].push_back(token.made.log_probability);
    logs["top_logprobs"].push_back(top);
  }

  Model &model;
  std::optional<tessera::TextRequest> request;
  std::string text;
  Json logs;
  bool hasLogs = false;
  size_t promptTokens = 0, newTokens = 0;
  const std::time_t created = std::time(nullptr);
};

/// The status of a text as a whole is known with its first token; that its
/// client has gone is noticed after that.
void send(const std::shared_ptr<Completion> &completion,
          httplib::Response &response) {
  const bool isStream = completion->isStream;
  while (!isStream && !completion->hasBegun())
    completion->wait();
  require(isStream || !completion->hasFailed(), completion->failure(), 500);
  auto provide = [=](size_t, httplib::DataSink &sink) {
    completion->wait();
    if (!sink.is_writable() || (completion->hasFailed() && !isStream))
      return false;
    if (!completion->ended && !(isStream && completion->hasNews()))
      return true;
    std::string text = completion->hasFailed()
                           ? errorText(500, completion->failure())
                           : completion->part();
    if (isStream)
      text = "data: " + text + "\n\n";
    if (isStream && completion->ended)
      text += "data: [DONE]\n\n";
    bool isGood = sink.write(text.data(), text.size());
    if (completion->ended)
      sink.done();
    return isGood;
  };
  response.set_chunked_content_provider(
      isStream ? "text/event-stream" : "application/json", provide);
}

void answerError(const httplib::Request &, httplib::Response &response,
                 std::exception_ptr thrown) {
  int status = 500;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception &error) {
    if (auto *refusal = dynamic_cast<const Refusal *>(&error))
      status = refusal->status;
    auto *refused = dynamic_cast<const tessera::Exception *>(&error);
    if ((refused && refused->status() == TSR_INVALID_ARGUMENT) ||
        dynamic_cast<const Json::exception *>(&error))
      status = 400;
    response.set_content(errorText(status, error.what()), "application/json");
  }
  response.status = status;
}

void addPages(httplib::Server &server, Model &model) {
  const Json card = {{"id", model.name},
                     {"object", "model"},
                     {"created", std::time(nullptr)},
                     {"owned_by", "tessera"}};
  const std::string list =
      Json{{"object", "list"}, {"data", Json::array({card})}}.dump();
  server.Get("/v1/models", [=](const auto &, httplib::Response &response) {
    response.set_content(list, "application/json");
  });
  server.Get("/", [](const auto &, httplib::Response &response) {
    response.set_content(kPage, "text/html; charset=utf-8");
  });
  server.Post("/v1/completions", [&](const httplib::Request &request,
                                     httplib::Response &response) {
    // No page of another site may send this type.
    require(
        request.get_header_value("Content-Type").rfind("application/json", 0) ==
            0,
        "the Content-Type must be application/json", 415);
    send(std::make_shared<Completion>(model, Json::parse(request.body)),
         response);
  });
  server.set_pre_routing_handler([](const httplib::Request &request, auto &) {
    // Compressed events would wait for each other.
    const_cast<httplib::Request &>(request).headers.erase("Accept-Encoding");
    return httplib::Server::HandlerResponse::Unhandled;
  });
  server.set_exception_handler(answerError);
  server.set_error_handler([](const auto &, httplib::Response &response) {
    if (response.body.empty())
      response.set_content(errorText(response.status,
                                     "there are GET /, GET /v1/models and POST "
                                     "/v1/completions of at most 1 MiB"),
                           "application/json");
  });
}

/// `given`: the options, as a request has fields.
void serve(const char *file, const std::string &folder, Json given) {
  sigset_t signals; // blocked in all threads that begin from here on
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto port = number<int64_t>(given, "--port", 8080, 0, 65535);
  const auto requests = number<int64_t>(given, "--requests", 64, 1, 1024);
  const auto tokens =
      number<int64_t>(given, "--max-tokens", 4096, 1, INT32_MAX);
  const std::string host = textOf(given, "--host", "127.0.0.1");
  const std::string name = textOf(given, "--name", folder);
  for (const auto &[key, value] : given.items())
    require(false, "unknown option '" + key + "'");
  Model model{name, requests, tokens, {tessera::Artifact(file), folder},
              {},   {}};
  httplib::Server server;
  server.new_task_queue = [&] { // some are for those that are refused
    return new httplib::ThreadPool(model.mostRequests + 8);
  };
  server.set_payload_max_length(1 << 20);
  server.set_keep_alive_timeout(1);
  server.set_tcp_nodelay(true);
  server.set_socket_options([](int socket) { // one server to a port
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  addPages(server, model);
  const int64_t bound = port == 0 ? server.bind_to_any_port(host)
                        : server.bind_to_port(host, port) ? port
                                                          : -1;
  require(bound > 0,
          "cannot listen on " + host + ", port " + std::to_string(port));
  std::printf("listening on http://%s:%d\n", host.c_str(), int(bound));
  std::fflush(stdout);
  std::thread listener([&] { server.listen_after_bind(); });
  const timespec patience = {0, 100'000'000};
  while (sigtimedwait(&signals, nullptr, &patience) < 0 &&
         model.texts.failure().empty())
    ;
  model.isStopping = true;
  server.stop();
  listener.join();
  require(model.texts.failure().empty(), model.texts.failure());
}

int main(int argc, char **argv) {
  try {
    require(argc > 2 && argc % 2 == 1,
            "usage: serve MODEL.tsr FOLDER [--host ADDRESS] [--port NUMBER] "
            "[--requests NUMBER] [--max-tokens NUMBER] [--name NAME]");
    Json given = Json::object();
    for (int i = 3; i < argc; i += 2) {
      Json value = Json::parse(argv[i + 1], nullptr, false);
      given[argv[i]] = value.is_number() ? value : Json(argv[i + 1]);
    }
    serve(argv[1], argv[2], given);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
