# ptx_library(): the one library a user links, ptx::ptx, made of every room's objects, and its CMake package. It is static, or shared
# with BUILD_SHARED_LIBS=ON. The package works from an install prefix, wherever that is moved, from the build tree
# (ptx_DIR=<build>/lib/cmake/ptx) and from the wheel (python -m pyptx --cmake-dir).
# In a project of its own there is also the target ptx_shared, built when asked for: the shared library of the same objects, which
# `cmake --install <build> --component shared` puts beside the static one, as ptx::shared.
# With PTX_INSTALL=OFF, as it is in another project, nothing of this is installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The headers that <ptx/ptx.hpp>, <ptx/kernel.hpp> and <ptx/kernels.hpp> lead to, relative to the source tree: what is installed, and
# all that a user may include. Generated ones are not in the source tree and not in the list.
function(ptx_public_headers result)
  set(found "")
  set(open "ptx/ptx.hpp" "ptx/kernel.hpp" "ptx/kernels.hpp")
  while(open)
    list(POP_FRONT open header)
    if(header IN_LIST found OR NOT EXISTS "${PROJECT_SOURCE_DIR}/${header}")
      continue()
    endif()
    list(APPEND found "${header}")
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${header}")
    file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" includes REGEX "^#include \"ptx/")
    list(TRANSFORM includes REPLACE "^#include \"(ptx/[^\"]+)\".*" "\\1")
    list(APPEND open ${includes})
  endwhile()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# What both libraries, the static one and the shared one, tell who links them.
function(ptx_describe_library target)
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME ptx VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(${target} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PTX_GENERATED_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
  endif()
endfunction()

function(ptx_library)
  if(SKBUILD)  # a wheel keeps everything inside the package's folder
    set(CMAKE_INSTALL_LIBDIR pyptx/lib)
    set(CMAKE_INSTALL_INCLUDEDIR pyptx/include)
  endif()
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ptx")
  set(build_package_dir "${PROJECT_BINARY_DIR}/lib/cmake/ptx")

  get_property(objects GLOBAL PROPERTY PTX_OBJECTS)
  get_property(seldom GLOBAL PROPERTY PTX_SELDOM_OBJECTS)
  list(APPEND objects ${seldom})
  add_library(ptx ${objects})
  if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(ptx PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_library(ptx::ptx ALIAS ptx)
  ptx_describe_library(ptx)
  if(NOT PTX_INSTALL)
    return()
  endif()

  install(TARGETS ptx EXPORT ptxTargets DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT ptxTargets NAMESPACE ptx:: DESTINATION "${package_dir}")
  export(EXPORT ptxTargets NAMESPACE ptx:: FILE "${build_package_dir}/ptxTargets.cmake")
  if(PROJECT_IS_TOP_LEVEL AND NOT BUILD_SHARED_LIBS AND NOT SKBUILD)
    add_library(ptx_shared SHARED EXCLUDE_FROM_ALL ${objects})
    ptx_describe_library(ptx_shared)
    set_target_properties(ptx_shared PROPERTIES EXPORT_NAME shared)
    install(TARGETS ptx_shared EXPORT ptxSharedTargets DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT shared EXCLUDE_FROM_ALL)
    install(EXPORT ptxSharedTargets NAMESPACE ptx:: DESTINATION "${package_dir}" COMPONENT shared EXCLUDE_FROM_ALL)
  endif()

  ptx_public_headers(headers)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
  endforeach()
  install(DIRECTORY "${PTX_GENERATED_DIR}/ptx" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
  if(NOT SKBUILD)  # a wheel has it among its own papers
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  endif()

  configure_package_config_file(cmake/ptxConfig.cmake.in "${build_package_dir}/ptxConfig.cmake"
    INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file("${build_package_dir}/ptxConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${build_package_dir}/ptxConfig.cmake" "${build_package_dir}/ptxConfigVersion.cmake" DESTINATION "${package_dir}")
endfunction()
