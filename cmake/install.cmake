# Installs the libraries and headers that were built, and what lets others find them: a CMake package with the components
# compiler and runtime, and tpshard.pc and tprt.pc. With TP_COMPILER=OFF the runtime alone. Tools are installed by
# tp_install_tool (cmake/tool.cmake). The component documentation has the pages and the examples.
include(CMakePackageConfigHelpers)
set(TP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tpshard)
set(package_build_dir ${PROJECT_BINARY_DIR}/package)

# One export set a component, so that the runtime can be used without LLVM.
function(tp_install_component component target headers)
  install(TARGETS ${target} EXPORT tpshard-${component} COMPONENT ${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT ${component})
  install(EXPORT tpshard-${component} NAMESPACE tpshard:: COMPONENT ${component} DESTINATION ${TP_PACKAGE_DIR}
    FILE tpshard-${component}.cmake)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${headers} COMPONENT ${component} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(cmake/${target}.pc.in ${package_build_dir}/${target}.pc @ONLY)
  install(FILES ${package_build_dir}/${target}.pc COMPONENT ${component} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# .pc files and the package take the prefix from where they lie, so an installed tree may be moved.
file(RELATIVE_PATH TP_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TP_PC_PREFIX "${TP_PC_PREFIX}")

tp_install_component(runtime tprt tprt)
if(TP_COMPILER)
  list(GET MLIR_INCLUDE_DIRS 0 TP_MLIR_INCLUDE_DIR)
  tp_install_component(compiler tpshard tp)
endif()

configure_package_config_file(cmake/tpshard-config.cmake.in ${package_build_dir}/tpshard-config.cmake
  INSTALL_DESTINATION ${TP_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${package_build_dir}/tpshard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_build_dir}/tpshard-config.cmake ${package_build_dir}/tpshard-config-version.cmake
  COMPONENT runtime DESTINATION ${TP_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE COMPONENT runtime DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Pages and examples lie as in the repository, so that links between them hold. The headers, to which pages link, too, are
# reached by a link.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  COMPONENT documentation DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples
  COMPONENT documentation DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN __pycache__ EXCLUDE PATTERN "build*" EXCLUDE)
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_DOCDIR} AND NOT IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  file(RELATIVE_PATH TP_INCLUDE_LINK /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_INCLUDEDIR})
  file(CREATE_LINK ${TP_INCLUDE_LINK} ${package_build_dir}/include SYMBOLIC)
  install(FILES ${package_build_dir}/include COMPONENT documentation DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
