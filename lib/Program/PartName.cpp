//===- PartName.cpp - the names of parts of a model -----------------------===//

#include "tessera/Program/PartName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

LayerName program::layerOfPart(StringRef part) {
  for (size_t begin = 0; begin < part.size();) {
    size_t end = std::min(part.find('.', begin), part.size());
    int64_t number = 0;
    if (!part.slice(begin, end).getAsInteger(10, number) && number >= 0)
      return {part.take_front(end), number};
    begin = end + 1;
  }
  return {};
}

std::string program::placeOf(StringRef part) {
  std::string number = std::to_string(layerOfPart(part).number);
  SmallVector<StringRef> parts;
  part.split(parts, '.');
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
  if (mark(rest))
    return llvm::join(rest, ".");
  mark(parts);
  return llvm::join(parts, ".");
}

std::string program::placeText(const std::string &place,
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
