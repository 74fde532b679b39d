# Puts a page of HTML with all that it names into a C++ source, which defines kPageTemplate (PageTemplate.h). A line
# `@FILE name@` of the page is replaced with the files that -D name=... lists. -D SERVED=... is the script of pages that
# a server compiles for, which stands apart. Run with cmake -P.
function(read_files result)
  set(all "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(APPEND all "${text}")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

file(READ ${PAGE} page)
foreach(name STYLE LICENSE LIBRARY SCRIPTS)
  read_files(text ${${name}})
  string(REPLACE "@${name}@" "${text}" page "${page}")
endforeach()
file(READ ${SERVED} served)
file(WRITE ${OUTPUT} "#include \"lib/Page/PageTemplate.h\"\n"
  "const char *const tessera::kPageTemplate = R\"TESSERA(${page})TESSERA\";\n"
  "const char *const tessera::kServedScript = R\"TESSERA(${served})TESSERA\";\n")
