//===- Place.cpp - parts of a model that layers have alike ----------------===//

#include "tools/tessera/report/Place.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

int64_t tessera::layerOf(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : parts) {
    uint64_t number = 0;
    if (!part.getAsInteger(10, number))
      return static_cast<int64_t>(number);
  }
  return -1;
}

std::string tessera::placeOf(StringRef name, int64_t layer) {
  std::string number = std::to_string(layer);
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  auto mark = [&](MutableArrayRef<StringRef> names) {
    auto found = llvm::find(names, number);
    if (found == names.end())
      return false;
    *found = "#";
    return true;
  };
  MutableArrayRef<StringRef> rest = parts;
  if (parts.size() > 2 && parts[0] == "h" && parts[1] == number)
    rest = rest.drop_front(2);
  return mark(rest) ? llvm::join(rest, ".")
                    : (mark(parts), llvm::join(parts, "."));
}

std::string tessera::placeText(const std::string &place,
                               const std::set<int64_t> &numbers) {
  if (numbers.empty())
    return place.empty() ? "-" : place;
  std::string range = std::to_string(*numbers.begin());
  if (numbers.size() > 1)
    range += "-" + std::to_string(*numbers.rbegin());
  size_t mark = place.find('#');
  return mark == std::string::npos ? place
                                   : std::string(place).replace(mark, 1, range);
}
