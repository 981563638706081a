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
find_package(MLIR 22 REQUIRED CONFIG)
message(STATUS "MLIR ${MLIR_VERSION} in ${MLIR_DIR}")
get_filename_component(TP_LLVM_PREFIX ${LLVM_BINARY_DIR} ABSOLUTE)
set(TP_LLVM_LIB ${TP_LLVM_PREFIX}/lib)

set(TP_MLIR_CAPI IR RegisterEverything Conversion Transforms Arith Bufferization ControlFlow Func Interfaces LLVM Linalg Math MemRef SCF
    Shard Tensor Target Debug)
set(archives "")
foreach(part ${TP_MLIR_CAPI})
  list(APPEND archives ${TP_LLVM_LIB}/libMLIRCAPI${part}.a)
endforeach()

add_library(tp_mlir INTERFACE)
target_include_directories(tp_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
# Whole archives: libtpshard.so exports the C API, so that an embedder links one library.
target_link_options(tp_mlir INTERFACE -Wl,-rpath,${TP_LLVM_LIB})
target_link_libraries(tp_mlir INTERFACE
  -Wl,--whole-archive ${archives} -Wl,--no-whole-archive ${TP_LLVM_LIB}/libMLIR.so ${TP_LLVM_LIB}/libLLVM-22.so)
