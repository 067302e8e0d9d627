# Settings of the whole build, and ptx_flags: what every target of ours compiles and links with.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# The same objects make the static and the shared library, so names stay visible in them; what must not export them, as the Python
# extension, hides them when it links (--exclude-libs). Nobody replaces our functions from outside: the compiler may inline them.
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
set(PTX_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
find_package(Threads REQUIRED)

add_library(ptx_flags INTERFACE)
target_compile_features(ptx_flags INTERFACE cxx_std_20)
target_include_directories(ptx_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PTX_GENERATED_DIR}")
target_link_libraries(ptx_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
target_compile_options(ptx_flags INTERFACE
  -fno-semantic-interposition
  -ffp-contract=off  # the executor's answers are exact: the compiler may not fuse a multiply and an add of its own accord
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wvla
  -Wno-missing-field-initializers)  # designated initialisers leave fields at their defaults on purpose
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ptx_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)  # it warns of std::string's own copies
endif()
target_compile_options(ptx_flags INTERFACE
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-fconstexpr-steps=100000000>)  # the table's rows are read while compiling
target_compile_options(ptx_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)  # KB: nothing of ours takes so much, and collecting took a tenth of the time
if(PTX_WERROR)
  target_compile_options(ptx_flags INTERFACE -Werror)
endif()

if(PTX_SANITIZE)
  target_compile_options(ptx_flags INTERFACE -fsanitize=${PTX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # GCC reports its own sanitizer code
  target_compile_definitions(ptx_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(ptx_flags INTERFACE -fsanitize=${PTX_SANITIZE})
endif()
