# ptx_compile_together(<target> <number> [HEADERS_FOR <group>] [HEADERS <headers…>]): with PTX_TOGETHER, that many sources of the target
# are compiled as one. The targets of a group, which have to have the same flags, share headers that are compiled once: the first one's
# target makes them. What a file forgets to include shows itself in a build without this.
function(ptx_compile_together target number)
  cmake_parse_arguments(PARSE_ARGV 2 together "" "HEADERS_FOR" "HEADERS")
  if(NOT PTX_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${number})
  if(NOT together_HEADERS_FOR)
    return()
  endif()
  get_property(first GLOBAL PROPERTY PTX_HEADERS_${together_HEADERS_FOR})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY PTX_HEADERS_${together_HEADERS_FOR} ${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <charconv> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
      <mutex> <optional> <set> <span> <string> <unordered_map> <utility> <variant> <vector> ${together_HEADERS})
  endif()
endfunction()

# ptx_room(<name> NEEDS <rooms…> [TESTS_NEED <rooms…>] [SELDOM <files…>] [OWN_FLAGS])
#
# A room's whole CMakeLists. Every .cpp below the room's folder goes into the library ptx_<name> (alias ptx::<name>), every
# *_test.cpp into the GoogleTest program ptx_<name>_test; gen/ holds build-time programs and main.cpp is a program, they are left
# out. Under ThreadSanitizer that program holds the test files alone that start threads or ask for workers, with the label `tsan`:
# the others could find nothing there. PTX_TOGETHER compiles ten sources as one, and six test files as one, so a name must not stand
# for different things in two sources of a room, or in two of its tests. TESTS_NEED names rooms that only the
# tests use. OWN_FLAGS says that the room compiles with other flags than the others. SELDOM names the files, or patterns of them, in
# which no time is spent that anybody waits for, messages above all: a release compiles them with -Og, which takes half as long.
# A room without sources is an interface library, so that rooms can be furnished in any order.
function(ptx_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "OWN_FLAGS" "" "NEEDS;TESTS_NEED;SELDOM")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ptx_room(${name}): what is `${room_UNPARSED_ARGUMENTS}`?")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/ptx/${name}/(gen/|main\\.cpp$)")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(PTX_SANITIZE STREQUAL "thread")
    foreach(test IN LISTS tests)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${test}")
      file(STRINGS "${test}" starts_threads REGEX "std::(j?thread|async)|workers" LIMIT_COUNT 1)
      if(NOT starts_threads)
        list(REMOVE_ITEM tests "${test}")
      endif()
    endforeach()
  endif()
  list(TRANSFORM room_NEEDS PREPEND "ptx::" OUTPUT_VARIABLE needs)
  list(TRANSFORM room_TESTS_NEED PREPEND "ptx::" OUTPUT_VARIABLE tests_need)

  if(sources)
    set(seldom "")
    if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
      foreach(pattern IN LISTS room_SELDOM)
        file(GLOB found "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
        list(FILTER found EXCLUDE REGEX "(_test|/main)\\.cpp$")
        if(NOT found)
          message(FATAL_ERROR "ptx_room(${name}): no file is `${pattern}`")
        endif()
        list(APPEND seldom ${found})
      endforeach()
    endif()
    list(REMOVE_ITEM sources ${seldom})
    if(seldom)
      add_library(ptx_${name}_seldom OBJECT ${seldom})
    endif()
    # What is fast stands first: of an inline function that both have, the linker takes the first.
    add_library(ptx_${name} STATIC ${sources} $<$<BOOL:${seldom}>:$<TARGET_OBJECTS:ptx_${name}_seldom>>)
    set_target_properties(ptx_${name} PROPERTIES LINKER_LANGUAGE CXX)
    if(NOT PROJECT_IS_TOP_LEVEL)
      set_target_properties(ptx_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_link_libraries(ptx_${name} PUBLIC ptx_flags ${needs})
    if(seldom)
      if(NOT PROJECT_IS_TOP_LEVEL)
        set_target_properties(ptx_${name}_seldom PROPERTIES EXCLUDE_FROM_ALL ON)
      endif()
      target_link_libraries(ptx_${name}_seldom PRIVATE ptx_flags ${needs})
      target_compile_options(ptx_${name}_seldom PRIVATE -Og)
      ptx_compile_together(ptx_${name}_seldom 10 HEADERS_FOR seldom)  # GCC breaks down over headers compiled with another -O
      set_property(GLOBAL APPEND PROPERTY PTX_SELDOM_OBJECTS "$<TARGET_OBJECTS:ptx_${name}_seldom>")
    endif()
    if(sources)
      set(group rooms)
      if(room_OWN_FLAGS)
        set(group ${name})
      endif()
      ptx_compile_together(ptx_${name} 10 HEADERS_FOR ${group})
      set_property(GLOBAL APPEND PROPERTY PTX_OBJECTS "$<TARGET_OBJECTS:ptx_${name}>")
    endif()
  else()
    add_library(ptx_${name} INTERFACE)
    target_link_libraries(ptx_${name} INTERFACE ptx_flags ${needs})
  endif()
  add_library(ptx::${name} ALIAS ptx_${name})
  set_property(GLOBAL APPEND PROPERTY PTX_ROOMS ptx::${name})

  if(PTX_TESTS AND tests)
    find_package(GTest REQUIRED)
    include(GoogleTest)
    add_executable(ptx_${name}_test ${tests})
    target_link_libraries(ptx_${name}_test PRIVATE ptx::${name} ${tests_need} GTest::gtest_main)
    if(PTX_SANITIZE MATCHES "undefined")
      # Every EXPECT_… would get dozens of these; a null pointer ends a test with a report of the address sanitizer all the same.
      target_compile_options(ptx_${name}_test PRIVATE -fno-sanitize=null,alignment)
    endif()
    ptx_compile_together(ptx_${name}_test 6 HEADERS_FOR tests HEADERS <gtest/gtest.h>)
    set(label ${name})
    if(PTX_SANITIZE STREQUAL "thread")
      set(label tsan)
      if(NOT TARGET threaded_tests)
        add_custom_target(threaded_tests)
      endif()
      add_dependencies(threaded_tests ptx_${name}_test)
    endif()
    # Tests run in the repository's root: they read tests/golden/.
    gtest_discover_tests(ptx_${name}_test TEST_PREFIX "${name}." WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label})
  endif()
endfunction()

# ptx_generate(<kind> <file> FOR <target>): `isagen <kind> <file>` at build time, below <build>/generated, before <target>.
# The file is replaced only when its content changes, so a new isagen that says the same rebuilds nothing. With FOLDER, <file> is a
# folder, in which isagen itself takes care of that.
function(ptx_generate kind file)
  cmake_parse_arguments(PARSE_ARGV 2 generate "FOLDER" "FOR" "")
  file(GLOB isagen_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/ptx/isa/gen/*.cpp")
  if(NOT isagen_sources)
    message(STATUS "ptx: no isagen yet, ${file} is not generated")
    return()
  endif()
  if(NOT TARGET ptx_isagen)
    add_executable(ptx_isagen EXCLUDE_FROM_ALL ${isagen_sources})
    ptx_compile_together(ptx_isagen 10)
    set_target_properties(ptx_isagen PROPERTIES OUTPUT_NAME isagen RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
    target_link_libraries(ptx_isagen PRIVATE ptx::isa ptx::base)
    target_compile_options(ptx_isagen PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og>)  # it runs a moment, and all wait for it
  endif()
  set(path "${PTX_GENERATED_DIR}/${file}")
  if(generate_FOLDER)
    set(stamp "${path}/${kind}.stamp")
    file(MAKE_DIRECTORY "${path}")
    add_custom_command(OUTPUT "${stamp}"
      COMMAND ptx_isagen ${kind} "${path}"
      COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
      DEPENDS ptx_isagen COMMENT "isagen ${kind}" VERBATIM)
  else()
    set(stamp "${path}.stamp")
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${stamp}" BYPRODUCTS "${path}"
      COMMAND ptx_isagen ${kind} "${path}.new"
      COMMAND ${CMAKE_COMMAND} -E copy_if_different "${path}.new" "${path}"
      COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
      DEPENDS ptx_isagen COMMENT "isagen ${kind}" VERBATIM)
  endif()
  add_custom_target(ptx_generated_${kind} DEPENDS "${stamp}")
  add_dependencies(${generate_FOR} ptx_generated_${kind})
  if(TARGET ${generate_FOR}_seldom)
    add_dependencies(${generate_FOR}_seldom ptx_generated_${kind})
  endif()
endfunction()
