#include "runtime/collectives/process/Refusals.h"

#include "runtime/support/Status.h"

namespace tessera {

using Clock = std::chrono::steady_clock;

// More refusals of a kind that was told are told again after this time.
static constexpr std::chrono::seconds quietTime{30};

static std::string counted(int64_t connections) {
  return concat(connections, connections == 1 ? " connection was refused"
                                              : " connections were refused");
}

void Refusals::record(Refusal kind, const std::string &host,
                      const std::string &why) {
  Kind &entry = kinds[kind];
  ++total;
  ++entry.count;
  entry.last = concat(host, ": ", printableMessage(why));
  if (!note || Clock::now() < entry.quietUntil)
    return;
  entry.quietUntil = Clock::now() + quietTime;
  note(concat(counted(entry.count),
              entry.count == 1 ? ", from "
                               : ", the last "
                                 "from ",
              entry.last, "; the others are waited for"));
}

std::string Refusals::describe() const {
  if (total == 0)
    return "";
  if (kinds.size() == 1)
    return concat("; ", counted(total), ", the last from ",
                  kinds.begin()->second.last);
  std::string text = "; " + counted(total);
  const char *before = ": ";
  for (const auto &[kind, entry] : kinds) {
    text += concat(before, entry.count, entry.count == 1 ? " time" : " times",
                   ", the last from ", entry.last);
    before = "; ";
  }
  return text;
}

} // namespace tessera
