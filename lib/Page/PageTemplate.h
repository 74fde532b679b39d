//===- PageTemplate.h - the page without its data ---------------*- C++ -*-===//
// cmake/EmbedPage.cmake writes the definition from page.html and what it names.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_PAGE_PAGETEMPLATE_H
#define TESSERA_LIB_PAGE_PAGETEMPLATE_H

namespace tessera {

/// With @TITLE@, @COMMAND@, @DATA@, @PASSES@ and @SERVED@ where these belong.
extern const char *const kPageTemplate;
/// The script of a page that a server compiles for.
extern const char *const kServedScript;

} // namespace tessera

#endif // TESSERA_LIB_PAGE_PAGETEMPLATE_H
