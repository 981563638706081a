# Finds LLVM/MLIR 22 and makes the target tp_mlir: the static C API archives (libMLIR.so does not export the C API) on
# top of the shared MLIR and LLVM libraries.
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
if(NOT MLIR_DIR)
  find_program(TP_LLVM_CONFIG NAMES llvm-config-22 DOC "llvm-config of LLVM 22")
  if(TP_LLVM_CONFIG)
    execute_process(COMMAND ${TP_LLVM_CONFIG} --prefix OUTPUT_VARIABLE TP_LLVM_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(MLIR_DIR ${TP_LLVM_PREFIX}/lib/cmake/mlir)
  endif()
endif()
# MLIR's version file accepts only its own major.minor, so "22" cannot be asked for here and is checked afterwards.
find_package(MLIR CONFIG)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR 22 was not found: install libmlir-22-dev, mlir-22-tools and llvm-22-dev, or set MLIR_DIR, "
                      "or build the runtime alone with -DTP_COMPILER=OFF")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "MLIR 22 is needed, but ${MLIR_DIR} is of LLVM ${LLVM_VERSION_MAJOR}")
endif()
message(STATUS "MLIR ${MLIR_VERSION} in ${MLIR_DIR}")
get_filename_component(TP_LLVM_PREFIX ${LLVM_BINARY_DIR} ABSOLUTE)
set(TP_LLVM_LIB ${TP_LLVM_PREFIX}/lib)

set(TP_MLIR_CAPI IR RegisterEverything Conversion Transforms Arith Bufferization ControlFlow Func Index Interfaces LLVM Linalg Math MemRef
    NVVM SCF Shard Tensor Tosa Target Debug)
set(archives "")
foreach(part ${TP_MLIR_CAPI})
  list(APPEND archives ${TP_LLVM_LIB}/libMLIRCAPI${part}.a)
endforeach()

add_library(tp_mlir INTERFACE)
target_include_directories(tp_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
if(TP_STATIC)
  # The linker takes what is used; a group, because the archives refer to each other.
  file(GLOB archives ${TP_LLVM_LIB}/libMLIR*.a ${TP_LLVM_LIB}/libLLVM*.a)
  target_link_libraries(tp_mlir INTERFACE -Wl,--start-group ${archives} -Wl,--end-group ZLIB::ZLIB ${TP_ZSTD})
else()
  # Whole archives: libtpshard.so exports the C API, so that an embedder links one library.
  target_link_options(tp_mlir INTERFACE -Wl,-rpath,${TP_LLVM_LIB})
  target_link_libraries(tp_mlir INTERFACE
    -Wl,--whole-archive ${archives} -Wl,--no-whole-archive ${TP_LLVM_LIB}/libMLIR.so ${TP_LLVM_LIB}/libLLVM-22.so)
endif()
