//===- PageTemplate.h - the page without its data ---------------*- C++ -*-===//
// cmake/EmbedPage.cmake writes the definition from page.html and what it names.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_PAGE_PAGETEMPLATE_H
#define TESSERA_TOOLS_TESSERA_PAGE_PAGETEMPLATE_H

namespace tessera {

/// With @TITLE@, @COMMAND@ and @DATA@ where these belong.
extern const char *const kPageTemplate;

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_PAGE_PAGETEMPLATE_H
