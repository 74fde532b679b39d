//===- Documents.cpp - the texts of files ---------------------------------===//

#include "tools/tessera/tokenize/Documents.h"
#include "tessera/Json/ParseJson.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace tessera;
using llvm::StringRef;

namespace {

/// The documents of one file, or of the standard input.
class DocumentFile {
public:
  DocumentFile(const TokenizeOptions &options, const std::string &path,
               DocumentVisitor visit)
      : options(options), path(path), visit(visit) {}

  std::string run() {
    if (path == "-")
      return read(std::cin);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return "cannot read '" + path + "': " + std::strerror(errno);
    return read(file);
  }

private:
  bool isJson() const {
    StringRef name = path;
    return options.documents == "jsonl" ||
           (options.documents == "auto" &&
            (name.ends_with(".jsonl") || name.ends_with(".ndjson")));
  }
  std::string read(std::istream &stream) {
    std::string why = isJson() || options.documents == "line"
                          ? readLines(stream)
                          : readWhole(stream);
    if (why.empty() && stream.bad())
      why = "cannot read '" + path + "': " + std::strerror(errno);
    return why;
  }
  std::string readWhole(std::istream &stream) {
    std::string text, block(1 << 20, '\0');
    while (stream.read(block.data(), block.size()) || stream.gcount() > 0)
      text.append(block, 0, stream.gcount());
    return stream.bad() ? "" : give(text, "'" + shownPath() + "'");
  }
  std::string readLines(std::istream &stream) {
    std::string line, why;
    for (int64_t number = 1; why.empty() && std::getline(stream, line);
         ++number) {
      std::string where =
          "line " + std::to_string(number) + " of '" + shownPath() + "'";
      if (isJson())
        why = giveJson(line, where);
      else {
        if (StringRef(line).ends_with("\r"))
          line.pop_back();
        why = give(line, where);
      }
    }
    return why;
  }
  std::string giveJson(StringRef line, const std::string &where);
  std::string give(const std::string &text, const std::string &where) {
    if (text.empty())
      return where + " is an empty document (0 bytes); leave it out";
    std::string why = visit(text);
    return why.empty() ? "" : where + ": " + why;
  }
  std::string shownPath() const {
    return path == "-" ? "standard input" : path;
  }

  const TokenizeOptions &options;
  const std::string &path;
  DocumentVisitor visit;
};

std::string DocumentFile::giveJson(StringRef line, const std::string &where) {
  llvm::Expected<llvm::json::Value> value = parseJson(line);
  if (!value)
    return where + " is not JSON: " + reasonInLine(value.takeError());
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return where +
           " is no JSON object; a line is a document, an object with "
           "the key '" +
           options.jsonKey + "'";
  std::optional<StringRef> text = object->getString(options.jsonKey);
  if (!text)
    return where + " has no text under the key '" + options.jsonKey +
           "'; name another with --json-key";
  return give(text->str(), where);
}

} // namespace

std::string tessera::visitDocuments(const TokenizeOptions &options,
                                    DocumentVisitor visit) {
  for (const std::string &path : options.texts)
    if (std::string why = DocumentFile(options, path, visit).run();
        !why.empty())
      return why;
  return "";
}
