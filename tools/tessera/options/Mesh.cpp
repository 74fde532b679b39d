//===- Mesh.cpp - the mesh that the command line asks for -----------------===//

#include "tools/tessera/options/Mesh.h"
#include "tessera/Options/MeshAxis.h"
#include <algorithm>
#include <sstream>

using namespace tessera;

/// Far beyond any machine; keeps the product of two sizes an int64_t.
static constexpr int64_t kMaximalSize = 1 << 20;

static std::string checkAxis(const std::string &axis, int64_t size) {
  if (axis != kPipelineAxis && axis != kDataAxis && axis != kContextAxis &&
      axis != kExpertAxis && axis != kTensorAxis)
    return "unknown mesh axis '" + axis +
           "'; use 'pp', 'dp', 'cp', 'ep' and 'tp'";
  if (size < 1 || size > kMaximalSize)
    return "mesh axis '" + axis + "' has size " + std::to_string(size) +
           "; it must be in [1, " + std::to_string(kMaximalSize) + "]";
  return "";
}

std::string Mesh::parse(const std::string &text) {
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) {
    size_t equal = part.find('=');
    std::string digits =
        equal == std::string::npos ? "" : part.substr(equal + 1);
    bool number = !digits.empty() && digits.size() < 10 &&
                  std::all_of(digits.begin(), digits.end(),
                              [](char c) { return c >= '0' && c <= '9'; });
    if (!number)
      return "mesh '" + text + "' is malformed at '" + part +
             "'; write it as dp=2,tp=4";
    std::string axis = part.substr(0, equal);
    for (const auto &[known, size] : axes)
      if (known == axis)
        return "mesh '" + text + "' names axis '" + axis + "' twice";
    int64_t size = std::stoll(digits);
    if (std::string why = checkAxis(axis, size); !why.empty())
      return why;
    axes.push_back({axis, size});
  }
  return "";
}

std::string Mesh::add(const std::string &axis, int64_t size) {
  if (std::string why = checkAxis(axis, size); !why.empty())
    return why;
  for (const auto &[known, has] : axes) {
    if (known != axis)
      continue;
    if (has == size)
      return "";
    return "--mesh says " + axis + "=" + std::to_string(has) +
           ", but its alias says " + std::to_string(size) + "; give one";
  }
  // Tensor parallel groups are neighbours: tp varies fastest.
  axes.insert(axis == kTensorAxis ? axes.end() : axes.begin(), {axis, size});
  return "";
}

std::string Mesh::str() const {
  std::string text;
  for (const auto &[axis, size] : axes)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text;
}

int64_t Mesh::sizeOf(const std::string &axis) const {
  for (const auto &[name, size] : axes)
    if (name == axis)
      return size;
  return 1;
}

int64_t Mesh::ranks() const {
  int64_t ranks = 1;
  for (const auto &axis : axes)
    ranks *= axis.second;
  return ranks;
}
