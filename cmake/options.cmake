# Compiler flags of everything that is ours. MLIR's headers are included as SYSTEM and are not held to them.
add_library(tp_options INTERFACE)
target_compile_options(tp_options INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Werror;-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes;-Wvla;-Wundef>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-Wshadow>)
target_compile_definitions(tp_options INTERFACE _GNU_SOURCE)
target_include_directories(tp_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR})
if(TP_SANITIZE)
  add_compile_options(-fsanitize=${TP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${TP_SANITIZE})
  # In instrumented code GCC takes parts of LLVM's containers for uninitialized.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()
if(NOT TP_SANITIZE)
  # A library that misses a symbol fails here, not in the program that loads it.
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,--no-undefined")
endif()
