//===- Weights.cpp - tsr_session_load_weights -----------------------------===//
#include "runtime/checkpoint/Adapter.h"
#include "runtime/checkpoint/AdapterDelta.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/SameModel.h"
#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/checkpoint/WeightNames.h"
#include "runtime/session/Initializer.h"
#include "runtime/session/Quantize.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tessera {

namespace {
struct WeightMatch {
  const TensorInfo *parameter;
  std::vector<const FileTensor *> parts; ///< none: it is drawn
  /// Is added to the values; null: no adapter adds to them.
  std::shared_ptr<const AdapterDelta> delta;
};

struct NamedTensor {
  std::string name; ///< in the file
  const FileTensor *tensor;
};

/// Lists names as "'a', 'b'": the members that look alike are one, with their
/// number.
std::string listOfNames(const std::vector<std::string> &names) {
  std::map<std::string, int64_t> counts;
  for (const std::string &name : names)
    ++counts[namePattern(name)];
  std::string text;
  std::set<std::string> listed;
  for (const std::string &name : names) {
    std::string pattern = namePattern(name);
    int64_t count = counts[pattern];
    if (!listed.insert(pattern).second)
      continue;
    text +=
        concat(text.empty() ? "'" : ", '", count == 1 ? name : pattern, "'");
    if (count > 1)
      text += concat(" (", count, " tensors)");
  }
  return text;
}

/// Matches the tensors of files with parameters, and finds what is left of
/// both.
class WeightMatching {
public:
  WeightMatching(const Metadata &metadata, const TensorFiles &files)
      : metadata(metadata), files(files) {
    for (const auto &[name, tensor] : files.tensors())
      byName[plainName(name)].push_back({name, tensor});
    matchParameters();
    explainRest();
  }

  std::vector<WeightMatch> matches;
  std::vector<std::string> notes;

private:
  const NamedTensor *find(const std::string &plain) const;
  const NamedTensor *source(const std::string &plain) const;
  void check(const NamedTensor &source,
             const std::vector<int64_t> &shape) const;
  void matchParameters();
  void match(const TensorInfo &parameter);
  void explainRest();
  [[noreturn]] void refuseUnknown(const std::vector<std::string> &names) const;
  /// Returns whether a tensor of a file is of a head that the artifact lacks:
  /// an encoder alone is tied to none.
  bool isOfNoHead(const std::string &plain) const {
    return metadata.model.predictions == 0 && isHead(plain);
  }
  bool isTied(const NamedTensor &left, const std::string &plain) const;
  void checkTied(const NamedTensor &left, const NamedTensor &right) const;

  const Metadata &metadata;
  const TensorFiles &files;
  std::map<std::string, std::vector<NamedTensor>> byName; ///< plain ones
  std::set<std::string> wanted; ///< plain names of the parameters' parts
  std::set<const FileTensor *> used;
  std::vector<std::string> drawn, missing;
};

const NamedTensor *WeightMatching::find(const std::string &plain) const {
  auto found = byName.find(plain);
  if (found == byName.end())
    return nullptr;
  const std::vector<NamedTensor> &all = found->second;
  if (all.size() > 1)
    fail(TSR_MISMATCH, "'", files.path(), "' has both '", all[0].name,
         "' and '", all[1].name,
         "', which are two names of one tensor; remove one of them");
  return &all[0];
}

/// Finds the tensor of a parameter. If the model ties two, a file may hold
/// either.
const NamedTensor *WeightMatching::source(const std::string &plain) const {
  if (const NamedTensor *found = find(plain))
    return found;
  for (const std::string &other : tiedNames(plain))
    if (wanted.count(other) == 0 && !isOfNoHead(other))
      if (const NamedTensor *found = find(other))
        return found;
  return nullptr;
}

void WeightMatching::check(const NamedTensor &source,
                           const std::vector<int64_t> &shape) const {
  const FileTensor &tensor = *source.tensor;
  const std::string &path = tensor.file->path();
  if (tensor.shape != shape)
    fail(TSR_MISMATCH, "'", path, "': '", source.name, "' has shape ",
         describeShape(tensor.shape), ", the artifact has ",
         describeShape(shape));
  if (fileElementBytes(tensor.dtype) == 0)
    fail(TSR_MISMATCH, "'", path, "': '", source.name, "' is ", tensor.dtype,
         ", use F32, F64, BF16 or F16");
  checkFinite(path, source.name, tensor);
}

void WeightMatching::match(const TensorInfo &parameter) {
  WeightMatch match{&parameter, {}, nullptr};
  if (isOfAdapter(parameter.name)) { // drawn, as no model holds it
    matches.push_back(std::move(match));
    return;
  }
  FileParts parts = filePartsOf(parameter, parameter.name);
  for (const std::string &name : parts.names) {
    std::string plain = plainName(name);
    const NamedTensor *found = source(plain);
    if (!found) {
      (isHead(plain) && parameter.init ? drawn : missing).push_back(name);
      continue;
    }
    check(*found, parts.shape);
    used.insert(found->tensor);
    match.parts.push_back(found->tensor);
  }
  if (match.parts.size() != parts.names.size())
    match.parts.clear();
  matches.push_back(std::move(match));
}

void WeightMatching::matchParameters() {
  for (const TensorInfo &tensor : metadata.tensors)
    if (tensor.role == Role::Parameter && !isOfAdapter(tensor.name))
      for (const std::string &name : filePartsOf(tensor, tensor.name).names)
        wanted.insert(plainName(name));
  for (const TensorInfo &tensor : metadata.tensors)
    if (tensor.role == Role::Parameter)
      match(tensor);
  if (!missing.empty())
    fail(TSR_MISMATCH, "'", files.path(), "' has no tensor ",
         listOfNames(missing), ", with or without a prefix as 'transformer.'; ",
         "it has ", files.tensors().size(),
         " tensors, of which the artifact takes ", used.size(),
         "; are they of the model that was compiled?");
  if (!drawn.empty())
    notes.push_back(concat("'", files.path(), "' has no ", listOfNames(drawn),
                           "; the head starts from its initial values"));
}

/// Values beside each other, to compare two tensors without holding them.
static constexpr int64_t comparedElements = 4096;

/// Returns the first element in which two tensors of one shape differ, or -1.
int64_t firstDifference(const FileTensor &left, const FileTensor &right) {
  double a[comparedElements], b[comparedElements];
  int64_t elements = left.elements();
  for (int64_t first = 0; first < elements; first += comparedElements) {
    int64_t count = std::min(comparedElements, elements - first);
    widenFile(left, first, count, a);
    widenFile(right, first, count, b);
    for (int64_t i = 0; i < count; ++i)
      if (!(a[i] == b[i]))
        return first + i;
  }
  return -1;
}

/// Checks that two tied tensors, of which one is read, say the same. If not,
/// the file is of a model that does not tie them.
void WeightMatching::checkTied(const NamedTensor &left,
                               const NamedTensor &right) const {
  check(left, right.tensor->shape);
  int64_t at = firstDifference(*left.tensor, *right.tensor);
  if (at < 0)
    return;
  double a, b;
  widenFile(*left.tensor, at, 1, &a);
  widenFile(*right.tensor, at, 1, &b);
  fail(TSR_MISMATCH, "'", files.path(), "': '", left.name, "' differs from '",
       right.name, "' (element ", at, ": ", a, " and ", b,
       "), but the artifact's model ties the two; ",
       isHead(plainName(left.name))
           ? "set \"tie_word_embeddings\" to false in its config.json (version "
             "5 of transformers writes true into every T5's) and compile again"
           : "remove the one that is not meant");
}

/// Returns whether it is another name of a parameter, which has been read
/// already.
bool WeightMatching::isTied(const NamedTensor &left,
                            const std::string &plain) const {
  for (const std::string &other : tiedNames(plain)) {
    if (wanted.count(other) == 0)
      continue;
    const NamedTensor *right = source(other);
    if (!right || right->tensor == left.tensor)
      return true;
    // A model that wants the copy alone does not tie the two, so the original
    // is left out; it is reported unless the two are equal.
    if (!isStoredForAnother(plain, other))
      return left.tensor->shape == right->tensor->shape &&
             firstDifference(*left.tensor, *right->tensor) < 0;
    checkTied(left, *right);
    return true;
  }
  return false;
}

/// A key of the config that nobody knows may be what the tensors are for.
void WeightMatching::refuseUnknown(
    const std::vector<std::string> &names) const {
  fail(TSR_MISMATCH, "'", files.path(), "' holds ", listOfNames(names),
       ", which the model lacks, and its config.json has ",
       listOfNames(metadata.model.unknownKeys),
       ", which Tessera does not know: this is another model. If the keys "
       "change nothing, remove them from the config.json and compile again");
}

void WeightMatching::explainRest() {
  std::vector<std::string> ofHeads, unknown;
  for (const auto &[plain, tensors] : byName)
    for (const NamedTensor &tensor : tensors) {
      if (used.count(tensor.tensor) || isBuffer(plain) ||
          (!isOfNoHead(plain) && isTied(tensor, plain)))
        continue;
      (isHead(plain) ? ofHeads : unknown).push_back(tensor.name);
    }
  if (!ofHeads.empty())
    notes.push_back(concat("'", files.path(), "': ", listOfNames(ofHeads),
                           " ignored: the model has no such head"));
  if (!unknown.empty() && !metadata.model.unknownKeys.empty())
    refuseUnknown(unknown);
  if (!unknown.empty())
    notes.push_back(concat("'", files.path(), "': ", listOfNames(unknown),
                           " ignored: the artifact has no such parameter"));
}

void writeWeight(const Rank &rank, const WeightMatch &match, int64_t seed) {
  if (match.parts.empty())
    return drawParameter(rank, *match.parameter, seed);
  Source source = [&](int64_t first, int64_t count, double *out) {
    widenParts(match.parts, first, count, out);
    if (match.delta)
      match.delta->addTo(first, count, out);
  };
  writeParameter(rank, *match.parameter, source);
}
} // namespace

/// Applies the adapter beside the weights to them: together they are the model
/// that was trained.
static void addAdapter(const std::string &directory, const TensorFiles &weights,
                       WeightMatching &matching) {
  const AdapterFiles adapter(directory);
  for (const auto &[name, pair] : matchAdapter(weights, adapter)) {
    const FileTensor *weight = weights.find(name);
    for (WeightMatch &match : matching.matches) {
      if (std::count(match.parts.begin(), match.parts.end(), weight) == 0)
        continue;
      if (match.parts.size() > 1)
        fail(TSR_UNSUPPORTED, "'", directory, "' adapts '", name,
             "', which is one of ", match.parts.size(), " parts of '",
             match.parameter->name,
             "'; merge the adapter into the model by tessera merge first");
      match.delta =
          std::make_shared<AdapterDelta>(*pair.a, *pair.b, adapter.config);
    }
  }
  matching.notes.push_back(concat("'", directory, "' is an adapter and the ",
                                  "model beside it: the two are added"));
}

/// Describes the weights as the base of adapters that are trained from here on.
static AdapterBase baseAt(const std::string &file, const TensorFiles &files) {
  AdapterBase base = baseOf(files);
  std::unique_ptr<char, decltype(&std::free)> path(
      realpath(file.c_str(), nullptr), &std::free);
  base.path = path ? path.get() : file;
  return base;
}

void loadWeights(Session &session, const std::string &given) {
  session.checkAlive();
  const std::string path = checkpointIn(given);
  const bool adds = isFile(concat(path, "/", adapterFile));
  const bool adapts = hasAdapters(session.metadata());
  std::unique_ptr<TensorFiles> files;
  std::unique_ptr<WeightMatching> matching;
  AdapterBase base;
  session.together([&] {
    const std::string file = weightsFile(path);
    checkSavedModel(session.metadata(), file);
    files = std::make_unique<TensorFiles>(file);
    matching = std::make_unique<WeightMatching>(session.metadata(), *files);
    if (adds && !adapts)
      addAdapter(path, *files, *matching);
    if (adds && adapts)
      checkAdapter(session.metadata(), path);
    if (adapts)
      base = baseAt(file, *files);
  });
  session.checkSame("1 if an adapter lies beside the weights, else 0,", adds);
  session.checkSameFiles(files->paths());
  if (adapts)
    session.setBase(std::move(base));
  bool fresh = !session.isReady();
  session.fillOnEveryRank([&](Rank &rank) {
    for (const WeightMatch &match : matching->matches)
      writeWeight(rank, match, session.seed());
    if (fresh)
      zeroMoments(rank);
  });
  if (fresh)
    session.resumeAt({0, session.seed(), 0});
  if (adds && adapts) {
    loadAdapter(session, path);
    matching->notes.push_back(
        concat("'", path, "': its adapter is loaded, too"));
  }
  session.setNotes(matching->notes);
}

} // namespace tessera
