# A toolchain for the fuzz preset: the newest clang found, whatever its package calls it.
find_program(PTX_CLANG NAMES clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 REQUIRED)
set(CMAKE_CXX_COMPILER "${PTX_CLANG}")
