// Copies of bytes and their reductions, against references that know nothing of each other.
#include <cmath>
#include <random>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::copies {
namespace {

using testing::body_program;
using testing::Buffer;
using testing::params;

using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view in_and_out = ".param .u64 in, .param .u64 out, .param .u64 n";
// %rd0 = in, %rd1 = out, %r0 = tid, %r1 = tile, %r8 = n; one barrier for one arrival, `bar`
constexpr std::string_view start =
    ".shared .align 128 .b8 tile[8192];\n.shared .align 8 .b64 bar;\nld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\n"
    "ld.param.u64 %rd9, [n];\ncvt.u32.u64 %r8, %rd9;\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\n";

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// ---- cp.async

// 32 threads, each 16 bytes of its own.
TEST(CopyOps, SmallCopies) {
  for (const int size : {4, 8, 16}) {
    for (const std::string_view form : {"", "size", "ignore", "hint"}) {
      const std::string cop = size == 16 && form != "hint" ? "cg" : "ca";
      const std::string copy =
          cat("cp.async.", cop, form == "hint" ? ".shared::cta.global.L2::cache_hint.L2::128B" : ".shared.global",
              " [%r2], [%rd2], ", size,
              form == "size"     ? ", %r4"
              : form == "ignore" ? ", %p0"
              : form == "hint"   ? ", %rd9"
                                 : "",
              ";\n");
      const auto program = body_program(
          in_and_out,
          cat(start,
              "shl.b32 %r3, %r0, 4;\nadd.u32 %r2, %r1, %r3;\ncvt.u64.u32 %rd3, %r3;\nadd.u64 %rd2, %rd0, %rd3;\n"
              "add.u64 %rd4, %rd1, %rd3;\nrem.u32 %r4, %r0, ",
              size + 1, ";\nand.b32 %r5, %r0, 1;\nsetp.ne.u32 %p0, %r5, 0;\nst.shared.v2.b64 [%r2], {%rd0, %rd0};\n", copy,
              "cp.async.commit_group;\n@%p0 cp.async.wait_group 0;\n@!%p0 cp.async.wait_all;\n"
              "ld.shared.v2.b64 {%rd5, %rd6}, [%r2];\nst.global.v2.b64 [%rd4], {%rd5, %rd6};\n"));
      Buffer<std::uint8_t> in{"in", random_bytes(512, 3), false}, out{"out", Bytes(512)};
      testing::run(program, testing::block(32), params({in.address(), out.address(), 0}), {in.region(), out.region()});
      const std::uint64_t before = in.address();
      for (std::size_t i = 0; i < 512; ++i) {
        const std::size_t thread = i / 16, byte = i % 16, count = static_cast<std::size_t>(size);
        const std::size_t read = form == "size" ? thread % (count + 1) : form == "ignore" && thread % 2 == 1 ? 0 : count;
        const std::uint8_t kept = static_cast<std::uint8_t>(before >> (8 * (byte % 8)));
        ASSERT_EQ(out.data[i], byte >= count ? kept : byte < read ? in.data[i] : 0) << copy << "byte " << i;
      }
    }
  }
}

TEST(CopyOps, SmallCopiesStayInTheirMemory) {
  const auto fault = [](std::string_view instructions) {
    Buffer<std::uint8_t> in{"in", Bytes(64), false}, out{"out", Bytes(64), true, false};
    return testing::fault(body_program(in_and_out, cat(start, instructions)), testing::block(1),
                          params({in.address(), out.address(), 0}), {in.region(), out.region()});
  };
  EXPECT_EQ(fault("cp.async.cg.shared.global [%r1], [%rd0+64], 16;").kind, Kind::out_of_bounds);
  EXPECT_EQ(fault("cp.async.cg.shared.global [%r1+8192], [%rd0], 16;").kind, Kind::out_of_bounds);
  EXPECT_EQ(fault("cp.async.cg.shared.global [%r1+8], [%rd0], 16;").kind, Kind::misaligned);
  EXPECT_EQ(fault("cp.async.ca.shared.global [%r1], [%rd0+2], 4;").kind, Kind::misaligned);
  const Diagnostic more = fault("mov.u32 %r2, 5;\ncp.async.ca.shared.global [%r1], [%rd0], 4, %r2;");
  EXPECT_EQ(more.kind, Kind::bad_descriptor);
  EXPECT_NE(more.message.find("is to read 5 bytes, more than the 4 that it copies"), std::string::npos) << more.message;
  // nothing is read where the size is 0
  Buffer<std::uint8_t> in{"in", Bytes(64), false}, out{"out", Bytes(64)};
  testing::run(body_program(in_and_out, cat(start,
                                            "mov.u32 %r2, 0;\ncp.async.cg.shared.global [%r1], [%rd0+64], 16, %r2;\n"
                                            "ld.shared.b32 %r3, [%r1];\nst.global.b32 [%rd1], %r3;")),
               testing::block(1), params({in.address(), out.address(), 0}), {in.region(), out.region()});
  // what nothing has written stays so: copied, loaded, and then stored where others see it
  const Diagnostic d =
      fault("cp.async.cg.shared.global [%r1], [%rd1], 16;\nld.shared.b32 %r3, [%r1];\nst.global.b32 [%rd1], %r3;");
  EXPECT_EQ(d.kind, Kind::uninitialised);
}

// ---- cp.async.bulk

TEST(CopyOps, BulkThereAndBack) {
  struct Form {
    std::string_view to, sem, type;
  };
  for (const auto& [to, sem, type] :
       {Form{"shared::cluster", "", ""}, Form{"shared::cta", "", ""}, Form{"shared::cluster", ".relaxed.cluster", ".b128"},
        Form{"shared::cta", ".relaxed.cta", ".b128"}}) {
    const auto program =
        body_program(in_and_out,
                     cat(start, "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], %r8;\n",
                         "cp.async.bulk", sem, ".", to, ".global.mbarrier::complete_tx::bytes", type,
                         " [%r1], [%rd0], %r8, [bar];\n"
                         "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 bra WAIT;\n"
                         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r8;\n"
                         "cp.async.bulk",
                         sem, ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes", type,
                         " [%r1+4096], [%r1], %r8, [bar];\n"
                         "AGAIN:\nmbarrier.try_wait.parity.shared.b64 %p0, [bar], 1;\n@!%p0 bra AGAIN;\n"
                         "cp.async.bulk.prefetch.L2.global [%rd0], %r8;\n"
                         "cp.async.bulk",
                         sem, ".global.shared::cta.bulk_group", type,
                         " [%rd1], [%r1+4096], %r8;\ncp.async.bulk.commit_group;\n"
                         "cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\n"),
                     {sem.empty() ? "8.7" : "9.3", "sm_90a"});
    for (const std::uint32_t bytes : {0u, 16u, 48u, 4096u}) {
      Buffer<std::uint8_t> in{"in", random_bytes(4096, bytes), false}, out{"out", Bytes(4096)};
      testing::run(program, testing::block(1), params({in.address(), out.address(), bytes}), {in.region(), out.region()});
      Bytes wanted(4096);
      std::copy_n(in.data.begin(), bytes, wanted.begin());
      EXPECT_EQ(out.data, wanted);
    }
  }
}

TEST(CopyOps, BulkWithMasks) {
  const auto run = [](std::string_view instructions, testing::TextOptions options = {}) {
    Buffer<std::uint8_t> in{"in", random_bytes(64, 5), false}, out{"out", Bytes(64, 0xEE)};
    const auto program =
        body_program(in_and_out,
                     cat(start, "mbarrier.init.shared.b64 [bar], 1;\nld.global.v2.b64 {%rd2, %rd3}, [%rd0];\n",
                         "st.shared.v2.b64 [%r1], {%rd2, %rd3};\nst.shared.v2.b64 [%r1+16], {%rd3, %rd2};\n", instructions),
                     options);
    auto report =
        program->run(testing::block(1), params({in.address(), out.address(), 0}), std::vector{in.region(), out.region()}, {});
    return std::pair(report ? Kind::syntax : report.error().kind, std::pair(in.data, out.data));
  };
  const auto [kind, data] = run(
      "mov.u16 %h0, 0x8005;\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 32, %h0;", {"8.7", "sm_100a"});
  EXPECT_EQ(kind, Kind::syntax);
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t from = i < 16 ? i : (i + 8) % 16;
    EXPECT_EQ(data.second[i], (0x8005u >> (i % 16) & 1) != 0 ? data.first[from] : 0xEE) << i;
  }
  // a cluster of one block
  constexpr std::string_view multicast =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r1], [%rd0], 16, [bar], %h0;";
  EXPECT_EQ(run(cat("mov.u16 %h0, 1;\nmbarrier.expect_tx.shared.b64 [bar], 16;\n", multicast)).first, Kind::syntax);
  EXPECT_EQ(run(cat("mov.u16 %h0, 3;\n", multicast)).first, Kind::out_of_bounds);
  EXPECT_EQ(run("mov.u32 %r2, 24;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;").first, Kind::misaligned);
  EXPECT_EQ(run("cp.async.bulk.global.shared::cta.bulk_group [%rd1+8], [%r1], 16;").first, Kind::misaligned);
  EXPECT_EQ(run("cp.async.bulk.global.shared::cta.bulk_group [%rd1+48], [%r1], 32;").first, Kind::out_of_bounds);
  EXPECT_EQ(run("cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 32;").first, Kind::read_only);
  EXPECT_EQ(run("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 48;").first, Kind::uninitialised);
  EXPECT_EQ(run("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 16, [bar];\n"
                "mov.u32 %r2, bar;\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 16, [%r2+8];")
                .first,
            Kind::out_of_bounds);
}

// ---- reductions

// Numbers of a 16-bit format by their bits, found without rounding: every finite one as a double.
double value_of(std::uint16_t bits, bool bf16) {
  const int exponent_bits = bf16 ? 8 : 5, mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1), mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}
// Nearest by bisection among the non-negative ones; a long double holds every sum here exactly.
std::uint16_t nearest(long double x, bool negative_zero, bool bf16) {
  const bool negative = x < 0 || (x == 0 && negative_zero);
  const long double size = std::fabs(x);
  const std::uint16_t infinity = bf16 ? 0x7F80 : 0x7C00;
  std::uint16_t low = 0, high = infinity;  // value(low) <= size
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (static_cast<long double>(value_of(middle, bf16)) <= size ? low : high) = middle;
  }
  const long double below = value_of(low, bf16);
  // beyond the largest number: as if there were one more step
  const long double step =
      value_of(static_cast<std::uint16_t>(infinity - 1), bf16) - value_of(static_cast<std::uint16_t>(infinity - 2), bf16);
  const long double above = high == infinity ? below + step : value_of(high, bf16);
  std::uint16_t result = low;
  if (std::isinf(size) || size - below > above - size || (size - below == above - size && (low & 1) != 0)) result = high;
  return static_cast<std::uint16_t>(result | (negative ? 0x8000 : 0));
}

struct Element {
  std::string_view name;
  int bits;
};
std::uint64_t reference(std::string_view op, std::string_view type, std::uint64_t memory, std::uint64_t value) {
  const bool is_signed = type[0] == 's';
  if (op == "and") return memory & value;
  if (op == "or") return memory | value;
  if (op == "xor") return memory ^ value;
  if (op == "inc") return memory >= value ? 0 : memory + 1;
  if (op == "dec") return memory == 0 || memory > value ? value : memory - 1;
  if (type == "f32") {
    float a = 0, b = 0;
    const auto m = static_cast<std::uint32_t>(memory), v = static_cast<std::uint32_t>(value);
    std::memcpy(&a, &m, 4), std::memcpy(&b, &v, 4);
    const double exact = static_cast<double>(a) + b;  // rounded to 53 bits, then to 24: harmless for a sum
    const auto sum = static_cast<float>(exact);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &sum, 4);
    return std::isnan(sum) ? 0x7FFFFFFF : bits;
  }
  if (type == "f64") {
    double a = 0, b = 0;
    std::memcpy(&a, &memory, 8), std::memcpy(&b, &value, 8);
    if (std::isnan(b)) return value;
    if (std::isnan(a)) return memory;
    const auto sum = a + b;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &sum, 8);
    return std::isnan(sum) ? 0xFFF8000000000000 : bits;
  }
  if (type == "f16" || type == "bf16") {
    const bool bf16 = type == "bf16";
    const auto m = static_cast<std::uint16_t>(memory), v = static_cast<std::uint16_t>(value);
    const double a = value_of(m, bf16), b = value_of(v, bf16);
    if (op == "add") {
      if (std::isnan(a) || std::isnan(b) || std::isnan(a + b)) return 0x7FFF;
      return nearest(static_cast<long double>(a) + b, std::signbit(a) && std::signbit(b), bf16);
    }
    if (std::isnan(a) && std::isnan(b)) return 0x7FFF;
    if (std::isnan(a)) return v;
    if (std::isnan(b)) return m;
    const bool memory_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
    return (op == "min") == memory_less ? m : v;
  }
  if (op == "add") return memory + value;
  if (type.ends_with("32")) {
    const bool less = is_signed ? static_cast<std::int32_t>(memory) < static_cast<std::int32_t>(value) : memory < value;
    return (op == "min") == less ? memory : value;
  }
  const bool less = is_signed ? static_cast<std::int64_t>(memory) < static_cast<std::int64_t>(value) : memory < value;
  return (op == "min") == less ? memory : value;
}

void expect_reduction(std::string_view op, Element type, bool in_shared, bool ordered = false) {
  const std::string_view sem = ordered ? ".relaxed.cluster" : "";
  std::string suffix = cat(".", op, type.name.ends_with("f16") && op == "add" ? ".noftz." : ".", type.name);
  const std::string reduce =
      in_shared ? cat("mbarrier.init.shared.b64 [bar], "
                      "1;\ncp.reduce.async.bulk",
                      sem, ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes", suffix,
                      " [%r1+4096], [%r1], 4096, [bar];\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 4096;\n"
                      "mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 trap;\n"
                      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1+4096], 4096;\n")
                : cat("cp.reduce.async.bulk", sem, ".global.shared::cta.bulk_group", suffix, " [%rd1], [%r1], 4096;\n");
  const auto program =
      body_program(in_and_out,
                   cat(start,
                       "mbarrier.init.shared.b64 [bar], 1;\n"
                       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 4096, [bar];\n"
                       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+4096], [%rd1], 4096, [bar];\n"
                       "mbarrier.inval.shared.b64 [bar];\n",
                       reduce),
                   {ordered ? "9.3" : "8.7", "sm_90a"});
  std::mt19937_64 random(9);
  const std::size_t count = 4096 * 8 / static_cast<std::size_t>(type.bits);
  std::vector<std::uint64_t> values(count), memory(count);
  const std::vector<std::uint64_t> edges = {0,
                                            1,
                                            0x8000,
                                            0x7FFF,
                                            0x7C00,
                                            0xFC00,
                                            0x7F80,
                                            0xFF80,
                                            0x0001,
                                            0x03FF,
                                            0x8001,
                                            0x007F,
                                            0xFFFF,
                                            0x7FC1,
                                            0x80000000,
                                            0x7F800000,
                                            0xFF800000,
                                            0x7F800001,
                                            0x00000001,
                                            0x807FFFFF,
                                            0x7FFFFFFF,
                                            ~std::uint64_t{0},
                                            0x7FF0000000000000,
                                            0xFFF0000000000000,
                                            0x7FF0000000000001,
                                            0x8000000000000000,
                                            0x000FFFFFFFFFFFFF};
  const std::uint64_t mask = type.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto draw = [&] { return (random() % 3 == 0 ? edges[random() % edges.size()] : random()) & mask; };
    values[i] = draw();
    memory[i] = random() % 4 == 0 ? values[i] ^ (std::uint64_t{1} << (type.bits - 1)) : draw();
  }
  const auto pack = [&](const std::vector<std::uint64_t>& numbers) {
    Bytes bytes;
    for (const std::uint64_t x : numbers)
      for (int i = 0; i < type.bits; i += 8) bytes.push_back(static_cast<std::uint8_t>(x >> i));
    return bytes;
  };
  Buffer<std::uint8_t> in{"in", pack(values), false}, out{"out", pack(memory)};
  testing::run(program, testing::block(1), params({in.address(), out.address(), 0}), {in.region(), out.region()});
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t got = 0;
    for (int b = type.bits / 8; b-- > 0;)
      got = got << 8 | out.data[i * static_cast<std::size_t>(type.bits) / 8 + static_cast<std::size_t>(b)];
    ASSERT_EQ(got, reference(op, type.name, memory[i], values[i]) & mask)
        << suffix << ": memory 0x" << std::hex << memory[i] << ", value 0x" << values[i];
  }
}

TEST(CopyOps, BulkReductions) {
  constexpr Element u32{"u32", 32}, s32{"s32", 32}, u64{"u64", 64}, s64{"s64", 64}, f16{"f16", 16}, bf16{"bf16", 16};
  for (const std::string_view op : {"and", "or", "xor"}) {
    expect_reduction(op, {"b32", 32}, false);
    expect_reduction(op, {"b64", 64}, false);
    expect_reduction(op, {"b32", 32}, true);
  }
  for (const std::string_view op : {"min", "max"}) {
    for (const Element& type : {u32, s32, u64, s64, f16, bf16}) expect_reduction(op, type, false);
    for (const Element& type : {u32, s32}) expect_reduction(op, type, true);
  }
  for (const Element& type : {u32, s32, u64, Element{"f32", 32}, Element{"f64", 64}, f16, bf16})
    expect_reduction("add", type, false);
  for (const Element& type : {u32, s32, u64}) expect_reduction("add", type, true);
  for (const std::string_view op : {"inc", "dec"})
    for (const bool in_shared : {false, true}) expect_reduction(op, u32, in_shared);
  for (const bool in_shared : {false, true}) {
    expect_reduction("and", {"b32", 32}, in_shared, true);
    expect_reduction("max", s32, in_shared, true);
    expect_reduction("add", u32, in_shared, true);
    expect_reduction("dec", u32, in_shared, true);
  }
  expect_reduction("add", f16, false, true);
}

// Blocks that add to the same memory at the same time, on two workers.
TEST(CopyOps, ReductionsAreAtomic) {
  const auto program =
      body_program(in_and_out, cat(start,
                                   "st.shared.b32 [%r1], 1;\nst.shared.b32 [%r1+4], 2;\n"
                                   "st.shared.b32 [%r1+8], 3;\nst.shared.b32 [%r1+12], 4;\nmov.u32 %r2, 0;\n"
                                   "LOOP:\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], "
                                   "[%r1], 16;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 100;\n@%p0 bra LOOP;\n"));
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(4)};
  LaunchConfig config;
  config.grid = {64, 1, 1};
  testing::run(program, config, params({out.address(), out.address(), 0}), {out.region()}, {.workers = 2});
  EXPECT_EQ(out.data, (std::vector<std::uint32_t>{6400, 12800, 19200, 25600}));
}

// ---- what comes from registers

TEST(CopyOps, StoresThatAnMbarrierCounts) {
  const auto run = [](std::string_view instructions, std::uint32_t bytes, testing::TextOptions options = {}) {
    Buffer<std::uint8_t> out{"out", Bytes(64)};
    testing::run(body_program(in_and_out,
                              cat(start,
                                  "mbarrier.init.shared.b64 [bar], 1;\nmov.u64 %rd2, 0x1122334455667788;\n"
                                  "mov.u64 %rd3, 0xAABBCCDDEEFF0011;\nmov.u32 %r2, 0x01020304;\nmov.u32 %r3, 0x05060708;\n"
                                  "st.shared.v2.b64 [%r1], {%rd2, %rd3};\n",
                                  instructions, "\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], ", bytes,
                                  ";\nmbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 trap;\n"
                                  "ld.shared.v2.b64 {%rd4, %rd5}, [%r1];\nst.global.v2.b64 [%rd1], {%rd4, %rd5};\n"),
                              options),
                 testing::block(1), params({out.address(), out.address(), 0}), {out.region()});
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), out.data.data(), 16);
    return words;
  };
  using Words = std::array<std::uint64_t, 2>;
  constexpr std::uint64_t low = 0x1122334455667788, high = 0xAABBCCDDEEFF0011, both = 0x0506070801020304;
  for (const std::string_view weak : {".weak", "", ".cluster"}) {
    const std::string st = cat("st.async", weak, ".shared::cluster.mbarrier::complete_tx::bytes");
    EXPECT_EQ(run(cat(st, ".u32 [%r1+4], %r2, [bar];"), 4), (Words{0x0102030455667788, high}));
    EXPECT_EQ(run(cat(st, ".v2.b32 [%r1], {%r2, %r3}, [bar];"), 8), (Words{both, high}));
    EXPECT_EQ(run(cat(st, ".v4.b32 [%r1], {%r2, %r3, %r3, %r2}, [bar];"), 16), (Words{both, 0x0102030405060708}));
    EXPECT_EQ(run(cat(st, ".b64 [%r1+8], %rd2, [bar];"), 8), (Words{low, low}));
    EXPECT_EQ(run(cat(st, ".v2.b64 [%r1], {%rd3, %rd2}, [bar];"), 16), (Words{high, low}));
    EXPECT_EQ(run(cat(".reg .b128 %w;\nmov.b128 %w, {%rd3, %rd2};\n", st, ".b128 [%r1], %w, [bar];"), 16, {"9.3", "sm_90a"}),
              (Words{high, low}));
  }
  const std::string red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
  EXPECT_EQ(run(cat(red, ".add.u32 [%r1], %r2, [bar];"), 4), (Words{0x1122334456687A8C, high}));
  EXPECT_EQ(run(cat(red, ".add.u64 [%r1], %rd2, [bar];"), 8), (Words{2 * low, high}));
  EXPECT_EQ(run(cat(red, ".min.s32 [%r1+8], %r2, [bar];"), 4), (Words{low, high}));
  EXPECT_EQ(run(cat(red, ".max.u32 [%r1], %r2, [bar];"), 4), (Words{low, high}));
  EXPECT_EQ(run(cat(red, ".and.b32 [%r1], %r2, [bar];"), 4), (Words{0x1122334401020300, high}));
  EXPECT_EQ(run(cat(red, ".inc.u32 [%r1], %r2, [bar];"), 4), (Words{0x1122334400000000, high}));
  EXPECT_EQ(run(cat(red, ".dec.u32 [%r1], %r2, [bar];"), 4), (Words{0x1122334401020304, high}));
  // in global memory, without an mbarrier
  Buffer<std::uint8_t> out{"out", Bytes(64)};
  const std::string release = ".release.gpu.global";
  testing::run(body_program(in_and_out,
                            cat(start, "mov.u32 %r2, 7;\nmov.u32 %r3, 3;\nst.async", release, ".u32 [%rd1], %r2;\nred.async",
                                release, ".add.s32 [%rd1], %r3;\nred.async", release, ".max.u32 [%rd1], %r3;\nred.async", release,
                                ".xor.b32 [%rd1], %r3;\nred.async", release, ".dec.u32 [%rd1], %r2;\n"),
                            {"8.7", "sm_100a"}),
               testing::block(1), params({out.address(), out.address(), 0}), {out.region()});
  EXPECT_EQ(out.data[0], 7);  // 7, 10, 10, 9, 7
  const auto fill = [&](std::string_view size) {
    Buffer<std::uint8_t> sink{"out", Bytes(64, 1)};
    auto report =
        body_program(
            in_and_out,
            cat(start, "st.shared.b64 [%r1+16], %rd0;\nmov.u64 %rd3, ", size,
                ";\nst.bulk.weak.shared::cta [%r1], %rd3, 0;\nld.shared.b64 %rd4, [%r1+8];\nld.shared.b64 %rd5, [%r1+16];\n"
                "st.global.v2.b64 [%rd1], {%rd4, %rd5};\n"),
            {"8.7", "sm_100a"})
            ->run(testing::block(1), params({sink.address(), sink.address(), 0}), std::vector{sink.region()}, {});
    std::uint64_t words[2] = {};
    std::memcpy(words, sink.data.data(), 16);
    return report ? std::pair(Kind::syntax, words[0] == 0 ? words[1] : 1) : std::pair(report.error().kind, std::uint64_t{0});
  };
  EXPECT_EQ(fill("24"), std::pair(Kind::syntax, std::uint64_t{0}));
  EXPECT_NE(fill("16").second, 0u);
  EXPECT_EQ(fill("12").first, Kind::misaligned);
  EXPECT_EQ(fill("16384").first, Kind::out_of_bounds);
}

// ---- a cluster of one block

TEST(CopyOps, AddressesInTheCluster) {
  const auto program = body_program(
      in_and_out,
      cat(start,
          "mov.u32 %r2, 0;\nmapa.shared::cluster.u32 %r3, %r1, 0;\nmapa.shared::cluster.u32 %r4, tile, %r2;\n"
          "setp.ne.u32 %p0, %r3, %r1;\n@%p0 trap;\nsetp.ne.u32 %p0, %r4, %r1;\n@%p0 trap;\n"
          "cvt.u64.u32 %rd2, %r1;\nmapa.shared::cluster.u64 %rd3, %rd2, 0;\nsetp.ne.u64 %p0, %rd2, %rd3;\n@%p0 trap;\n"
          "cvta.shared.u64 %rd4, %rd2;\nmapa.u64 %rd5, %rd4, 0;\nsetp.ne.u64 %p0, %rd4, %rd5;\n@%p0 trap;\n"
          "getctarank.shared::cluster.u32 %r5, %r1;\nsetp.ne.u32 %p0, %r5, 0;\n@%p0 trap;\n"
          "getctarank.u64 %r5, %rd4;\nsetp.ne.u32 %p0, %r5, 0;\n@%p0 trap;\n"
          "getctarank.shared::cluster.u32 %r5, tile;\nsetp.ne.u32 %p0, %r5, 0;\n@%p0 trap;\n"));
  Buffer<std::uint8_t> out{"out", Bytes(16)};
  testing::run(program, testing::block(32), params({out.address(), out.address(), 0}), {out.region()});
  const auto fault = [&](std::string_view instruction) {
    return testing::fault(body_program(in_and_out, cat(start, instruction)), testing::block(1),
                          params({out.address(), out.address(), 0}), {out.region()})
        .kind;
  };
  EXPECT_EQ(fault("mapa.shared::cluster.u32 %r3, %r1, 1;\nld.shared::cluster.u32 %r3, [%r3];"), Kind::out_of_bounds);
  EXPECT_EQ(fault("mapa.u64 %rd5, %rd0, 0;"), Kind::out_of_bounds);
  EXPECT_EQ(fault("getctarank.u64 %r5, %rd0;"), Kind::out_of_bounds);
}

}  // namespace
}  // namespace ptx::vgpu::copies
