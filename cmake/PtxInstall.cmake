# ptx_library(): the one library a user links, ptx::ptx, made of every room's objects, and its CMake package. The package works
# from an install prefix, from the build tree (ptx_DIR=<build>/lib/cmake/ptx) and from the wheel (python -m pyptx --cmake-dir).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(ptx_library)
  if(SKBUILD)  # a wheel keeps everything inside the package's folder
    set(CMAKE_INSTALL_LIBDIR pyptx/lib)
    set(CMAKE_INSTALL_INCLUDEDIR pyptx/include)
  endif()
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ptx")
  set(build_package_dir "${PROJECT_BINARY_DIR}/lib/cmake/ptx")

  get_property(objects GLOBAL PROPERTY PTX_OBJECTS)
  add_library(ptx STATIC ${objects})
  add_library(ptx::ptx ALIAS ptx)
  set_target_properties(ptx PROPERTIES LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  target_compile_features(ptx INTERFACE cxx_std_20)
  target_link_libraries(ptx INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(ptx INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PTX_GENERATED_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

  install(TARGETS ptx EXPORT ptxTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/ptx" "${PTX_GENERATED_DIR}/ptx" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" PATTERN "*.inc"
    PATTERN "*_test.hpp" EXCLUDE PATTERN "gen" EXCLUDE PATTERN "testing" EXCLUDE)
  install(EXPORT ptxTargets NAMESPACE ptx:: DESTINATION "${package_dir}")
  export(EXPORT ptxTargets NAMESPACE ptx:: FILE "${build_package_dir}/ptxTargets.cmake")

  configure_package_config_file(cmake/ptxConfig.cmake.in "${build_package_dir}/ptxConfig.cmake"
    INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file("${build_package_dir}/ptxConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${build_package_dir}/ptxConfig.cmake" "${build_package_dir}/ptxConfigVersion.cmake" DESTINATION "${package_dir}")
endfunction()
