# tp_install_tool(TOOL COMPONENT): installs a command-line tool with its man page and its completions. The tool itself prints
# them, from the table of its options. In the build tree they lie as in the installed one, so `man` finds them there,
# too. Without them where the tool cannot run: it is built for another machine.
function(tp_install_tool tool component)
  install(TARGETS ${tool} COMPONENT ${component} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    return()
  endif()
  set(man ${PROJECT_BINARY_DIR}/share/man/man1)
  set(completions ${PROJECT_BINARY_DIR}/share/bash-completion/completions)
  set(functions ${PROJECT_BINARY_DIR}/share/zsh/site-functions)
  file(MAKE_DIRECTORY ${man} ${completions} ${functions})
  set(run "")
  if(TP_SANITIZE) # leaks of LLVM do not matter here
    set(run ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0)
  endif()
  add_custom_command(OUTPUT ${man}/${tool}.1 ${completions}/${tool} ${functions}/_${tool}
    COMMAND ${run} $<TARGET_FILE:${tool}> --help=man > ${man}/${tool}.1
    COMMAND ${run} $<TARGET_FILE:${tool}> --help=bash > ${completions}/${tool}
    COMMAND ${run} $<TARGET_FILE:${tool}> --help=zsh > ${functions}/_${tool}
    DEPENDS ${tool} COMMENT "Printing the man page and the completions of ${tool}" VERBATIM)
  add_custom_target(${tool}-help ALL DEPENDS ${man}/${tool}.1 ${completions}/${tool} ${functions}/_${tool})
  install(FILES ${man}/${tool}.1 COMPONENT ${component} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completions}/${tool} COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${functions}/_${tool} COMPONENT ${component} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endfunction()
