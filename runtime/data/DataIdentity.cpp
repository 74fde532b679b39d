//===- DataIdentity.cpp - what a run was trained on -----------------------===//
#include "runtime/data/DataIdentity.h"

#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

using File = DataIdentity::File;

static std::string describeContent(const File &file, const std::string &hash) {
  return concat("'", file.name, "' of ", file.tokens, " tokens (hash ", hash,
                ")");
}

static std::string describePart(const File &file) {
  return concat("tokens ", file.first, " to ", file.first + file.count);
}

/// Says how a file differs from the one that was in its place.
static std::string differenceOf(const File &own, const File &other) {
  bool knowsAll = !own.contentHash.empty() && !other.contentHash.empty();
  const std::string &hash = knowsAll ? own.contentHash : own.sampleHash;
  const std::string &before = knowsAll ? other.contentHash : other.sampleHash;
  if (own.tokens != other.tokens || hash != before)
    return concat("is ", describeContent(own, hash), ", it was ",
                  describeContent(other, before));
  if (own.share != other.share)
    return concat("('", own.name, "') has ", own.share,
                  " of the shares, it had ", other.share);
  if (own.first != other.first || own.count != other.count)
    return concat("('", own.name, "') gives ", describePart(own), ", it gave ",
                  describePart(other));
  return "";
}

std::string DataIdentity::differenceFrom(const DataIdentity &other) const {
  if (files.size() != other.files.size())
    return concat("the number of files is ", files.size(), ", it was ",
                  other.files.size());
  for (size_t i = 0; i < files.size(); ++i)
    if (std::string text = differenceOf(files[i], other.files[i]);
        !text.empty())
      return concat("file ", i + 1, " ", text);
  return "";
}

bool DataIdentity::hasContents() const {
  return std::any_of(files.begin(), files.end(), [](const File &file) {
    return !file.contentHash.empty();
  });
}

void DataIdentity::setContents(const std::vector<std::string> &hashes) {
  for (size_t i = 0; i < files.size() && i < hashes.size(); ++i)
    files[i].contentHash = hashes[i];
}

void checkSameData(const DataIdentity &now, const DataIdentity &before) {
  std::string difference = now.differenceFrom(before);
  if (!difference.empty())
    fail(TSR_MISMATCH,
         "the data is not what the checkpoint was trained on: ", difference,
         "; give the same files, weights and validation fraction, or go on "
         "with other data by --change-data");
}

} // namespace tessera
