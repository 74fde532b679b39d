//===- SameFiles.cpp - what processes read must be the same ---------------===//
// A stale copy of a file on one host would be trained on without an error: each
// process reads files of its own, and ranks that hold the same tensor never
// compare it. So the processes compare the contents of all files that they
// read.
//===----------------------------------------------------------------------===//
#include "runtime/session/Session.h"

#include "runtime/support/JsonLimits.h"
#include "tessera/program_fields.hpp"

#include <algorithm>

namespace tessera {

using nlohmann::json;

/// A file is the same under another path; its place among the files counts.
static uint64_t hashOfContents(const std::vector<FileContent> &files) {
  std::string text;
  for (const FileContent &file : files)
    text += concat(file.content.size(), ":", file.content, "\n");
  return hashBytes(text.data(), text.size());
}

static std::string writeFiles(const std::vector<FileContent> &files) {
  JsonTree tree(JsonTree::Type::array);
  for (const FileContent &file : files) {
    json &entry = tree.root.emplace_back(JsonTree::Type::array);
    entry.push_back(file.path);
    entry.push_back(file.content);
  }
  return writeJson(tree.root);
}

static std::vector<FileContent> readFiles(int64_t rank,
                                          const std::string &text) {
  std::string source = concat("what rank ", rank, " reads");
  JsonTree tree = parseJson(source, text, json_kinds::shared_files);
  std::vector<FileContent> files;
  for (const JsonView &item : JsonView(tree.root, source).items()) {
    std::vector<JsonView> pair = item.items();
    if (pair.size() != 2)
      item.refuse("must be a path and a content");
    files.push_back({pair[0].text(), pair[1].text()});
  }
  return files;
}

/// Names the first difference between rank 0 and another rank.
[[noreturn]] static void refuseOther(int64_t rank,
                                     const std::vector<FileContent> &other,
                                     const std::vector<FileContent> &first) {
  for (size_t i = 0; i < std::min(other.size(), first.size()); ++i)
    if (other[i].content != first[i].content)
      fail(TSR_MISMATCH, "rank ", rank, " reads '", other[i].path, "' of ",
           other[i].content, ", but rank 0 reads '", first[i].path, "' of ",
           first[i].content,
           "; all processes must read the same: copy the right file to each "
           "host");
  fail(TSR_MISMATCH, "rank ", rank, " reads ", other.size(), " files (first '",
       other.empty() ? "" : other[0].path, "'), but rank 0 reads ",
       first.size(), " (first '", first.empty() ? "" : first[0].path,
       "'); all processes must read the same: copy the right files to each "
       "host");
}

void Session::checkSameContents(const std::vector<FileContent> &files) const {
  if (hasAllRanks())
    return;
  std::vector<int64_t> hashes =
      processes.gatherAll(static_cast<int64_t>(hashOfContents(files)));
  if (std::all_of(hashes.begin(), hashes.end(),
                  [&](int64_t hash) { return hash == hashes[0]; }))
    return;
  std::vector<std::string> texts = processes.gatherTexts(writeFiles(files));
  std::vector<FileContent> first = readFiles(0, texts[0]);
  for (size_t rank = 1; rank < texts.size(); ++rank)
    if (hashes[rank] != hashes[0])
      refuseOther(static_cast<int64_t>(rank),
                  readFiles(static_cast<int64_t>(rank), texts[rank]), first);
}

void Session::checkSameFiles(const std::vector<std::string> &paths) const {
  if (hasAllRanks())
    return;
  std::vector<FileContent> files;
  together([&] {
    for (const std::string &path : paths)
      files.push_back(contentOf(path));
  });
  checkSameContents(files);
}

void Session::checkSameTokens(const Data &data) const {
  if (hasAllRanks())
    return;
  std::vector<FileContent> files;
  together([&] { files = data.contents(data.hashContents()); });
  checkSameContents(files);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Returns the target that an artifact was compiled for, by its metadata.
static std::string targetOf(const Artifact &artifact) {
  JsonTree metadata =
      parseJson(artifact.path, artifact.text, json_kinds::metadata);
  return writeJson(metadata.root[program_fields::Program::target.key]);
}

/// Programs of one plan differ if they were compiled for different machines.
/// Those for the same one must not: they would come from different compilers.
void Session::checkSameCode(const Artifact &artifact) const {
  if (hasAllRanks())
    return;
  std::string own;
  together([&] { own = hashText(artifact.hash) + targetOf(artifact); });
  std::vector<std::string> texts = processes.gatherTexts(own);
  const size_t digits = hashText(0).size();
  for (size_t rank = 1; rank < texts.size(); ++rank)
    if (texts[rank] != texts[0] &&
        texts[rank].substr(digits) == texts[0].substr(digits))
      fail(TSR_MISMATCH, "rank ", rank, " runs an artifact with the hash ",
           texts[rank].substr(0, digits), ", rank 0 one with the hash ",
           texts[0].substr(0, digits),
           ", of the same plan and for the same processors; compile it once, "
           "and copy it to each host");
}

//===----------------------------------------------------------------------===//
// The data of a run
//===----------------------------------------------------------------------===//

// At most so many are hashed at once; a thread hashes more while the run
// trains.
static constexpr int64_t fewTokens = int64_t(1) << 24;

const std::optional<DataIdentity> &Session::data() {
  if (dataHashing)
    dataIdentity->setContents(dataHashing->wait());
  dataHashing = nullptr;
  return dataIdentity;
}

static bool isHashedAtOnce(const DataIdentity &identity) {
  int64_t tokens = 0;
  for (const DataIdentity::File &file : identity.files)
    tokens += file.tokens;
  return tokens <= fewTokens;
}

void Session::useData(const Data &used, DataChange change) {
  checkAlive();
  const bool isRefused = change == DataChange::Refused;
  DataIdentity identity;
  std::vector<FileContent> files;
  const DataIdentity *before = nullptr;
  bool isCompared = true;
  together([&] {
    before = data() ? &*data() : nullptr;
    identity = used.identity();
    bool isSmall = isHashedAtOnce(identity);
    if (before && isRefused && !isSmall)
      checkSameData(identity, *before); // without reading all of it
    isCompared = !hasAllRanks() || isSmall || (before && before->hasContents());
    if (!isCompared)
      return;
    std::vector<std::string> hashes = used.hashContents();
    identity.setContents(hashes);
    files = used.contents(hashes);
  });
  checkSameContents(files);
  if (before && isRefused)
    checkSameData(identity, *before);
  bool isOther = !before || !identity.differenceFrom(*before).empty();
  if (isOther && !isRefused)
    position.sequences = 0;
  dataIdentity = identity;
  dataHashing = isCompared ? nullptr : used.startHashing();
}

void Session::adoptData(const DataIdentity &recorded) {
  if (data())
    checkSameData(*data(), recorded);
  else
    dataIdentity = recorded;
}

} // namespace tessera
