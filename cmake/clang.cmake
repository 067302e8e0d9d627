# A toolchain: the newest clang of the PATH, whatever its package calls it; ./dev says which it found with PTX_CLANG.
foreach(version RANGE 40 16 -1)
  list(APPEND names clang++-${version})
endforeach()
find_program(PTX_CLANG NAMES ${names} clang++ REQUIRED)
set(CMAKE_CXX_COMPILER "${PTX_CLANG}")
