//===- Data.cpp - token streams -------------------------------------------===//
#include "runtime/data/Data.h"

#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera {

// Keeps the order's random streams apart from those of the model. The streams
// of weighted files follow it.
static constexpr int64_t orderStream = 0x64617461;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Data::Data(const std::vector<std::string> &paths, const DataOptions &given)
    : options(given) {
  checkOptions(paths);
  openFiles(paths);
  std::vector<SplitFile> splits;
  for (const auto &file : files)
    splits.emplace_back(*file, options.validationFraction);
  for (const SplitFile &split : splits)
    parts.push_back(options.part == DataPart::Training ? split.training
                                                       : split.validation);
  makeStreams(splits);
  mixture = std::make_unique<Mixture>(shares);
}

void Data::checkOptions(const std::vector<std::string> &paths) const {
  if (options.sequence < 1 || options.vocabulary < 1)
    fail(TSR_INVALID_ARGUMENT, "sequence is ", options.sequence,
         " and vocabulary is ", options.vocabulary, ", both must be positive");
  if (options.target < 0)
    fail(TSR_INVALID_ARGUMENT, "target is ", options.target,
         ", it must not be negative");
  if (paths.empty())
    fail(TSR_INVALID_ARGUMENT, "no data file is given");
  double fraction = options.validationFraction;
  if (!(fraction >= 0 && fraction < 1))
    fail(TSR_INVALID_ARGUMENT, "the validation fraction is ", fraction,
         ", it must be at least 0 and less than 1");
  if (fraction == 0 && options.part == DataPart::Validation)
    fail(TSR_INVALID_ARGUMENT,
         "the validation part is asked for, but the validation fraction is 0");
  if (isWeighted())
    checkWeights(paths);
}

void Data::checkWeights(const std::vector<std::string> &paths) const {
  const std::vector<double> &weights = options.weights;
  for (size_t i = 0; i < weights.size(); ++i)
    if (!std::isfinite(weights[i]) || weights[i] < 0)
      fail(TSR_INVALID_ARGUMENT, "the weight of '", paths[i], "' is ",
           weights[i], ", it must be a number that is not negative");
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum <= 0 || !std::isfinite(sum))
    fail(TSR_INVALID_ARGUMENT, "the weights of ", weights.size(),
         " files sum to ", sum,
         ", it must be a positive number; give at least one file a weight "
         "above 0");
}

void Data::openFiles(const std::vector<std::string> &paths) {
  for (const std::string &path : paths) {
    auto file =
        std::make_shared<TokenFile>(path, options.format, options.vocabulary);
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i]->path() != file->path())
        continue;
      if (paths[i] != path)
        fail(TSR_INVALID_ARGUMENT, "'", paths[i], "' and '", path,
             "' are given, but both mean the tokens of '", file->path(),
             "'; give one of them");
      if (isWeighted())
        fail(TSR_INVALID_ARGUMENT, "'", path, "' is given with weight ",
             options.weights[i], " and with weight ",
             options.weights[files.size()],
             "; give it once, with the sum of the two");
    }
    files.push_back(std::move(file));
  }
}

/// A weight that is lost would leave its file out without a word.
void Data::chooseShares() {
  shares = {1};
  if (!isWeighted())
    return;
  shares = Mixture::sharesOf(options.weights);
  for (size_t i = 0; i < shares.size(); ++i)
    if (shares[i] == 0 && options.weights[i] > 0)
      fail(TSR_INVALID_ARGUMENT, "the weight of '", files[i]->path(), "' is ",
           options.weights[i], " of ",
           std::accumulate(options.weights.begin(), options.weights.end(), 0.0),
           ", less than the smallest share, 1 of ", Mixture::longestPeriod,
           "; raise it, or leave the file out");
}

/// Makes each stream and, if validation is held out, its other part, too.
void Data::makeStreams(const std::vector<SplitFile> &splits) {
  chooseShares();
  for (size_t i = 0; i < shares.size(); ++i) {
    std::vector<FilePart> training, validation;
    for (size_t j = 0; j < splits.size(); ++j) {
      if (isWeighted() && i != j)
        continue;
      training.push_back(splits[j].training);
      validation.push_back(splits[j].validation);
    }
    TokenStream first(training, options.shape());
    TokenStream second(validation, options.shape());
    if (shares[i] > 0)
      checkLength(i, first, second);
    streams.push_back(options.part == DataPart::Training ? std::move(first)
                                                         : std::move(second));
  }
}

void Data::checkLength(size_t stream, const TokenStream &training,
                       const TokenStream &validation) const {
  bool isSplit = options.validationFraction > 0, hasDocuments = false;
  for (size_t i = 0; i < files.size(); ++i)
    hasDocuments |= files[i]->index() && (!isWeighted() || i == stream);
  if (training.sequences() > 0 && (!isSplit || validation.sequences() > 0))
    return;
  std::string what =
      isWeighted() ? concat("'", files[stream]->path(), "'")
                   : concat("the data (", files.size(),
                            files.size() == 1 ? " file, '" : " files, first '",
                            files[0]->path(), "')");
  std::string split;
  if (isSplit)
    split =
        concat(", of which validation fraction ", options.validationFraction,
               " leaves ", training.tokens(), " for training and holds out ",
               validation.tokens(), hasDocuments ? " (whole documents)" : "");
  fail(TSR_INVALID_ARGUMENT, what, " has ",
       training.tokens() + validation.tokens(), " tokens", split,
       ", one sequence needs ", options.sequence, " + ",
       options.shape().columns - options.sequence, "; use more data",
       isSplit ? ", another fraction" : "", " or a shorter sequence");
}

//===----------------------------------------------------------------------===//
// Properties of the opened files
//===----------------------------------------------------------------------===//

int64_t Data::tokens() const {
  int64_t count = 0;
  for (const FilePart &part : parts)
    count += part.count;
  return count;
}

int64_t Data::tokenBytes() const {
  int64_t widest = 1;
  for (const auto &file : files)
    widest = std::max(widest, file->width());
  return widest;
}

int64_t Data::documents() const {
  int64_t count = 0;
  for (const FilePart &part : parts)
    count += part.documents;
  return count;
}

Data::Document Data::document(int64_t number) const {
  int64_t left = number, before = 0;
  for (const FilePart &part : parts) {
    if (left >= 0 && left < part.documents) {
      const MegatronIndex &index = *part.file->index();
      int64_t at = part.firstDocument + left, begin = index.begin(at);
      return {before + begin - part.begin, index.begin(at + 1) - begin};
    }
    left -= part.documents;
    before += part.count;
  }
  fail(TSR_INVALID_ARGUMENT, "there is no document ", number,
       ", the files say that they have ", documents(), ", counted from 0");
}

int64_t Data::sequences() const {
  int64_t count = 0;
  for (size_t i = 0; i < streams.size(); ++i)
    if (shares[i] > 0)
      count += streams[i].sequences();
  return count;
}

Data::FileShare Data::fileShare(size_t file) const {
  if (file >= parts.size())
    fail(TSR_INVALID_ARGUMENT, "there is no file ", file, ", there are ",
         parts.size(), ", counted from 0");
  const FilePart &part = parts[file];
  int64_t own = isWeighted() ? shares[file] : part.count;
  int64_t all = isWeighted()
                    ? std::accumulate(shares.begin(), shares.end(), int64_t(0))
                    : tokens();
  return {part.begin, part.count,
          static_cast<double>(own) / static_cast<double>(all)};
}

DataIdentity Data::identity() const {
  DataIdentity identity;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string &path = files[i]->path();
    identity.files.push_back(
        {path.substr(path.rfind('/') + 1), files[i]->count(),
         hashText(files[i]->sampleHash()), isWeighted() ? shares[i] : 0,
         parts[i].begin, parts[i].count});
  }
  return identity;
}

std::vector<std::string> Data::hashContents() const {
  std::vector<std::string> hashes;
  const std::atomic<bool> stops = false;
  for (const auto &file : files)
    hashes.push_back(hashText(file->contentHash(HashThreads::All, stops)));
  return hashes;
}

std::shared_ptr<DataHashing> Data::startHashing() const {
  return std::make_shared<DataHashing>(files);
}

std::vector<FileContent>
Data::contents(const std::vector<std::string> &hashes) const {
  std::vector<FileContent> contents;
  for (size_t i = 0; i < files.size(); ++i) {
    std::string text =
        concat(files[i]->count(), " tokens (hash ", hashes[i], ")");
    if (const MegatronIndex *index = files[i]->index())
      text += concat(", an index of ", index->documents(), " documents (hash ",
                     hashText(contentHash(index->content())), ")");
    text += concat(", of which tokens ", parts[i].begin, " to ",
                   parts[i].begin + parts[i].count, " are read");
    if (isWeighted())
      text += concat(" with ", shares[i], " of the shares");
    contents.push_back({files[i]->path(), text});
  }
  return contents;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void Data::batch(int64_t step, int64_t batch, int32_t *out) const {
  int64_t last;
  if (step < 0 || batch < 1 || __builtin_mul_overflow(step, batch, &last) ||
      __builtin_add_overflow(last, batch, &last))
    fail(TSR_INVALID_ARGUMENT, "step is ", step, " and batch is ", batch,
         ", steps count from 0 and a batch has at least one sequence");
  read(step * batch, batch, out);
}

void Data::read(int64_t first, int64_t count, int32_t *out) const {
  int64_t last;
  if (first < 0 || count < 1 || __builtin_add_overflow(first, count, &last))
    fail(TSR_INVALID_ARGUMENT, "first is ", first, " and count is ", count,
         ", sequences count from 0 and at least one is read");
  int64_t columns = options.shape().columns;
  staged.resize(columns * count);
  for (int64_t row = 0; row < count; ++row) {
    Mixture::Visit visit = mixture->at(first + row);
    const TokenStream &stream = streams[visit.source];
    int64_t size = stream.sequences(), epoch = visit.number / size;
    uint64_t key =
        tsr_abi_stream(options.seed, epoch, orderStream + visit.source);
    stream.read(permute(visit.number % size, size, key),
                staged.data() + row * columns);
  }
  std::copy(staged.begin(), staged.end(), out); // untouched on failure
}

} // namespace tessera
