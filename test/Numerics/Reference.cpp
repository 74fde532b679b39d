//===- Reference.cpp - what PyTorch computed ------------------------------===//

#include "Reference.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// Tensors of a safetensors file in F64.
static std::map<std::string, Values> readTensors(const std::string &path) {
  std::map<std::string, Values> tensors;
  auto file = readFile(path);
  llvm::StringRef bytes = file->getBuffer();
  if (bytes.size() < 8)
    return tensors;
  size_t length = llvm::support::endian::read64le(bytes.data());
  llvm::StringRef data = bytes.drop_front(8 + length);
  for (auto &[name, value] : parseObject(bytes.substr(8, length))) {
    const json::Array &offsets = *value.getAsObject()->getArray("data_offsets");
    size_t begin = *offsets[0].getAsInteger(), end = *offsets[1].getAsInteger();
    Values &values = tensors[name.str()];
    values.resize((end - begin) / sizeof(double));
    std::memcpy(values.data(), data.data() + begin, end - begin);
  }
  return tensors;
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
  for (const json::Value &row : *record.getArray("tokens"))
    for (const json::Value &token : *row.getAsArray())
      reference.tokens.push_back(*token.getAsInteger());
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
