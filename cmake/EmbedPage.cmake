# Puts a page of HTML with all that it names into a C++ source, which defines kPageTemplate (PageTemplate.h). A line
# `@FILE name@` of the page is replaced with the files that -D name=... lists. Run with cmake -P.
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
file(WRITE ${OUTPUT} "#include \"tools/tessera/page/PageTemplate.h\"\n"
  "const char *const tessera::kPageTemplate = R\"TESSERA(${page})TESSERA\";\n")
