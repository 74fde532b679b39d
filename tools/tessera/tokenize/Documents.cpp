//===- Documents.cpp - the texts of files ---------------------------------===//

#include "tools/tessera/tokenize/Documents.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Options/Counted.h"
#include "tools/tessera/tokenize/JsonValues.h"
#include "tools/tessera/tokenize/TextSource.h"
#include "llvm/ADT/StringRef.h"

using namespace tessera;
using llvm::StringRef;

/// A longer document could have more tokens than a document may have.
static constexpr size_t kMostBytes = INT32_MAX;

namespace {

/// The documents of one file, or of the standard input.
class DocumentFile {
public:
  DocumentFile(const TokenizeOptions &options, const std::string &path,
               DocumentVisitor visit, LeftOut &leftOut)
      : options(options), source(path), visit(visit), leftOut(leftOut),
        kind(kindOf(options, path)) {}

  /// Returns what is wrong, or "".
  std::string run() {
    if (std::string why = source.open(); !why.empty())
      return why;
    return kind == Kind::File   ? readWhole()
           : kind == Kind::Json ? readValues()
                                : readLines();
  }

private:
  enum class Kind { File, Line, JsonLine, Json };

  static Kind kindOf(const TokenizeOptions &options, StringRef name);
  std::string readWhole();
  std::string readLines();
  std::string readValues();
  std::string giveLine(StringRef line);
  std::string giveJson(StringRef text, const std::string &where);
  std::string giveObject(const llvm::json::Value &value,
                         const std::string &where);
  std::string give(const std::string &text, const std::string &where);
  std::string leaveOut(int64_t &count, const std::string &what) const;
  std::string tooLong(const std::string &where) const;
  std::string whereIsLine() const {
    return "line " + std::to_string(number) + " of " + source.name();
  }

  const TokenizeOptions &options;
  TextSource source;
  DocumentVisitor visit;
  LeftOut &leftOut;
  Kind kind;
  int64_t number = 0; ///< The newest line's.
};

DocumentFile::Kind DocumentFile::kindOf(const TokenizeOptions &options,
                                        StringRef name) {
  StringRef asked = options.documents;
  if (asked != "auto")
    return asked == "line"    ? Kind::Line
           : asked == "jsonl" ? Kind::JsonLine
           : asked == "json"  ? Kind::Json
                              : Kind::File;
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson"))
    return Kind::JsonLine;
  return name.ends_with(".json") ? Kind::Json : Kind::File;
}

std::string DocumentFile::tooLong(const std::string &where) const {
  return where + " is longer than the " + std::to_string(kMostBytes) +
         " bytes that a document may have; cut it, or make each line a "
         "document with --documents line";
}

std::string DocumentFile::readWhole() {
  std::string text;
  StringRef block;
  do {
    if (std::string why = source.read(block); !why.empty())
      return why;
    if (block.size() > kMostBytes - text.size())
      return tooLong(source.name());
    text += block;
  } while (!block.empty());
  return give(text, source.name());
}

std::string DocumentFile::readLines() {
  std::string begun; // a line that began in an earlier block
  for (StringRef block;;) {
    if (std::string why = source.read(block); !why.empty())
      return why;
    bool isEnd = block.empty();
    for (size_t end; (end = block.find('\n')) != StringRef::npos;) {
      begun += block.take_front(end);
      block = block.drop_front(end + 1);
      ++number;
      if (std::string why = giveLine(begun); !why.empty())
        return why;
      begun.clear();
    }
    begun += block;
    if (begun.size() > kMostBytes) {
      ++number;
      return tooLong(whereIsLine());
    }
    if (!isEnd)
      continue;
    ++number;
    return begun.empty() ? "" : giveLine(begun);
  }
}

std::string DocumentFile::giveLine(StringRef line) {
  if (line.trim().empty())
    return leaveOut(leftOut.lines, whereIsLine() + " is blank");
  if (kind == Kind::JsonLine)
    return giveJson(line, whereIsLine());
  line.consume_back("\r");
  return give(line.str(), whereIsLine());
}

std::string DocumentFile::readValues() {
  JsonValues values(source.name());
  auto give = [&](StringRef text, int64_t line) {
    number = line;
    return text.size() > kMostBytes ? tooLong(whereIsLine())
                                    : giveJson(text, whereIsLine());
  };
  for (StringRef block;;) {
    if (std::string why = source.read(block); !why.empty())
      return why;
    std::string why =
        block.empty() ? values.finish(give) : values.add(block, give);
    if (!why.empty() || block.empty())
      return why;
  }
}

std::string DocumentFile::giveJson(StringRef text, const std::string &where) {
  llvm::Expected<llvm::json::Value> value =
      parseJson(text, json_kinds::document);
  if (value)
    return giveObject(*value, where);
  // Line and column count from where a value of several lines begins.
  return where + " is not JSON: " +
         (kind == Kind::JsonLine ? reasonInLine(value.takeError())
                                 : llvm::toString(value.takeError()));
}

/// Gives the text under the key, which is empty if it is null. An element of an
/// array may also be the text itself.
std::string DocumentFile::giveObject(const llvm::json::Value &value,
                                     const std::string &where) {
  if (std::optional<StringRef> text = value.getAsString();
      text && kind == Kind::Json)
    return give(text->str(), where);
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return where +
           " is no JSON object; a document is an object with the key '" +
           options.jsonKey + "'";
  const llvm::json::Value *found = object->get(options.jsonKey);
  std::optional<StringRef> text = found ? found->getAsString() : std::nullopt;
  if (found && found->kind() == llvm::json::Value::Null)
    text = "";
  if (!text)
    return where + " has no text under the key '" + options.jsonKey +
           "'; name another with --json-key";
  return give(text->str(), where);
}

std::string DocumentFile::leaveOut(int64_t &count,
                                   const std::string &what) const {
  if (options.isStrict)
    return what + "; leave it out, or do not give --strict";
  ++count;
  return "";
}

std::string DocumentFile::give(const std::string &text,
                               const std::string &where) {
  if (text.empty())
    return leaveOut(leftOut.texts, where + " is an empty document (0 bytes)");
  Visit result = visit(text);
  if (!result.wrong.empty())
    return where + ": " + result.wrong;
  return result.isEmpty
             ? leaveOut(leftOut.texts, where + ": its " +
                                           std::to_string(text.size()) +
                                           " bytes are no token to this "
                                           "tokenizer")
             : "";
}

} // namespace

std::string LeftOut::text() const {
  std::string text;
  if (texts)
    text = counted(texts, "empty text");
  if (lines)
    text += (texts ? ", " : "") + counted(lines, "blank line");
  return text;
}

std::string tessera::visitDocuments(const TokenizeOptions &options,
                                    DocumentVisitor visit, LeftOut &leftOut) {
  for (const std::string &path : options.texts)
    if (std::string why = DocumentFile(options, path, visit, leftOut).run();
        !why.empty())
      return why;
  return "";
}
