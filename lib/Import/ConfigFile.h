//===- ConfigFile.h - a JSON object whose keys have locations ---*- C++ -*-===//
// Readers leave their result untouched where a key is absent or null, and emit
// an error at the key where its value is unusable. Each remembers the value in
// effect: together they say which model the file describes.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_CONFIGFILE_H
#define TESSERA_LIB_IMPORT_CONFIGFILE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "tessera/Json/ParseJson.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

template <typename T> struct Bounds { T least, most; };

class ConfigFile {
public:
  /// Reads a config, or another file beside it with limits of its own.
  static mlir::FailureOr<ConfigFile>
  read(mlir::MLIRContext *context, llvm::StringRef path,
       const JsonLimits &limits = json_kinds::config);

  mlir::Location at(llvm::StringRef key) const;
  mlir::InFlightDiagnostic error(llvm::StringRef key) const;
  /// Begins an error about options that are given beside the file.
  mlir::InFlightDiagnostic error() const;
  mlir::MLIRContext *getContext() const { return context; }
  const llvm::json::Object &object() const { return root; }
  /// The whole file, as it is.
  const std::string &text() const { return content; }
  /// Returns the path of the file. Other files of the model lie beside it.
  llvm::StringRef where() const { return path; }
  /// Returns the value of a key; null if the key is absent or null.
  const llvm::json::Value *find(llvm::StringRef key) const;

  bool isNull(llvm::StringRef key) const;
  /// Returns the object that a key holds; errors in it point at the key.
  mlir::FailureOr<ConfigFile> nested(llvm::StringRef key) const;

  /// Remembers the keys that no family knows; the model ignores them.
  void leave(std::vector<std::string> keys) const { left = std::move(keys); }
  const std::vector<std::string> &leftKeys() const { return left; }
  /// Gives the value of `alias` to `key`; an error where both have values and
  /// these differ.
  mlir::LogicalResult rename(llvm::StringRef alias, llvm::StringRef key);

  mlir::LogicalResult require(llvm::ArrayRef<llvm::StringLiteral> keys) const;
  mlir::LogicalResult read(llvm::StringRef key, int64_t &value,
                           Bounds<int64_t> legal) const;
  /// `legal` is closed below and open above.
  mlir::LogicalResult read(llvm::StringRef key, double &value,
                           Bounds<double> legal) const;
  mlir::LogicalResult read(llvm::StringRef key, bool &value) const;
  mlir::LogicalResult read(llvm::StringRef key, std::string &value) const;

  /// Remembers the value in effect of a key whose text alone does not say it.
  void note(llvm::StringRef key, int64_t value) const;
  void note(llvm::StringRef key, double value) const;
  void note(llvm::StringRef key, bool value) const;
  void note(llvm::StringRef key, llvm::StringRef value) const;
  void note(llvm::StringRef key, const llvm::json::Value &value) const;
  /// Forgets a key that only helped to find the value of another one.
  void forget(llvm::StringRef key) const { noted->erase(key.str()); }
  /// Returns the JSON of the values in effect, by key.
  const std::map<std::string, std::string> &notedKeys() const { return *noted; }

private:
  struct Position {
    unsigned line = 1, column = 1;
  };
  ConfigFile(mlir::MLIRContext *context, llvm::StringRef path)
      : context(context), path(path.str()) {}
  mlir::Location locate(Position position) const;
  mlir::LogicalResult parse(llvm::StringRef text, const JsonLimits &limits);
  void scan(llvm::StringRef text);
  mlir::LogicalResult wrongType(llvm::StringRef key,
                                llvm::StringRef wanted) const;

  mlir::MLIRContext *context;
  std::string path, content;
  llvm::json::Object root;
  llvm::StringMap<Position> positions;
  std::shared_ptr<std::map<std::string, std::string>> noted =
      std::make_shared<std::map<std::string, std::string>>();
  mutable std::vector<std::string> left;
  Position whole; ///< The position of keys that `positions` lacks.
};

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_CONFIGFILE_H
