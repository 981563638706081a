# With TP_STATIC our libraries and tools contain the parts that they use of MLIR, LLVM and other libraries, and export none of them.
# They need the C library alone. Each writes a map of what was linked, from which python/wheel/build.py finds the licenses.
if(NOT TP_STATIC)
  return()
endif()
if(TP_COMPILER)
  # Debian's archive of jansson is not position-independent, so the library lies beside ours.
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
  file(REAL_PATH ${pkgcfg_lib_JANSSON_jansson} jansson)
  install(FILES ${jansson} COMPONENT compiler DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libjansson.so.4)
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_compile_options(-ffunction-sections -fdata-sections)
# gold folds equal functions, which saves a tenth of LLVM.
add_link_options(-fuse-ld=gold -static-libgcc $<$<LINK_LANGUAGE:CXX>:-static-libstdc++> LINKER:--gc-sections LINKER:--icf=safe
  LINKER:--exclude-libs,ALL LINKER:-Map=$<TARGET_PROPERTY:NAME>.map)
if(TP_COMPILER)
  find_package(ZLIB REQUIRED)
  find_library(TP_ZSTD zstd REQUIRED)
endif()
