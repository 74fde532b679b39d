//===- Page.cpp - what a command says, as a page of HTML ------------------===//

#include "tessera/Page/Page.h"
#include "lib/Page/PageTemplate.h"
#include "tessera/Target/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// A `<` is in strings only. Escaped, no "</script>" or "<!--" ends the data
/// (HTML standard, "Restrictions for contents of script elements").
static std::string scriptText(const json::Value &data) {
  std::string text;
  for (char c : formatv("{0}", data).str())
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

static std::string htmlText(StringRef text) {
  std::string escaped;
  raw_string_ostream out(escaped);
  printHTMLEscaped(text, out);
  return escaped;
}

std::string tessera::pageOf(const PageContent &content) {
  std::string page;
  StringRef rest = kPageTemplate;
  auto takeUntil = [&](StringRef mark) {
    auto [before, after] = rest.split(mark);
    page += before;
    rest = after;
  };
  takeUntil("@TITLE@");
  page += htmlText(content.title);
  takeUntil("@COMMAND@");
  page += htmlText(content.command);
  takeUntil("@DATA@");
  page += scriptText(content.data);
  takeUntil("@PASSES@");
  page += scriptText(content.passes);
  takeUntil("@SERVED@");
  page += content.isServed ? kServedScript : "";
  return page + rest.str();
}

llvm::Error tessera::writePage(const std::string &path,
                               const PageContent &content) {
  if (path.empty())
    return llvm::Error::success();
  return writeFile(path, {pageOf(content)});
}
