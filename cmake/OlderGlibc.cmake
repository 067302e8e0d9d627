# ptx_link_older_glibc(<module> <exports…>), the only target of its folder that is linked: with PTX_GLIBC_STUBS, a folder of stub libraries of
# an older glibc (tools/dev/wheel.py makes one), the module asks for no newer one, so that a wheel built here runs on older systems.
# libstdc++ is then part of the module, and everything but what it exports is hidden: another library's std:: symbols never meet
# ours. libgcc_s stays shared, so that exceptions pass between the module and its callers.
set(PTX_GLIBC_STUBS "" CACHE PATH "stub libraries of the glibc that the Python extension is linked against")
set(PTX_OLDER_GLIBC_SOURCE "${CMAKE_CURRENT_LIST_DIR}/older_glibc.cpp")

function(ptx_link_older_glibc module)
  if(NOT PTX_GLIBC_STUBS)
    return()
  endif()
  set(map "${PROJECT_BINARY_DIR}/generated/${module}.map")
  list(JOIN ARGN " " exports)
  string(REPLACE " " "; " exports "${exports}")
  file(WRITE "${map}" "{ global: ${exports}; local: *; };\n")
  foreach(name IN ITEMS libm.so.6 libpthread.so.0 libdl.so.2 libld.so.2 libc.so.6)
    list(APPEND stubs "${PTX_GLIBC_STUBS}/${name}")
  endforeach()
  target_sources(${module} PRIVATE "${PTX_OLDER_GLIBC_SOURCE}")
  set_source_files_properties("${PTX_OLDER_GLIBC_SOURCE}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # it defines what others call
  target_link_options(${module} PRIVATE -nodefaultlibs "-Wl,--version-script=${map}")
  # At the end of the line, behind every archive: libgcc holds what GCC itself calls, __cpu_model for one.
  list(JOIN stubs " " stubs)
  set(CMAKE_CXX_STANDARD_LIBRARIES "-Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -lgcc_s ${stubs} -lgcc" PARENT_SCOPE)
  set_target_properties(${module} PROPERTIES SKIP_BUILD_RPATH ON INSTALL_RPATH "")
endfunction()
