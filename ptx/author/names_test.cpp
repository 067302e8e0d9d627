// A program with names of its own that ptx has, too, written as docs/guide/first_kernel.md advises: in a namespace of its own,
// `using namespace ptx;` inside of it. Its own names are then found first. (At file scope each of them would be ambiguous.)
#include <gtest/gtest.h>

#include <vector>

#include "ptx/author/author.hpp"

namespace app {

using namespace ptx;

int check(int status) { return status; }
int write(int n) { return n + 1; }
int launch(int n) { return check(n) + 1; }
struct text {
  int length = 0;
};
enum class cuda { runtime };
constexpr int isa = 1, block = 32, warp = 32, dim = 64, layout = 2, tile = 3, base = 4, author = 5;
int cpu() { return 6; }
int gpu(int n) { return n; }

Kernel twice() {
  Kernel k(
      {.name = "twice", .in_specs = {{"X", {dim}, f32}}, .out_specs = {{"Y", {dim}, f32}}, .grid = dim / block, .block = block});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto i = k.from_<u32>(special.ctaid.x()) * block + k.from_<u32>(special.tid.x());
  auto v = k.let(inst.ld.global_.f32, addr(x + i * 4));
  k << inst.add.f32(v, v, v);
  k << inst.st.global_.f32(addr(y + i * 4), v);
  k << inst.ret();
  return k;
}

TEST(Names, AreTheProgramsOwnInItsNamespace) {
  EXPECT_EQ(launch(write(text{.length = gpu(cpu())}.length)) + isa + warp + layout + tile + base + author, 8 + 47);
  EXPECT_EQ(static_cast<int>(cuda::runtime), 0);
  const Expected<Compiled> kernel = compile(twice());
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<float> x(dim, 4.0f), y(dim);
  ASSERT_TRUE(kernel->run(ptx::cpu(), {x}, {y}));  // what both have is said with its namespace
  EXPECT_EQ(y, std::vector<float>(dim, 8.0f));
}

}  // namespace app
