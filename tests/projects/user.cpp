// A program as a user of the C++ library writes one: it writes kernels, checks PTX, runs on the CPU, saves a kernel and loads it.
//     user FILE       does all of it, the saved kernel in FILE; prints the kernels' text and keys, which no compiler may change
//     user --error    asks for the value of an error
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <ptx/kernels.hpp>
#include <ptx/ptx.hpp>

namespace {

using ptx::inst;
using ptx::Kernel;
using ptx::Type;
using ptx::u32;

int failures = 0;
void expect(bool right, std::string_view what) {
  if (right) return;
  ++failures;
  std::fprintf(stderr, "user: not so: %s\n", std::string(what).c_str());
}

bool good(const ptx::Expected<void>& done) {
  if (!done) std::fprintf(stderr, "%s\n", ptx::render(done.error()).c_str());
  failures += done ? 0 : 1;
  return done.has_value();
}
template <class T>
const T* good(const ptx::Expected<T>& value) {
  if (value) return &*value;
  ++failures;
  std::fprintf(stderr, "%s\n", ptx::render(value.error()).c_str());
  return nullptr;
}

constexpr int n = 256;

// Y = 2 X + 1, as the documentation writes it.
Kernel scale() {
  Kernel k(
      {.name = "scale", .in_specs = {{"X", {n}, ptx::f32}}, .out_specs = {{"Y", {n}, ptx::f32}}, .grid = n / 128, .block = 128});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto i = k.from_<u32>(ptx::special.ctaid.x()) * 128 + k.from_<u32>(ptx::special.tid.x());
  auto v = k.scalar<ptx::f32>();
  k << inst.ld.global_.f32(v, addr(x + i * 4));
  k << inst.fma.rn.f32(v, v, 2.0, 1.0);
  k << inst.st.global_.f32(addr(y + i * 4), v);
  k << inst.ret();
  return k;
}

// Operands that are written where they stand, several to a call and one inside another: the order of what they write is the
// source's, not the compiler's. The thread's own number is the only input.
Kernel tangled() {
  Kernel k({.name = "tangled", .out_specs = {{"Y", {n}, u32}}, .grid = 1, .block = n});
  auto [y] = k.global_ptrs("Y");
  auto t = k.from_<u32>(ptx::special.tid.x());
  auto sum = k.scalar<u32>();
  k << inst.add.u32(sum, t * 3, t + 5);
  k << inst.mad.lo.u32(sum, (t << 1) + (t >> 2), k.scalar<u32>(7), (sum & 15) * (t ^ 3) + (t | 8));
  auto later = t - 1;
  auto sooner = t + 9;  // named: it stays behind `later`, wherever it is used
  k << inst.add.u32(sum, sooner, later);
  k << inst.mad.lo.u32(sum, sooner + later, later * sooner, sum);
  k.if_((t * 2 + 1) < (t + 100), [&] { k << inst.add.u32(sum, sum, 1); });
  k << inst.st.global_.v2.u32(addr(y + (t & 127) * 8), vec(sum + 1, sum * 2));
  k << inst.ret();
  return k;
}

void print(const char* name, const ptx::Compiled& kernel) {
  std::printf("%s\nkey", kernel.ptx().c_str());
  for (const auto byte : kernel.image().key()) std::printf("%02x", static_cast<unsigned>(byte));
  std::printf("  %s\n", name);
}

void run_scale(const ptx::Compiled& kernel, const char* what) {
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i);
  if (const auto ran = kernel.run(ptx::cpu(), {x}, {y}); !ran) {
    ++failures;
    std::fprintf(stderr, "%s\n", ptx::render(ran.error()).c_str());
    return;
  }
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) right = right && y[i] == 2 * x[i] + 1;
  expect(right, what);
  const std::array<float, 3> few{};
  const auto wrong_size = kernel.run(ptx::cpu(), {few}, {y});
  expect(!wrong_size && wrong_size.error().kind == ptx::Kind::argument_dim, "a tensor of another size is an error");
}

void run_tangled(const ptx::Compiled& kernel) {
  std::vector<std::uint32_t> y(n);
  const auto ran = kernel.run(ptx::cpu(), {}, {y});
  expect(ran.has_value(), "the second kernel runs");
  bool right = true;
  for (std::uint32_t t = 128; t < n; ++t) {  // the last that store there
    std::uint32_t sum = (t + 9) + (t - 1);
    sum += ((t + 9) + (t - 1)) * ((t - 1) * (t + 9));
    if (t * 2 + 1 < t + 100) ++sum;
    right = right && y[(t & 127) * 2] == sum + 1 && y[(t & 127) * 2 + 1] == sum * 2;
  }
  expect(right, "operands written where they stand give the right numbers");
}

// What C++ has of open dimensions: a kernel for every size, checked against the memory that it is given.
void run_open() {
  Kernel k({.name = "open",
            .in_specs = {{"X", {"N"}, ptx::f32}},
            .out_specs = {{"Y", {"N"}, ptx::f32}},
            .grid = ptx::dim("N") / 32,
            .block = 32});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto i = k.from_<u32>(ptx::special.ctaid.x()) * 32 + k.from_<u32>(ptx::special.tid.x());
  auto v = k.scalar<ptx::f32>();
  k << inst.ld.global_.f32(v, addr(x + i * 4));
  ptx::raw(k, "add.f32 " + v.name() + ", " + v.name() + ", " + v.name() + ";");
  k << inst.st.global_.f32(addr(y + i * 4), v);
  k << inst.ret();
  const auto made = ptx::compile(std::move(k));
  const ptx::Compiled* kernel = good(made);
  if (kernel == nullptr) return;
  for (const std::size_t size : {32u, 96u}) {
    std::vector<float> in(size, 3.0f), out(size);
    const auto ran = kernel->run(ptx::cpu(), {in}, {ptx::shaped(out, {size})});
    expect(ran.has_value() && out.back() == 6.0f, "an open dimension has the size of the call's memory");
    const auto typed = kernel->run(ptx::cpu(), {std::vector<int>(size)}, {out});
    expect(!typed && typed.error().kind == ptx::Kind::argument_dtype, "memory of another type is an error");
  }
}

// The library's own kernels are functions over memory.
void run_ready_made() {
  const std::vector<float> x = {1, 2, 3, 4, 4, 3, 2, 1};
  std::vector<float> y(8);
  const auto ran = ptx::kernels::softmax(ptx::cpu(), ptx::f32, {x.data(), 2, 4}, {y.data(), 2, 4});
  if (!good(ran)) return;
  expect(y[0] + y[1] + y[2] + y[3] > 0.9999f && y[0] == y[7] && y[3] > 0.64f && y[3] < 0.65f, "a softmax is one");
  const auto wrong = ptx::kernels::softmax(ptx::cpu(), ptx::f64, {x.data(), 2, 4}, {y.data(), 2, 4});
  expect(!wrong && wrong.error().kind == ptx::Kind::argument_dtype, "a type that no kernel takes is an error");
}

void check_text(const std::string& text) {
  const ptx::text::Parsed parsed = ptx::text::parse(text, "scale.ptx");
  expect(!parsed.broken() && ptx::check::check(parsed.module).empty(), "what was written has no findings");
  const auto again = ptx::from_ptx(text, "scale", {.grid = {n / 128, 1, 1}, .block = {128, 1, 1}});
  if (const ptx::Compiled* kernel = good(again)) expect(kernel->ptx() == text, "and reads as itself");
  const auto wrong = ptx::from_ptx("add.u32 %r0;", "", {});
  expect(!wrong && wrong.error().kind == ptx::Kind::syntax, "text that is no module is an error");
}

void save_and_load(const ptx::Compiled& kernel, const char* file) {
  // no machine code: nobody asks for a compiler here
  if (!good(kernel.save(file, std::vector<std::string>{}))) return;
  if (const auto loaded = ptx::load(file); const ptx::Compiled* back = good(loaded)) {
    expect(back->ptx() == kernel.ptx(), "a loaded kernel is the saved one");
    run_scale(*back, "a loaded kernel gives the same");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "--error") == 0) {
    std::puts("said before");
    const std::string text = ptx::load("no/such/file").value().ptx();
    std::printf("never: %s\n", text.c_str());
    return 0;
  }
  const auto first = ptx::compile(scale());
  if (const ptx::Compiled* kernel = good(first)) {
    print("scale", *kernel);
    run_scale(*kernel, "y is 2 x + 1");
    check_text(kernel->ptx());
    save_and_load(*kernel, argv[1]);
  }
  const auto second = ptx::compile(tangled());
  if (const ptx::Compiled* kernel = good(second)) {
    print("tangled", *kernel);
    run_tangled(*kernel);
  }
  run_open();
  run_ready_made();
  return failures == 0 ? 0 : 1;
}
