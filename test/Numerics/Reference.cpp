//===- Reference.cpp - what PyTorch computed ------------------------------===//

#include "test/Numerics/Reference.h"
#include "test/Models.h"
#include "test/Numerics/Model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera::test;
namespace json = llvm::json;

static std::unique_ptr<llvm::MemoryBuffer> readFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(bool(file)) << path;
  return file ? std::move(*file) : llvm::MemoryBuffer::getMemBuffer("");
}

static json::Object parseObject(llvm::StringRef text) {
  auto value = json::parse(text);
  bool isObject = value && value->getAsObject();
  EXPECT_TRUE(isObject) << text.take_front(80).str();
  if (isObject)
    return *value->getAsObject();
  llvm::consumeError(value.takeError());
  return {};
}

/// Calls `visit` with name, entry of the header and bytes of every tensor.
template <typename Visit>
static void forEachTensor(const std::string &path, Visit visit) {
  auto file = readFile(path);
  llvm::StringRef bytes = file->getBuffer();
  if (bytes.size() < 8)
    return;
  size_t length = llvm::support::endian::read64le(bytes.data());
  llvm::StringRef data = bytes.drop_front(8 + length);
  for (auto &[name, value] : parseObject(bytes.substr(8, length))) {
    if (name == "__metadata__")
      continue;
    const json::Object &entry = *value.getAsObject();
    const json::Array &offsets = *entry.getArray("data_offsets");
    size_t begin = *offsets[0].getAsInteger(), end = *offsets[1].getAsInteger();
    visit(name.str(), entry, data.slice(begin, end));
  }
}

std::map<std::string, Values>
tessera::test::readTensors(const std::string &path) {
  std::map<std::string, Values> tensors;
  forEachTensor(path, [&](const std::string &name, const json::Object &,
                          llvm::StringRef bytes) {
    Values &values = tensors[name];
    values.resize(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
  });
  return tensors;
}

/// "F32 [2, 3]" and the bytes, by name.
static auto describeTensors(const std::string &path) {
  std::map<std::string, std::pair<std::string, std::string>> found;
  forEachTensor(path, [&](const std::string &name, const json::Object &entry,
                          llvm::StringRef bytes) {
    std::string shape;
    llvm::raw_string_ostream(shape) << *entry.get("shape");
    found[name] = {entry.getString("dtype")->str() + " " + shape, bytes.str()};
  });
  return found;
}

void tessera::test::expectSameTensors(const std::string &path,
                                      const std::string &wanted) {
  auto found = describeTensors(path), expected = describeTensors(wanted);
  EXPECT_EQ(found.size(), expected.size());
  for (const auto &[name, tensor] : expected) {
    ASSERT_TRUE(found.count(name)) << name;
    EXPECT_EQ(found[name].first, tensor.first) << name;
    EXPECT_TRUE(found[name].second == tensor.second) << name;
  }
}

std::string tessera::test::referencePath(const std::string &name) {
  return std::string(REFERENCE_DIRECTORY) + "/" + name;
}

std::vector<std::string> tessera::test::ownReferences() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator folder(REFERENCE_DIRECTORY, error),
       end;
       folder != end && !error; folder.increment(error))
    if (llvm::sys::fs::exists(folder->path() + "/config.json"))
      names.push_back(llvm::sys::path::filename(folder->path()).str());
  EXPECT_FALSE(error) << REFERENCE_DIRECTORY << ": " << error.message();
  llvm::sort(names);
  return names;
}

std::string tessera::test::referenceConfig(const std::string &name) {
  std::string own = referencePath(name) + "/config.json";
  if (llvm::sys::fs::exists(own))
    return own;
  static std::map<std::string, std::string> written;
  std::string &path = written[name];
  if (path.empty())
    path = scratchFile(name + ".json", configWithoutDropout(modelPath(name)));
  return path;
}

Reference tessera::test::readReference(const std::string &directory) {
  Reference reference = {};
  auto text = readFile(directory + "/expected.json");
  json::Object record = parseObject(text->getBuffer());
  const json::Object *hyper = record.getObject("hyperparameters");
  if (!hyper)
    return reference;
  reference.lr = *hyper->getNumber("lr");
  reference.minLr = *hyper->getNumber("min_lr");
  reference.beta1 = *hyper->getNumber("beta1");
  reference.beta2 = *hyper->getNumber("beta2");
  reference.clip = *hyper->getNumber("clip");
  reference.totalSteps = *hyper->getInteger("total_steps");
  for (const json::Value &value : *record.getArray("steps")) {
    const json::Object &step = *value.getAsObject();
    reference.steps.push_back({*step.getNumber("loss"),
                               *step.getNumber("grad_norm"),
                               *step.getNumber("lr")});
  }
  auto read = [&](const char *name, Tokens &into) {
    const json::Array *rows = record.getArray(name);
    for (size_t k = 0; rows && k < rows->size(); ++k)
      for (const json::Value &token : *(*rows)[k].getAsArray())
        into.push_back(*token.getAsInteger());
  };
  read("tokens", reference.tokens);
  read("ids", reference.ids);
  read("labels", reference.labels);
  read("token_types", reference.tokenTypes);
  read("segments", reference.segments);
  reference.ignoresLabels = record.getBoolean("ignores_labels").value_or(false);
  reference.documentMask = record.getBoolean("document_mask").value_or(false);
  reference.paddingMask = record.getBoolean("padding_mask").value_or(false);
  if (reference.tokenTypes.empty() && !reference.labels.empty() &&
      !reference.ignoresLabels)
    reference.target =
        reference.labels.size() / record.getArray("labels")->size();
  reference.tensors = readTensors(directory + "/expected.safetensors");
  return reference;
}

double Reference::clipFactor(size_t step) const {
  return std::min(1.0, clip / steps[step].gradNorm);
}

static const Values &find(const std::map<std::string, Values> &tensors,
                          const std::string &what, size_t step,
                          const std::string &name) {
  static const Values none;
  auto it = tensors.find(what + "." + std::to_string(step + 1) + "." + name);
  EXPECT_NE(it, tensors.end()) << what << " of " << name;
  return it == tensors.end() ? none : it->second;
}

const Values &Reference::gradient(size_t step, const std::string &name) const {
  return find(tensors, "gradient", step, name);
}

const Values &Reference::parameter(size_t step, const std::string &name) const {
  return find(tensors, "parameter", step, name);
}

Values Reference::moment1(size_t step, const std::string &name) const {
  Values m(gradient(0, name).size(), 0.0);
  for (size_t t = 0; t <= step; ++t)
    for (size_t k = 0; k < m.size(); ++k)
      m[k] = beta1 * m[k] + (1 - beta1) * clipFactor(t) * gradient(t, name)[k];
  return m;
}

Values Reference::moment2(size_t step, const std::string &name) const {
  Values v(gradient(0, name).size(), 0.0);
  for (size_t t = 0; t <= step; ++t) {
    const Values &g = gradient(t, name);
    double share = (1 - beta2) * clipFactor(t) * clipFactor(t);
    for (size_t k = 0; k < v.size(); ++k)
      v[k] = beta2 * v[k] + share * g[k] * g[k];
  }
  return v;
}
