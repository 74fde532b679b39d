//===- MeshShape.cpp - axes and sizes of a mesh ---------------------------===//

#include "tessera/Options/MeshShape.h"
#include <algorithm>
#include <sstream>

using namespace tessera;

/// May a mesh of so many ranks have this axis too?
static std::string checkSize(MeshAxis axis, int64_t size, int64_t ranks) {
  std::string name = "mesh axis '" + std::string(nameOf(axis)) + "' ";
  if (size < 1)
    return name + "has size " + std::to_string(size) +
           "; it must be at least 1";
  if (size > MeshShape::kMostRanks / ranks)
    return name + "of size " + std::to_string(size) + " makes more than " +
           std::to_string(MeshShape::kMostRanks) + " ranks; use a smaller mesh";
  return "";
}

static std::string trimmed(const std::string &text) {
  size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos)
    return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string MeshShape::parse(const std::string &text) {
  axes.clear();
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) {
    size_t equal = part.find('=');
    std::string name = trimmed(part.substr(0, equal)), digits;
    if (equal != std::string::npos)
      digits = trimmed(part.substr(equal + 1));
    bool isNumber = !digits.empty() && digits.size() < 19 &&
                    std::all_of(digits.begin(), digits.end(),
                                [](char c) { return c >= '0' && c <= '9'; });
    if (name.empty() || !isNumber)
      return "mesh '" + text + "' is malformed at '" + part +
             "'; write it as dp=2,tp=4";
    std::optional<MeshAxis> axis = fromName<MeshAxis>(name);
    if (!axis)
      return "unknown mesh axis '" + name + "'; use " +
             listNames<MeshAxis>("or", "'");
    for (const Axis &known : axes)
      if (known.axis == *axis)
        return "mesh '" + text + "' names axis '" + name + "' twice";
    int64_t size = std::stoll(digits);
    if (std::string why = checkSize(*axis, size, ranks()); !why.empty())
      return why;
    axes.push_back({*axis, size});
  }
  return "";
}

std::string MeshShape::add(MeshAxis axis, int64_t size) {
  for (const Axis &known : axes) {
    if (known.axis != axis)
      continue;
    if (known.size == size)
      return "";
    return "--mesh says " + std::string(nameOf(axis)) + "=" +
           std::to_string(known.size) + ", but its alias says " +
           std::to_string(size) + "; give one";
  }
  if (std::string why = checkSize(axis, size, ranks()); !why.empty())
    return why;
  // Tensor parallel groups are neighbours: tp varies fastest.
  axes.insert(axis == MeshAxis::Tensor ? axes.end() : axes.begin(),
              {axis, size});
  return "";
}

std::string MeshShape::str() const {
  std::string text;
  for (const Axis &axis : axes)
    text += (text.empty() ? "" : ",") + std::string(nameOf(axis.axis)) + "=" +
            std::to_string(axis.size);
  return text;
}

int64_t MeshShape::sizeOf(MeshAxis axis) const {
  for (const Axis &known : axes)
    if (known.axis == axis)
      return known.size;
  return 1;
}

int64_t MeshShape::ranks() const {
  int64_t ranks = 1;
  for (const Axis &axis : axes)
    ranks *= axis.size;
  return ranks;
}

int64_t MeshShape::lanes() const {
  return sizeOf(MeshAxis::Replica) * sizeOf(MeshAxis::Data) *
         sizeOf(MeshAxis::Expert);
}
