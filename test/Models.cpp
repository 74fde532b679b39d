//===- Models.cpp - a small model of each family --------------------------===//

#include "test/Models.h"
#include "mlir/IR/MLIRContext.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;
namespace json = llvm::json;

std::string tessera::test::modelPath(const std::string &name) {
  return std::string(MODELS_DIRECTORY) + "/" + name + ".json";
}

std::string TestModel::path() const { return modelPath(name); }

/// Returns the names of the files, sorted.
static std::vector<std::string> modelNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(MODELS_DIRECTORY, error), end;
       file != end && !error; file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".json")
      names.push_back(llvm::sys::path::stem(file->path()).str());
  EXPECT_FALSE(error) << MODELS_DIRECTORY << ": " << error.message();
  llvm::sort(names);
  return names;
}

static TestModel readModel(MLIRContext &context, const std::string &name) {
  TestModel model;
  model.name = name;
  auto module = importModel(&context, model.path(), ImportOptions());
  EXPECT_TRUE(succeeded(module)) << model.path() << " cannot be imported";
  if (failed(module))
    return model;
  auto attrs =
      (**module)->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto number = [&](StringRef key) {
    auto attr = attrs.getAs<IntegerAttr>(key);
    return attr ? attr.getInt() : 0;
  };
  model.predictsMasks = attrs.contains("mask_token");
  model.hasSource = attrs.contains("target");
  model.positions = number("sequence");
  model.vocabulary = number("vocabulary");
  (**module)->walk([&](nn::AttentionOp op) {
    // [batch, sequence, key heads, queries of each, size]; without grouped
    // heads one dimension less.
    auto query = cast<RankedTensorType>(op.getQuery().getType());
    model.keyHeads = query.getDimSize(2);
    model.queriesOfKey = query.getRank() == 5 ? query.getDimSize(3) : 1;
  });
  (**module)->walk([&](nn::ExpertLinearOp op) {
    auto rows = cast<RankedTensorType>(op->getResult(0).getType());
    model.experts = rows.getDimSize(0);
  });
  return model;
}

const std::vector<TestModel> &tessera::test::testModels() {
  static const std::vector<TestModel> models = [] {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    std::vector<TestModel> read;
    for (const std::string &name : modelNames())
      read.push_back(readModel(context, name));
    return read;
  }();
  return models;
}

std::vector<TestModel> tessera::test::testModels(bool (TestModel::*isWanted)()
                                                     const) {
  std::vector<TestModel> wanted;
  llvm::copy_if(testModels(), std::back_inserter(wanted),
                [&](const TestModel &model) { return (model.*isWanted)(); });
  return wanted;
}

static json::Object readConfig(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(bool(file)) << path;
  auto parsed = json::parse(file ? (*file)->getBuffer() : "{}");
  EXPECT_TRUE(parsed && parsed->getAsObject()) << path;
  if (parsed && parsed->getAsObject())
    return std::move(*parsed->getAsObject());
  llvm::consumeError(parsed.takeError());
  return {};
}

static std::string textOf(json::Object config) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(config));
  return text;
}

std::string tessera::test::configWith(const std::string &path,
                                      const json::Object &values) {
  json::Object config = readConfig(path);
  for (const auto &[key, value] : values)
    if (config.get(key))
      config[key] = value;
  return textOf(std::move(config));
}

std::string tessera::test::configWithoutDropout(const std::string &path) {
  json::Object config = readConfig(path);
  for (auto &[key, value] : config)
    if (StringRef(key).contains("drop") && value.getAsNumber())
      value = 0.0;
  return textOf(std::move(config));
}

std::string tessera::test::lettersOf(const std::string &text) {
  std::string letters = text;
  llvm::erase_if(letters, [](char c) { return !llvm::isAlnum(c); });
  return letters;
}
