#include "runtime/data/Data.h"

#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <algorithm>

namespace tessera {

// Keeps the order's random stream apart from those of the model.
static constexpr int64_t orderStream = 0x64617461;

Data::Data(const std::vector<std::string> &paths, const DataOptions &given)
    : options(given) {
  if (options.sequence < 1 || options.vocabulary < 1)
    fail(TSR_INVALID_ARGUMENT, "sequence is ", options.sequence,
         " and vocabulary is ", options.vocabulary, ", both must be positive");
  if (options.target < 0)
    fail(TSR_INVALID_ARGUMENT, "target is ", options.target,
         ", it must not be negative");
  if (paths.empty())
    fail(TSR_INVALID_ARGUMENT, "no data file is given");
  for (const std::string &path : paths) {
    auto file =
        std::make_unique<TokenFile>(path, options.format, options.vocabulary);
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i].file->path() == file->path() && paths[i] != path)
        fail(TSR_INVALID_ARGUMENT, "'", paths[i], "' and '", path,
             "' are given, but both mean the tokens of '", file->path(),
             "'; give one of them");
    int64_t first = total;
    total += file->count();
    parts.push_back({std::move(file), first});
  }
  if (total < options.columns())
    fail(TSR_INVALID_ARGUMENT, "the data (", paths.size(), " files, first '",
         paths[0], "') has ", total, " tokens, one sequence needs ",
         options.sequence, " + ", options.columns() - options.sequence,
         "; use more data or a shorter sequence");
}

int64_t Data::tokenBytes() const {
  int64_t widest = 1;
  for (const Part &part : parts)
    widest = std::max(widest, part.file->width());
  return widest;
}

int64_t Data::documents() const {
  int64_t count = 0;
  for (const Part &part : parts)
    count += part.file->index() ? part.file->index()->documents() : 0;
  return count;
}

Data::Document Data::document(int64_t number) const {
  int64_t left = number;
  for (const Part &part : parts) {
    const MegatronIndex *index = part.file->index();
    if (!index || left < 0)
      continue;
    if (left < index->documents()) {
      int64_t begin = index->begin(left);
      return {part.first + begin, index->begin(left + 1) - begin};
    }
    left -= index->documents();
  }
  fail(TSR_INVALID_ARGUMENT, "there is no document ", number,
       ", the files say that they have ", documents(), ", counted from 0");
}

void Data::copyTokens(int64_t first, int64_t count, int32_t *out) const {
  auto after = [](int64_t position, const Part &part) {
    return position < part.first;
  };
  auto part = std::upper_bound(parts.begin(), parts.end(), first, after) - 1;
  for (; count != 0; ++part) {
    int64_t position = first - part->first;
    int64_t length = std::min(count, part->file->count() - position);
    part->file->read(position, length, out);
    first += length;
    count -= length;
    out += length;
  }
}

void Data::batch(int64_t step, int64_t batch, int32_t *out) const {
  int64_t last;
  if (step < 0 || batch < 1 || __builtin_mul_overflow(step, batch, &last) ||
      __builtin_add_overflow(last, batch, &last))
    fail(TSR_INVALID_ARGUMENT, "step is ", step, " and batch is ", batch,
         ", steps count from 0 and a batch has at least one sequence");
  int64_t columns = options.columns();
  staged.resize(columns * batch);
  for (int64_t row = 0; row < batch; ++row) {
    int64_t visit = step * batch + row, epoch = visit / sequences();
    uint64_t key = tsr_abi_stream(options.seed, epoch, orderStream);
    int64_t sequence = permute(visit % sequences(), sequences(), key);
    copyTokens(sequence * options.stride(), columns,
               staged.data() + row * columns);
  }
  std::copy(staged.begin(), staged.end(), out); // untouched on failure
}

} // namespace tessera
