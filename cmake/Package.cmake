# `cpack` in the build folder makes a .deb and a .tar.gz of what `cmake --install` installs, without the plug-ins for
# MPIs. Neither holds shared libraries of others: the .deb depends on Debian's packages, which dpkg-shlibdeps finds, and on the linker, which is run as a
# program. LLVM is inside the programs (cmake/StaticLLVM.cmake).
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_CONTACT "The Tessera maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and runtime for distributed training of Transformers")
set(CPACK_PACKAGE_DESCRIPTION "Tessera compiles the config.json of a Transformer into a distributed training program
 and runs it. This package holds the compiler, the runtime as a library for C and C++, and examples.")
set(CPACK_PACKAGE_FILE_NAME tessera-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
if(TESSERA_BUILD_COMPILER)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "lld-22")
  if(NOT TESSERA_STATIC_LLVM)
    # llvm-22-dev has a link to libLLVM.so, so dpkg-shlibdeps may take that package, which names none, for its owner.
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libllvm22")
  endif()
endif()
# Without the plug-ins for the MPIs of this machine: `tessera doctor` says how one is built.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${CMAKE_PROJECT_NAME};Unspecified;/")
include(CPack)
