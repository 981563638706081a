# shard-opt and shard-run of the lit tests. They are the objects of the tools in bin, linked with the archives of LLVM and MLIR instead of
# libtpshard.so, libMLIR.so and libLLVM.so, and with those of C++ and other libraries. The tests start the tools thousands of times, and the
# dynamic linker takes most of a start: 50 ms, against 8 ms here. The suite of the plug-in and the tests of the installed package run the tools of bin.
#
# TP_TEST_TOOLS_DIR: their folder; bin where there are none. Linking both takes 7 s of a processor.
option(TP_STATIC_TEST_TOOLS "Link tools for the lit tests with the archives of LLVM and MLIR, which start faster" ON)
set(TP_TEST_TOOLS_DIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
if(NOT TP_STATIC_TEST_TOOLS OR TP_STATIC OR TP_SANITIZE)
  return()
endif()
find_program(TP_LLD NAMES ld.lld HINTS ${TP_LLVM_TOOLS_DIR} DOC "lld, which links the tools of the tests in 4 seconds")
file(GLOB archives ${TP_LLVM_LIB}/libMLIR*.a ${TP_LLVM_LIB}/libLLVM*.a)
find_package(Threads REQUIRED)
find_package(ZLIB)
find_library(TP_ZSTD zstd)
if(NOT TP_LLD OR NOT archives MATCHES "libMLIRIR\\.a" OR NOT archives MATCHES "libLLVMCore\\.a" OR NOT ZLIB_FOUND OR NOT TP_ZSTD)
  message(STATUS "lld, or an archive of LLVM, MLIR, zlib or zstd was not found: the tests run the tools of bin, which start more slowly")
  return()
endif()
set(TP_TEST_TOOLS_DIR ${PROJECT_BINARY_DIR}/test-tools)
# Each library that is loaded takes half a millisecond.
find_library(TP_ZLIB_ARCHIVE libz.a)
find_library(TP_ZSTD_ARCHIVE libzstd.a)
find_library(TP_JANSSON_ARCHIVE libjansson.a)
set(others ZLIB::ZLIB ${TP_ZSTD} PkgConfig::JANSSON)
if(TP_ZLIB_ARCHIVE AND TP_ZSTD_ARCHIVE AND TP_JANSSON_ARCHIVE)
  set(others ${TP_ZLIB_ARCHIVE} ${TP_ZSTD_ARCHIVE} ${TP_JANSSON_ARCHIVE})
endif()
get_filename_component(lld_dir ${TP_LLD} DIRECTORY)

function(tp_add_static_tool tool)
  add_executable(static-${tool} $<TARGET_OBJECTS:${tool}> $<TARGET_OBJECTS:tp_support> $<TARGET_OBJECTS:tp_sharding>
    $<TARGET_OBJECTS:tp_solver> $<TARGET_OBJECTS:tp_ir> $<TARGET_OBJECTS:tp_rules> $<TARGET_OBJECTS:tp_evaluator>
    $<TARGET_OBJECTS:tp_passes> ${ARGN})
  set_target_properties(static-${tool} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${tool} RUNTIME_OUTPUT_DIRECTORY ${TP_TEST_TOOLS_DIR})
  # Without relocations at the start, which are for programs that may lie anywhere.
  # Most of those that remain are of virtual tables, to libstdc++.so. Compiled programs find functions of libgcc_s.so, which is loaded.
  target_link_options(static-${tool} PRIVATE -no-pie -static-libstdc++ -B${lld_dir} -fuse-ld=lld LINKER:--gc-sections)
  target_link_libraries(static-${tool} PRIVATE -Wl,--start-group ${archives} -Wl,--end-group ${others} tp_cli)
endfunction()
tp_add_static_tool(shard-opt)
tp_add_static_tool(shard-run $<TARGET_OBJECTS:shard_run_objects>)
target_link_libraries(static-shard-run PRIVATE tprt Threads::Threads m ${CMAKE_DL_LIBS})
# shard-run looks for it beside itself.
file(MAKE_DIRECTORY ${TP_TEST_TOOLS_DIR})
file(CREATE_LINK ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/shard-bench ${TP_TEST_TOOLS_DIR}/shard-bench SYMBOLIC)
