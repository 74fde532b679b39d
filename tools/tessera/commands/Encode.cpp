//===- Encode.cpp - tessera encode ----------------------------------------===//

#include "tessera/Artifact/DeviceReport.h"
#include "tessera/encoder.h"
#include "tools/tessera/encode/SentenceFolder.h"
#include "tools/tessera/generate/TextOfTokens.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <sstream>

using namespace tessera;
namespace json = llvm::json;

namespace {

struct EncodeOptions : InferenceOptions {
  std::vector<std::string> texts;
  std::vector<std::string> textIds; ///< "1,2,3" each.
  int64_t fillings = 5;             ///< For each mask.
  bool embeds = false;
  std::string pooling; ///< "": the folder's.
  bool normalizes = false;
};

/// A token that may stand for a mask.
struct Filling {
  int32_t token = -1;
  double probability = 0;
};

struct Text {
  std::vector<int32_t> ids;
  std::vector<int32_t> masks; ///< Positions.
  std::vector<std::vector<Filling>> fillings;
  std::vector<double> embedding;
};

/// Encodes the texts of a command line and prints what it asks for.
class Encoding {
public:
  explicit Encoding(const EncodeOptions &given) : options(given) {}
  bool run();

private:
  bool readSettings();
  bool readTexts();
  bool cut(const std::string &words, std::vector<int32_t> &ids);
  bool embed(size_t number, Text &text);
  bool parseIds(const std::string &list, std::vector<int32_t> &ids) const;
  void fitProgram();
  bool open();
  bool findMasks();
  bool runGroup(size_t first, size_t count);
  bool runStep(size_t first, size_t count, size_t begin);
  bool fill(size_t text, size_t which, std::vector<Filling> &fillings);
  void print(size_t number);
  json::Value jsonOf(const Text &text);
  std::string sequenceOf(const Text &text, size_t mask, int32_t token);

  struct Destroy {
    void operator()(tsr_encoder *object) const { tsr_encoder_destroy(object); }
  };

  EncodeOptions options;
  TextOfTokens tokenizer;
  ArtifactFile artifact;
  std::unique_ptr<tsr_encoder, Destroy> encoder;
  SentenceSettings settings;
  std::vector<Text> texts;
  int32_t mask = -1;
};

bool fail() { return !printError(tsr_last_error()); }

bool Encoding::parseIds(const std::string &list,
                        std::vector<int32_t> &ids) const {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    int32_t id = 0;
    if (llvm::StringRef(part).getAsInteger(10, id))
      return !printError("--text-ids: '" + part +
                         "' is no token; give numbers with commas between "
                         "them");
    ids.push_back(id);
  }
  return true;
}

/// Returns the model's folder. An artifact holds no such files, so it is that
/// of the weights.
std::string sentenceFolder(const EncodeOptions &options) {
  const bool isCompiled = options.isArtifact() || options.isProgram();
  if (!isCompiled || options.weights.empty())
    return modelFolder(options);
  if (llvm::sys::fs::is_directory(options.weights))
    return options.weights;
  return std::filesystem::absolute(options.weights).parent_path().string();
}

bool Encoding::readSettings() {
  const EncodeOptions &given = options;
  if (!given.embeds)
    return true;
  const std::string folder = sentenceFolder(options);
  if (!readSentenceFolder(folder, !given.pooling.empty(), settings))
    return false;
  if (given.pooling.empty()) {
    if (options.isArtifact() && !settings.isFound)
      printNote("neither modules.json nor 1_Pooling/config.json lies in '" +
                folder + "', so that embeddings are means");
    return true;
  }
  settings.pooling = *poolingOf(given.pooling);
  settings.normalizes = given.normalizes;
  settings.width = 0;
  return true;
}

/// Leaves out the end of a text that is too long, but not the special tokens
/// after it.
bool Encoding::cut(const std::string &words, std::vector<int32_t> &ids) {
  std::vector<int32_t> plain;
  const auto most = static_cast<size_t>(settings.mostTokens);
  if (!options.embeds || most == 0 || ids.size() <= most)
    return true;
  if (!tokenizer.encode(words, plain, TSR_WITHOUT_SPECIAL))
    return false;
  const size_t removed = ids.size() - most;
  auto begin = std::search(ids.begin(), ids.end(), plain.begin(), plain.end());
  if (removed > plain.size() || begin == ids.end())
    return !printError("a text has " + std::to_string(ids.size()) +
                       " tokens, of at most " + std::to_string(most) +
                       " by max_seq_length, and cannot be cut; make it "
                       "shorter");
  auto end = begin + static_cast<std::ptrdiff_t>(plain.size());
  ids.erase(end - static_cast<std::ptrdiff_t>(removed), end);
  printNote("of a text of " + std::to_string(most + removed) +
            " tokens the last " + std::to_string(removed) +
            " are left out, as max_seq_length is " + std::to_string(most));
  return true;
}

bool Encoding::readTexts() {
  if (!tokenizer.open(modelTokenizer(options, options.tokenizer)))
    return false;
  if (!options.texts.empty() && !tokenizer.hasTokenizer())
    return !printError("--text needs a tokenizer, and there is none in '" +
                       modelFolder(options) +
                       "'; name one with --tokenizer, or give --text-ids");
  for (const std::string &words : options.texts)
    if (!tokenizer.encode(words, texts.emplace_back().ids) ||
        !cut(words, texts.back().ids))
      return false;
  for (const std::string &list : options.textIds)
    if (!parseIds(list, texts.emplace_back().ids))
      return false;
  return true;
}

/// Returns whether the config is of a family that --padding-mask and encoding
/// are for; what is wrong with any other is said when it is imported.
bool isEncoder(const std::string &model) {
  std::string path = model;
  if (llvm::sys::fs::is_directory(path))
    path += "/config.json";
  auto family = jsonObjectIn(path).getString("model_type");
  return family == llvm::StringRef("bert") || family == llvm::StringRef("t5");
}

/// Asks for a program that is no larger than the texts need, at most 8 at a
/// time. Texts have different lengths, and attention sees none of the padding.
void Encoding::fitProgram() {
  constexpr size_t most = 8;
  SizeOptions &sizes = options.plan.sizes;
  sizes.paddingMask = isEncoder(options.model);
  size_t longest = 1;
  for (const Text &text : texts)
    longest = std::max(longest, text.ids.size());
  if (!sizes.sequence)
    sizes.sequence = static_cast<int64_t>(longest);
  if (!sizes.batch)
    sizes.batch = static_cast<int64_t>(
        llvm::alignTo(std::min(most, texts.size()),
                      options.plan.mesh.sizeOf(MeshAxis::Data)));
}

bool Encoding::open() {
  if (!options.isArtifact() && !options.isProgram())
    fitProgram();
  if (!openArtifact(options, artifact))
    return false;
  int64_t vocabulary = tsr_artifact_vocabulary(artifact.get());
  if (tokenizer.size() > vocabulary)
    return !printError(
        "the tokenizer '" + modelTokenizer(options, options.tokenizer) +
        "' has a vocabulary of " + std::to_string(tokenizer.size()) +
        ", the model '" + options.model + "' one of " +
        std::to_string(vocabulary) + "; name the model's own with --tokenizer");
  llvm::Expected<std::string> weights = checkedWeights(
      options, {options.weights, options.checkpoint}, artifact.metadata());
  if (!weights)
    return !printError(weights.takeError());
  tsr_session_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.device = nameOf(artifact.device());
  wanted.threads = options.threads;
  tsr_encoder *created = nullptr;
  if (tsr_encoder_create(artifact.get(), &wanted, weights->c_str(), &created) !=
      TSR_OK)
    return fail();
  encoder.reset(created);
  std::istringstream notes(tsr_encoder_notes(created));
  for (std::string line; std::getline(notes, line);)
    printNote(line);
  return true;
}

/// Finds the masks of the texts. The tokenizer's mask is what the model has
/// learnt to fill; a config may not name it.
bool Encoding::findMasks() {
  if (!options.embeds && tsr_encoder_max_predictions(encoder.get()) == 0)
    return !printError("the model '" + options.model +
                       "' is an encoder without a head that fills masks; give "
                       "--embed");
  mask = tokenizer.find("[MASK]");
  if (mask < 0)
    mask = tsr_encoder_mask_token(encoder.get());
  for (size_t k = 0; k < texts.size(); ++k) {
    Text &text = texts[k];
    if (options.embeds)
      continue;
    for (size_t i = 0; i < text.ids.size(); ++i)
      if (text.ids[i] == mask)
        text.masks.push_back(static_cast<int32_t>(i));
    text.fillings.resize(text.masks.size());
    if (text.masks.empty())
      return !printError(
          "text " + std::to_string(k) + " has no mask, which is token " +
          std::to_string(mask) +
          (tokenizer.find("[MASK]") < 0 ? "" : ", [MASK]") +
          "; put it where a token is to be predicted, or give --embed");
  }
  return true;
}

/// Adds the most probable tokens at a position of a text of the last run.
bool Encoding::fill(size_t text, size_t which, std::vector<Filling> &fillings) {
  std::vector<double> logs(tsr_artifact_vocabulary(artifact.get()));
  if (tsr_encoder_log_probabilities(encoder.get(), text, which, logs.data(),
                                    logs.size()) != TSR_OK)
    return fail();
  std::vector<int32_t> order(logs.size());
  std::iota(order.begin(), order.end(), 0);
  auto count =
      std::min<size_t>(logs.size(), static_cast<size_t>(options.fillings));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int32_t a, int32_t b) {
                      return logs[a] != logs[b] ? logs[a] > logs[b] : a < b;
                    });
  for (size_t k = 0; k < count; ++k)
    fillings.push_back({order[k], std::exp(logs[order[k]])});
  return true;
}

/// Runs texts [first, first + count) with their masks from `begin` on, as many
/// as a step can give.
bool Encoding::runStep(size_t first, size_t count, size_t begin) {
  const auto most =
      static_cast<size_t>(tsr_encoder_max_predictions(encoder.get()));
  std::vector<tsr_encoder_text> given;
  for (size_t k = 0; k < count; ++k) {
    const Text &text = texts[first + k];
    size_t from = std::min(begin, text.masks.size());
    given.push_back({text.ids.data(), nullptr, text.ids.size(),
                     text.masks.data() + from,
                     std::min(most, text.masks.size() - from)});
  }
  if (tsr_encoder_run(encoder.get(), given.data(), given.size()) != TSR_OK)
    return fail();
  for (size_t k = 0; k < count; ++k)
    for (size_t i = 0; i < given[k].position_count; ++i)
      if (!fill(k, i, texts[first + k].fillings[begin + i]))
        return false;
  return true;
}

bool Encoding::embed(size_t number, Text &text) {
  std::vector<double> &values = text.embedding;
  values.resize(tsr_encoder_hidden_size(encoder.get()));
  if (tsr_encoder_pooled(encoder.get(), number, settings.pooling, values.data(),
                         values.size()) != TSR_OK)
    return fail();
  if (!settings.normalizes)
    return true;
  double squares = 0;
  for (double value : values)
    squares += value * value;
  constexpr double least = 1e-12; // the bound of torch.nn.functional.normalize
  const double length = std::max(std::sqrt(squares), least);
  for (double &value : values)
    value /= length;
  return true;
}

bool Encoding::runGroup(size_t first, size_t count) {
  size_t masks = 1;
  for (size_t k = 0; k < count; ++k)
    masks = std::max(masks, texts[first + k].masks.size());
  const auto most = std::max<size_t>(
      1, static_cast<size_t>(tsr_encoder_max_predictions(encoder.get())));
  for (size_t begin = 0; begin < masks; begin += most)
    if (!runStep(first, count, begin))
      return false;
  for (size_t k = 0; k < count && options.embeds; ++k)
    if (!embed(k, texts[first + k]))
      return false;
  return true;
}

/// Special tokens are left out where there is but one mask, as `transformers`
/// has it.
std::string Encoding::sequenceOf(const Text &text, size_t which,
                                 int32_t token) {
  std::vector<int32_t> ids = text.ids;
  ids[text.masks[which]] = token;
  return tokenizer.textOf(ids, text.masks.size() == 1 ? TSR_WITHOUT_SPECIAL
                                                      : TSR_WITH_SPECIAL);
}

json::Value Encoding::jsonOf(const Text &text) {
  json::Object line{{"tokens", text.ids}};
  if (options.embeds) {
    line["embedding"] = text.embedding;
    return json::Value(std::move(line));
  }
  json::Array masks;
  for (size_t which = 0; which < text.masks.size(); ++which) {
    json::Array fillings;
    for (const Filling &filling : text.fillings[which])
      fillings.push_back(json::Object{
          {"score", filling.probability},
          {"token", filling.token},
          {"token_str",
           json::fixUTF8(tokenizer.textOf({filling.token}, TSR_WITH_SPECIAL))},
          {"sequence", json::fixUTF8(sequenceOf(text, which, filling.token))}});
    masks.push_back(json::Object{{"position", text.masks[which]},
                                 {"fillings", std::move(fillings)}});
  }
  line["masks"] = std::move(masks);
  return json::Value(std::move(line));
}

void Encoding::print(size_t number) {
  const Text &text = texts[number];
  if (options.json) {
    printJson(jsonOf(text));
    return;
  }
  if (options.embeds) {
    llvm::ListSeparator space(" ");
    for (double value : text.embedding)
      standardOutput() << space << llvm::formatv("{0:f8}", value);
    standardOutput() << "\n";
    return;
  }
  standardOutput() << "[" << number << "] ";
  printModelText(tokenizer.textOf(text.ids, TSR_WITH_SPECIAL) + "\n");
  for (size_t which = 0; which < text.masks.size(); ++which) {
    standardOutput() << "  position " << text.masks[which] << "\n";
    for (const Filling &filling : text.fillings[which]) {
      standardOutput() << llvm::formatv("    {0:f4} ", filling.probability);
      printModelText(tokenizer.textOf({filling.token}, TSR_WITH_SPECIAL) +
                     "\n");
    }
  }
}

bool Encoding::run() {
  if (!readSettings() || !readTexts() || !open() || !findMasks())
    return false;
  const int64_t width = tsr_encoder_hidden_size(encoder.get());
  if (settings.width && settings.width != width)
    return !printError("the folder pools states of " +
                       std::to_string(settings.width) +
                       " elements, the model has " + std::to_string(width) +
                       "; name a pooling with --pooling");
  const auto batch = static_cast<size_t>(tsr_artifact_batch(artifact.get()));
  for (size_t first = 0; first < texts.size(); first += batch) {
    size_t count = std::min(batch, texts.size() - first);
    if (!runGroup(first, count))
      return false;
    for (size_t k = 0; k < count; ++k)
      print(first + k);
  }
  return true;
}

class Encode : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  EncodeOptions options;
  PlanGroup plan{options};
};

const CommandRegistration<Encode>
    registration({160, "encode", "Fill masks in texts, or embed texts",
                  " path/to/model --text 'Paris is the [MASK] of France.'"});

} // namespace

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void declareTexts(CLI::App &app, EncodeOptions &options) {
  beginGroup(app, "Texts", "--text 'Paris is the [MASK] of France.'");
  app.add_option("--text", options.texts,
                 "A text, in which [MASK] stands for a token to predict (give "
                 "the option once for each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  app.add_option("--text-ids", options.textIds,
                 "The same as tokens, with commas between them and those that "
                 "the tokenizer adds")
      ->allow_extra_args(false)
      ->delimiter('\0')
      ->type_name("INT,...");
  tessera::declare(app, "--fillings", FlagCheck::Positive, options.fillings,
                   "So many most probable tokens for each mask");
  CLI::Option *embed =
      app.add_flag("--embed", options.embeds,
                   "Print each text's last hidden states as one vector "
                   "instead, pooled as the model's folder says "
                   "(1_Pooling/config.json), else their mean");
  CLI::Option *pooling =
      app.add_option("--pooling", options.pooling,
                     "With --embed: pool in this way, whatever the folder "
                     "says, and do nothing after it")
          ->check(oneOf({"cls", "mean", "max", "lasttoken", "mean_sqrt_len",
                         "weightedmean"}))
          ->needs(embed)
          ->type_name("cls|mean|max|lasttoken|mean_sqrt_len|weightedmean");
  app.add_flag("--normalize", options.normalizes,
               "With --pooling: scale each vector to length 1")
      ->needs(pooling);
  declareTokenizer(app, options.tokenizer);
}

void Encode::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::SourcesAndArtifacts);
  declareTexts(app, options);
  declareJson(app, options.json);
  tessera::declare(app, static_cast<InferenceOptions &>(options));
  plan.declare(app, {ProgramSet::Encode});
  plan.declareRanks(app);
  hide(*app.get_option("--programs")); // it runs one kind of them
  setDefault(app, "--batch", "as many as there are texts, at most 8");
  setDefault(app, "--seq-length", "the longest text");
}

void Encode::check(CLI::App &app) {
  plan.read(app);
  requireOneProcess(app);
  plan.choosePrograms(ProgramSet::Encode);
  if (options.texts.empty() && options.textIds.empty())
    refuse("nothing says what is to be encoded; give --text or --text-ids");
  plan.check();
}

int Encode::run() {
  if (std::string why = firstOf(
          {findModel(options, ModelKinds::SourcesAndArtifacts),
           checkTokenizer(options.tokenizer), deviceProblem(options.plan),
           limitRanks(options), checkInferenceFiles(options)});
      !why.empty())
    return printError(why);
  return Encoding(options).run() ? 0 : 1;
}
