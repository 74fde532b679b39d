//===- completions.hpp - requests of OpenAI's completions API ---*- C++ -*-===//
// JSON in, JSON out, for servers of any kind. Header only, C++17, as
// tokenizer.hpp is; needs nlohmann/json.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COMPLETIONS_HPP
#define TESSERA_COMPLETIONS_HPP

#include "tessera/json_reader.hpp"
#include "tessera/printable.hpp"
#include "tessera/tokenizer.hpp"

#include <ctime>
#include <mutex>
#include <random>
#include <type_traits>
#include <utility>

namespace tessera {

/// Why a client gets no text, with a status of HTTP.
class CompletionError : public std::runtime_error {
public:
  CompletionError(int status, const std::string &why)
      : std::runtime_error(why), status(status) {}

  /// Returns the status for an exception that a Completion throws: 400 if the
  /// client did something wrong.
  static int statusOf(const std::exception &error) {
    if (auto *own = dynamic_cast<const CompletionError *>(&error))
      return own->status;
    auto *refused = dynamic_cast<const Exception *>(&error);
    bool isClients = (refused && refused->status() == TSR_INVALID_ARGUMENT) ||
                     dynamic_cast<const nlohmann::json::exception *>(&error);
    return isClients ? 400 : 500;
  }
  /// Returns the JSON that says it.
  static std::string body(int status, const std::string &why) {
    const char *type = status < 500 ? "invalid_request_error" : "server_error";
    nlohmann::json error = {{"message", why}, {"type", type}, {"code", status}};
    return nlohmann::json{{"error", error}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  const int status;
};

/// A model as its clients know it.
struct CompletionModel {
  std::string name;
  std::int64_t mostRequests; ///< Largest number of requests that wait or run.
  std::int64_t mostTokens;   ///< New ones of a request.
  TextGenerator &texts;

  /// Returns a line with the defaults of requests that the model's files give,
  /// and a line with the settings in them that are not followed, or "".
  std::string notes() const {
    const GenerationConfig &config = texts.generationConfig();
    const tsr_generation_config &own = config.values;
    const std::pair<const char *, double> said[] = {
        {"temperature", own.samples == 0 ? -1 : own.temperature},
        {"top_k", static_cast<double>(own.top_k)},
        {"top_p", own.top_p},
        {"min_p", own.min_p},
        {"repetition_penalty", own.repetition_penalty}};
    std::string list;
    for (auto [key, value] : said)
      if (value >= 0)
        list += (list.empty() ? "" : ", ") + std::string(key) + " " +
                nlohmann::json(value).dump();
    if (!list.empty())
      list = "by " + config.file + ": " + list + ", unless a request says " +
             "otherwise\n";
    if (!config.notFollowed.empty())
      list += printableMessage("not followed of " + config.file + ": " +
                               config.notFollowed) +
              "\n";
    return list;
  }

  /// Returns the JSON of a list of one model.
  std::string list() const {
    const nlohmann::json card = {{"id", name},
                                 {"object", "model"},
                                 {"created", std::time(nullptr)},
                                 {"owned_by", "tessera"}};
    return nlohmann::json{{"object", "list"},
                          {"data", nlohmann::json::array({card})}}
        .dump();
  }
};

/// A request and what becomes of it, for one thread. It is cancelled when it is
/// destroyed. The model outlives it.
class Completion {
public:
  /// `body` is the JSON of a request, within json_kinds::completion. Throws
  /// what CompletionError::statusOf knows: fields that would change the result
  /// and are not supported are errors, too.
  Completion(const CompletionModel &model, const std::string &body)
      : model(model) {
    // One body at a time is parsed: its values take more memory than its text.
    static std::mutex parsing;
    std::unique_lock<std::mutex> lock(parsing);
    JsonTreeBuilder builder(fields);
    if (auto problem = readJson(body, json_kinds::completion, builder))
      throw CompletionError(400, "the body is refused: " + problem->text());
    require(fields.is_object(), "the body must be a JSON object");
    const Json name = take("model"), prompt = take("prompt");
    require(name.is_null() || name == model.name,
            "there is one model: '" + model.name + "'", 404);
    const tsr_request_options options = takeOptions();
    const std::vector<std::string> stops = takeStops();
    const Json harmless = {{"n", 1}, {"best_of", 1}, {"echo", false}};
    for (const auto &[key, value] : fields.items())
      require(value.is_null() || key == "user" ||
                  harmless.value(key, Json()) == value,
              "'" + key + "' is not supported; leave it out");
    fields = nullptr; // A completion lives long.
    lock.unlock();
    request =
        model.texts.begin(idsOf(prompt), options, stops, model.mostRequests);
    require(request != nullptr,
            "as many requests as may wait do so; try again later", 503);
  }

  /// Returns whether the client wants parts as they come, as events.
  bool isStream() const { return streams; }
  /// Waits for the next token, but not longer.
  void wait(std::chrono::milliseconds patience) {
    GeneratorRequest::Token token;
    std::string added;
    if (!request->take(token, added, patience))
      return;
    text += added;
    if (hasLogs && token.made.token >= 0)
      logs.push_back(std::move(token));
  }
  bool hasBegun() const { return request->newTokens() > 0 || hasEnded(); }
  bool hasEnded() const { return request->ended() != TSR_GOES_ON; }
  /// Returns whether `part` has something to say.
  bool hasNews() const { return hasEnded() || !text.empty() || !logs.empty(); }
  /// Returns why it has ended before its time; "": it has not.
  std::string failure() const { return request->failure(); }

  /// The JSON of what has come since the last call.
  std::string part() {
    Json choice = {{"index", 0}, {"text", std::exchange(text, "")}};
    // JSON is made of the tokens of one request at a time: they take several
    // times as much memory as they do here.
    static std::mutex writing;
    std::unique_lock<std::mutex> lock(writing, std::defer_lock);
    if (!logs.empty())
      lock.lock();
    choice["logprobs"] = jsonOf(std::exchange(logs, {}));
    const bool isStop = request->ended() == TSR_ENDED_STOP;
    choice["finish_reason"] =
        hasEnded() ? Json(isStop ? "stop" : "length") : Json();
    Json whole = {{"id", "cmpl-" + std::to_string(request->number())},
                  {"object", "text_completion"},
                  {"created", created},
                  {"model", model.name},
                  {"choices", Json::array()}};
    whole["choices"].push_back(std::move(choice));
    const std::size_t given = request->promptTokens(),
                      made = request->newTokens();
    if (hasEnded())
      whole["usage"] = {{"prompt_tokens", given},
                        {"completion_tokens", made},
                        {"total_tokens", given + made}};
    return whole.dump();
  }

private:
  using Json = nlohmann::json;

  static void require(bool isGood, const std::string &why, int status = 400) {
    if (!isGood)
      throw CompletionError(status, why);
  }
  /// Removes a field; null is as good as not given.
  Json take(const char *name) {
    auto field = fields.find(name);
    if (field == fields.end())
      return nullptr;
    Json value = std::move(*field);
    fields.erase(field);
    return value;
  }
  template <class T>
  T takeNumber(const char *name, T standard, T least, T most) {
    constexpr bool isWhole = std::is_integral_v<T>;
    const Json value = take(name);
    bool isKind = isWhole ? value.is_number_integer() : value.is_number();
    // Beyond int64_t, a number without a sign would be compared as a negative.
    if (isWhole && value.is_number_unsigned())
      isKind = value.get<std::uint64_t>() <= INT64_MAX;
    require(value.is_null() || (isKind && value >= least && value <= most),
            std::string(name) + " must be " +
                (isWhole ? "a whole number" : "a number") + " from " +
                Json(least).dump() + " to " + Json(most).dump());
    return value.is_null() ? standard : value.get<T>();
  }
  tsr_request_options takeOptions() {
    const Json stream = take("stream");
    require(stream.is_null() || stream.is_boolean(),
            "stream must be true or false");
    streams = stream == true;
    hasLogs = !fields.value("logprobs", Json()).is_null();
    tsr_request_options options = requestOptions();
    options.alternatives = takeNumber<std::int64_t>("logprobs", 0, 0, 20);
    options.max_new_tokens =
        takeNumber<std::int64_t>("max_tokens", 16, 1, model.mostTokens);
    const tsr_generation_config &own = model.texts.generationConfig().values;
    auto or1 = [](double value) { return value < 0 ? 1 : value; };
    options.temperature = takeNumber<double>(
        "temperature", own.samples == 0 ? 1 : or1(own.temperature), 0, 100);
    options.top_p = takeNumber<double>("top_p", or1(own.top_p), 1e-9, 1);
    options.top_k = own.top_k < 0 ? 0 : own.top_k;
    options.min_p = own.min_p < 0 ? 0 : own.min_p;
    options.repetition_penalty = or1(own.repetition_penalty);
    options.seed = takeNumber<std::int64_t>("seed", std::random_device()(),
                                            INT64_MIN, INT64_MAX);
    return options;
  }
  std::vector<std::string> takeStops() {
    Json stop = take("stop");
    if (!stop.is_array())
      stop = stop.is_null() ? Json::array() : Json::array({stop});
    bool isGood = stop.size() <= 16;
    for (const Json &one : stop)
      isGood = isGood && one.is_string();
    require(isGood, "stop must be a text or a list of at most 16 texts");
    return stop;
  }
  std::vector<std::int32_t> idsOf(const Json &prompt) {
    if (prompt.is_string())
      return model.texts.encode(prompt);
    bool isGood = prompt.is_array();
    for (const Json &one : prompt)
      isGood =
          isGood && one.is_number_integer() && one >= 0 && one <= INT32_MAX;
    require(isGood, "prompt must be one text, or one list of token ids");
    return prompt;
  }
  /// Returns null for no tokens.
  Json jsonOf(const std::vector<GeneratorRequest::Token> &tokens) const {
    Json result;
    for (const GeneratorRequest::Token &token : tokens) {
      Json top = Json::object();
      for (const tsr_alternative &one : token.alternatives)
        top.emplace(model.texts.nameOf(one.token), one.log_probability);
      result["tokens"].push_back(model.texts.nameOf(token.made.token));
      result["token_logprobs"].push_back(token.made.log_probability);
      result["top_logprobs"].push_back(std::move(top));
    }
    return result;
  }

  const CompletionModel &model;
  Json fields; ///< The fields of the body that are not yet taken.
  std::unique_ptr<TextRequest> request;
  bool streams = false, hasLogs = false;
  std::string text; ///< The text since the last part.
  std::vector<GeneratorRequest::Token> logs;
  const std::time_t created = std::time(nullptr);
};

} // namespace tessera

#endif // TESSERA_COMPLETIONS_HPP
