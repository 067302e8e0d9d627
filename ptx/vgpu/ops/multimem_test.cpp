// multimem.*: every form on the memory of three devices, against whole numbers; what one replica gives; who may use which
// address.
#include <algorithm>
#include <functional>
#include <random>

#include "ptx/vgpu/testing/numbers.hpp"
#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::multimem {
namespace {

using testing::body_program;
using testing::Buffer;
using testing::params;

constexpr testing::TextOptions newest{"9.3", "sm_100a"};
constexpr std::size_t lane_bytes = 16, threads = 32;
using Bytes = std::vector<std::uint8_t>;

// A type, and the numbers that an element of it consists of: f16x2 of two f16.
struct ElementType {
  std::string name, number;
  int bits, numbers;
};
std::uint64_t pattern(const std::string& number, int value, int bits) {
  const bool is_integer = number[0] == 'u' || number[0] == 's' || number[0] == 'b' ? number.substr(0, 2) != "bf" : false;
  if (!is_integer) return testing::pattern_of(number, value);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) &
         (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
}
int numbers_of(const std::string& type) { return type.ends_with("x2") ? 2 : type.ends_with("x4") ? 4 : 1; }
ElementType element(const std::string& type) {
  const int numbers = numbers_of(type);
  const std::string number = numbers == 1 ? type : type.substr(0, type.size() - 2);
  const int bits = number[0] == 'e' ? 8 : number == "f16" || number == "bf16" ? 16 : std::stoi(number.substr(1));
  return {type, number, bits * numbers, numbers};
}

std::string list(int count) {
  std::string all = "%e0";
  for (int i = 1; i < count; ++i) all += cat(", %e", i);
  return count == 1 ? all : cat('{', all, '}');
}
std::string vec(int count) { return count == 1 ? "" : cat(".v", count); }

// Each thread has 16 bytes at %rd0, a multimem address, and at %rd1. `%e` has the elements' width.
std::string begin(int bits) {
  return cat(".reg .b", bits, " %e<8>;\nld.param.u64 %rd0, [all];\nld.param.u64 %rd1, [own];\nmov.u32 %r0, %tid.x;\n",
             "mul.wide.u32 %rd2, %r0, 16;\nadd.u64 %rd0, %rd0, %rd2;\nadd.u64 %rd1, %rd1, %rd2;\n");
}
std::string move_own(bool load, int bits, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += load ? cat("ld.global.b", bits, " %e", i, ", [%rd1+", i * bits / 8, "];\n")
                : cat("st.global.b", bits, " [%rd1+", i * bits / 8, "], %e", i, ";\n");
  return all;
}
constexpr std::string_view both = ".param .u64 all, .param .u64 own";

// Memory of some devices, and the region that stands for all of them.
struct Devices {
  std::vector<Buffer<std::uint8_t>> memory;
  explicit Devices(std::size_t count, std::size_t bytes = lane_bytes * threads) {
    for (std::size_t i = 0; i < count; ++i) memory.push_back({cat("device ", i), Bytes(bytes + 16), true, true});
  }
  // vectors of bytes lie at any address
  std::uint8_t* at(std::size_t device) { return reinterpret_cast<std::uint8_t*>((memory[device].address() + 15) / 16 * 16); }
  [[nodiscard]] std::size_t bytes() const { return memory[0].data.size() - 16; }
  Region region() {
    Region all{.data = reinterpret_cast<std::byte*>(at(0)), .bytes = bytes(), .name = "all", .multicast = true};
    for (std::size_t i = 1; i < memory.size(); ++i) all.further_replicas.push_back(reinterpret_cast<std::byte*>(at(i)));
    return all;
  }
  std::span<std::uint8_t> of(std::size_t device) { return {at(device), bytes()}; }
};

void put(std::span<std::uint8_t> to, std::size_t at, std::uint64_t value, int bits) {
  std::memcpy(&to[at], &value, static_cast<std::size_t>(bits) / 8);
}

// The numbers of one kind of memory: a small one for each place.
struct Numbers {
  std::vector<int> values;
  Numbers(std::mt19937& random, std::size_t count, bool negative) {
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(static_cast<int>(random() % 3) - (negative && random() % 2 == 0 ? 2 : 0));
  }
};
// Writes all elements that the threads use; `value(thread, number)`.
void fill(std::span<std::uint8_t> memory, const ElementType& type, int count,
          const std::function<int(std::size_t, std::size_t)>& value) {
  const int bits = type.bits / type.numbers;
  for (std::size_t t = 0; t < threads; ++t)
    for (std::size_t i = 0; i < static_cast<std::size_t>(count * type.numbers); ++i)
      put(memory, t * lane_bytes + i * static_cast<std::size_t>(bits) / 8, pattern(type.number, value(t, i), bits), bits);
}

int reduce(const std::string& op, int a, int b) {
  if (op.starts_with("add")) return a + b;
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  return op == "and" ? a & b : op == "or" ? a | b : a ^ b;
}

struct Form {
  std::vector<std::string> ops, types;
  std::vector<int> counts;
};
const std::vector<Form> loads = {
    {{"min", "max"}, {"u32", "s32", "u64", "s64"}, {1}},
    {{"add"}, {"u32", "s32", "u64", "f64"}, {1}},
    {{"and", "or", "xor"}, {"b32", "b64"}, {1}},
    {{"add"}, {"f32"}, {1, 2, 4}},
    {{"min", "max", "add", "add.acc::f32"}, {"f16", "bf16"}, {2, 4, 8}},
    {{"min", "max", "add", "add.acc::f32"}, {"f16x2", "bf16x2"}, {1, 2, 4}},
    {{"min", "max", "add", "add.acc::f16"}, {"e5m2", "e4m3"}, {4, 8}},
    {{"min", "max", "add", "add.acc::f16"}, {"e5m2x2", "e4m3x2"}, {2, 4, 8}},
    {{"min", "max", "add", "add.acc::f16"}, {"e5m2x4", "e4m3x4"}, {1, 2, 4}},
};
const std::vector<Form> reductions = {
    {{"min", "max"}, {"u32", "s32", "u64", "s64"}, {1}},
    {{"add"}, {"u32", "s32", "u64", "f64"}, {1}},
    {{"and", "or", "xor"}, {"b32", "b64"}, {1}},
    {{"add"}, {"f32"}, {1, 2, 4}},
    {{"add"}, {"f16", "bf16"}, {2, 4, 8}},
    {{"add"}, {"f16x2", "bf16x2"}, {1, 2, 4}},
};
const std::vector<Form> stores = {
    {{""}, {"b32", "b64", "u32", "u64", "s32", "s64", "f64"}, {1}},
    {{""}, {"f32"}, {1, 2, 4}},
    {{""}, {"f16", "bf16"}, {2, 4, 8}},
    {{""}, {"f16x2", "bf16x2"}, {1, 2, 4}},
    {{""}, {"e5m2", "e4m3"}, {4, 8}},
    {{""}, {"e5m2x2", "e4m3x2"}, {2, 4, 8}},
    {{""}, {"e5m2x4", "e4m3x4"}, {1, 2, 4}},
};
template <class Use>
void each(const std::vector<Form>& forms, Use use) {
  for (const Form& form : forms)
    for (const std::string& op : form.ops)
      for (const std::string& type : form.types)
        for (const int count : form.counts) use(op, element(type), count);
}
bool has_negative(const ElementType& type) { return type.number[0] != 'u' && (type.number[0] != 'b' || type.number == "bf16"); }

TEST(Multimem, LoadsReduceTheMemoryOfAllDevices) {
  std::mt19937 random(20260711);
  each(loads, [&](const std::string& op, const ElementType& type, int count) {
    const std::string instruction_type = cat(vec(count), '.', type.name);
    for (const std::string_view order : {"", ".weak", ".relaxed.gpu.global", ".acquire.sys"}) {
      const std::string instruction = cat("multimem.ld_reduce", order, '.', op, instruction_type);
      const auto program = body_program(
          both, cat(begin(type.bits), instruction, ' ', list(count), ", [%rd0];\n", move_own(false, type.bits, count)), newest);
      if (program == nullptr) return;
      for (const std::size_t devices : {1u, 3u}) {
        Devices memory(devices);
        const std::size_t numbers = static_cast<std::size_t>(count * type.numbers);
        std::vector<Numbers> values;
        for (std::size_t d = 0; d < devices; ++d) {
          values.emplace_back(random, threads * numbers, has_negative(type));
          fill(memory.of(d), type, count, [&](std::size_t t, std::size_t i) { return values[d].values[t * numbers + i]; });
        }
        Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads, 0xA5)};
        Bytes expected = own.data;
        fill(expected, type, count, [&](std::size_t t, std::size_t i) {
          int all = values[0].values[t * numbers + i];
          for (std::size_t d = 1; d < devices; ++d) all = reduce(op, all, values[d].values[t * numbers + i]);
          return all;
        });
        testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
                     {memory.region(), own.region()});
        EXPECT_EQ(own.data, expected) << instruction << " of " << devices;
      }
    }
  });
}

TEST(Multimem, StoresReachAllDevices) {
  std::mt19937 random(7);
  each(stores, [&](const std::string&, const ElementType& type, int count) {
    for (const std::string_view order : {"", ".weak.global", ".relaxed.cta", ".release.sys.global"}) {
      const std::string instruction = cat("multimem.st", order, vec(count), '.', type.name);
      const auto program = body_program(
          both, cat(begin(type.bits), move_own(true, type.bits, count), instruction, " [%rd0], ", list(count), ";\n"), newest);
      if (program == nullptr) return;
      Devices memory(3);
      Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads)};
      std::generate(own.data.begin(), own.data.end(), [&] { return static_cast<std::uint8_t>(random()); });
      testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
                   {memory.region(), own.region()});
      const auto used = static_cast<std::size_t>(count * type.bits / 8);
      Bytes expected(own.data.size());
      for (std::size_t t = 0; t < threads; ++t) std::copy_n(&own.data[t * lane_bytes], used, &expected[t * lane_bytes]);
      for (std::size_t d = 0; d < 3; ++d) EXPECT_TRUE(std::ranges::equal(memory.of(d), expected)) << instruction << ' ' << d;
    }
  });
}

TEST(Multimem, ReductionsReachAllDevices) {
  std::mt19937 random(8);
  each(reductions, [&](const std::string& op, const ElementType& type, int count) {
    for (const std::string_view order : {"", ".relaxed.cluster", ".release.gpu.global"}) {
      const std::string instruction = cat("multimem.red", order, '.', op, vec(count), '.', type.name);
      const auto program = body_program(
          both, cat(begin(type.bits), move_own(true, type.bits, count), instruction, " [%rd0], ", list(count), ";\n"), newest);
      if (program == nullptr) return;
      Devices memory(2);
      const auto numbers = static_cast<std::size_t>(count * type.numbers);
      std::vector<Numbers> values(3, Numbers(random, 0, false));
      std::vector<Bytes> expected(2, Bytes(lane_bytes * threads));
      Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads)};
      for (Numbers& n : values) n = Numbers(random, threads * numbers, has_negative(type));
      fill(own.data, type, count, [&](std::size_t t, std::size_t i) { return values[2].values[t * numbers + i]; });
      for (std::size_t d = 0; d < 2; ++d) {
        fill(memory.of(d), type, count, [&](std::size_t t, std::size_t i) { return values[d].values[t * numbers + i]; });
        fill(expected[d], type, count, [&](std::size_t t, std::size_t i) {
          return reduce(op, values[d].values[t * numbers + i], values[2].values[t * numbers + i]);
        });
      }
      testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
                   {memory.region(), own.region()});
      for (std::size_t d = 0; d < 2; ++d) EXPECT_TRUE(std::ranges::equal(memory.of(d), expected[d])) << instruction << ' ' << d;
    }
  });
}

TEST(Multimem, AsynchronousStoresAndReductions) {
  for (const std::string_view type : {"b8", "u16", "s32", "f32", "b64", "f64"}) {
    const int bits = std::stoi(std::string(type.substr(1)));
    const auto program = body_program(
        both, cat(begin(bits), move_own(true, bits, 1), "multimem.st.async.release.gpu.global.", type, " [%rd0], %e0;\n"),
        newest);
    Devices memory(2);
    Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads, 0x3C)};
    testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
                 {memory.region(), own.region()});
    for (std::size_t d = 0; d < 2; ++d)
      for (std::size_t i = 0; i < memory.bytes(); ++i)
        ASSERT_EQ(memory.of(d)[i], i % lane_bytes < static_cast<std::size_t>(bits / 8) ? 0x3C : 0) << type << ' ' << i;
  }
  const auto program =
      body_program(both, cat(begin(32), move_own(true, 32, 1), "multimem.red.async.release.sys.add.u32 [%rd0], %e0;\n"), newest);
  Devices memory(2);
  memory.of(1)[0] = 40;
  Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads, 1)};
  testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
               {memory.region(), own.region()});
  EXPECT_EQ(memory.of(0)[0], 1);
  EXPECT_EQ(memory.of(1)[0], 41);
}

// 512 bytes of `own` go to shared memory, and from there to all devices.
std::string bulk(std::string_view instruction) {
  return cat(".shared .align 16 .b8 tile[512];\n", begin(64),
             "ld.global.v2.b64 {%rd4, %rd5}, [%rd1];\nmov.u64 %rd6, tile;\nadd.u64 %rd6, %rd6, %rd2;\n"
             "st.shared.v2.b64 [%rd6], {%rd4, %rd5};\nfence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p0, %r0, 0;\n"
             "@%p0 bra DONE;\nmov.u64 %rd6, tile;\nmov.b16 %h0, 0x8001;\n",
             instruction, "\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE:\n");
}

TEST(Multimem, BulkCopies) {
  std::mt19937 random(9);
  const auto expect = [&](std::string_view instruction,
                          const std::function<std::uint8_t(std::size_t, std::uint8_t, std::uint8_t)>& byte) {
    const auto program = body_program(both, bulk(instruction), newest);
    Devices memory(2);
    Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads)};
    std::generate(own.data.begin(), own.data.end(), [&] { return static_cast<std::uint8_t>(random()); });
    std::vector<Bytes> expected(2, Bytes(own.data.size()));
    for (std::size_t d = 0; d < 2; ++d)
      for (std::size_t i = 0; i < own.data.size(); ++i) {
        memory.of(d)[i] = static_cast<std::uint8_t>(random());
        expected[d][i] = i < 256 ? byte(i, memory.of(d)[i], own.data[i]) : memory.of(d)[i];
      }
    testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
                 {memory.region(), own.region()});
    for (std::size_t d = 0; d < 2; ++d) EXPECT_TRUE(std::ranges::equal(memory.of(d), expected[d])) << instruction << ' ' << d;
  };
  for (const std::string_view head :
       {"multimem.cp.async.bulk.global.shared::cta.bulk_group", "multimem.cp.async.bulk.weak.global.shared::cta.bulk_group"})
    expect(cat(head, " [%rd0], [%rd6], 256;"), [](std::size_t, std::uint8_t, std::uint8_t from) { return from; });
  expect("multimem.cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [%rd0], [%rd6], 256;",
         [](std::size_t, std::uint8_t, std::uint8_t from) { return from; });
  expect("multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [%rd6], 256, %h0;",
         [](std::size_t i, std::uint8_t was, std::uint8_t from) { return i % 16 == 0 || i % 16 == 15 ? from : was; });
  for (const std::string_view order : {"", ".relaxed.sys"}) {
    const auto head = [&](std::string_view op) {
      return cat("multimem.cp.reduce.async.bulk", order, ".global.shared::cta.bulk_group.", op, " [%rd0], [%rd6], 256;");
    };
    expect(head("xor.b64"),
           [](std::size_t, std::uint8_t was, std::uint8_t from) { return static_cast<std::uint8_t>(was ^ from); });
    expect(head("and.b32"),
           [](std::size_t, std::uint8_t was, std::uint8_t from) { return static_cast<std::uint8_t>(was & from); });
  }
}

// Elements of 32 or 16 bits, each of small numbers.
TEST(Multimem, BulkReductions) {
  struct Case {
    std::string op, type;
    std::function<int(int, int)> result;
  };
  const auto sum = [](int a, int b) { return a + b; };
  const std::vector<Case> cases = {{"add", "u32", sum},
                                   {"add", "s32", sum},
                                   {"add", "u64", sum},
                                   {"add", "f32", sum},
                                   {"add", "f64", sum},
                                   {"add.noftz", "f16", sum},
                                   {"add.noftz", "bf16", sum},
                                   {"min", "s32", [](int a, int b) { return std::min(a, b); }},
                                   {"max", "u64", [](int a, int b) { return std::max(a, b); }},
                                   {"max", "f16", [](int a, int b) { return std::max(a, b); }},
                                   {"min", "bf16", [](int a, int b) { return std::min(a, b); }},
                                   {"inc", "u32", [](int a, int b) { return a >= b ? 0 : a + 1; }},
                                   {"dec", "u32", [](int a, int b) { return a == 0 || a > b ? b : a - 1; }}};
  for (const Case& c : cases)
    for (const std::string_view order : {"", ".relaxed.gpu"}) {
      const ElementType type = element(c.type);
      const int count = 128 / type.bits;
      const auto program = body_program(both,
                                        bulk(cat("multimem.cp.reduce.async.bulk", order, ".global.shared::cta.bulk_group.", c.op,
                                                 '.', c.type, " [%rd0], [%rd6], 512;")),
                                        newest);
      Devices memory(2);
      Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads)};
      Bytes expected(own.data.size());
      const auto at = [&](std::size_t t, std::size_t i, std::size_t of) {
        return static_cast<int>((t * 5 + i * 3 + of * 7) % 9);
      };
      fill(own.data, type, count, [&](std::size_t t, std::size_t i) { return at(t, i, 4); });
      for (std::size_t d = 0; d < 2; ++d)
        fill(memory.of(d), type, count, [&](std::size_t t, std::size_t i) { return at(t, i, d); });
      testing::run(program, testing::block(threads), params({memory.region().address(), own.address()}),
                   {memory.region(), own.region()});
      for (std::size_t d = 0; d < 2; ++d) {
        fill(expected, type, count, [&](std::size_t t, std::size_t i) { return c.result(at(t, i, d), at(t, i, 4)); });
        EXPECT_TRUE(std::ranges::equal(memory.of(d), expected)) << c.op << c.type << ' ' << d;
      }
    }
}

// ---- precision

std::vector<std::uint16_t> sums_of(std::string_view type, std::string_view acc, const std::vector<std::uint16_t>& values) {
  const auto program = body_program(
      both, cat(begin(32), "multimem.ld_reduce.add", acc, '.', type, " %e0, [%rd0];\n", move_own(false, 32, 1)), newest);
  Devices memory(values.size());
  for (std::size_t d = 0; d < values.size(); ++d) std::memcpy(memory.at(d), &values[d], 2);
  Buffer<std::uint16_t> own{"own", std::vector<std::uint16_t>(8)};
  testing::run(program, testing::block(1), params({memory.region().address(), own.address()}), {memory.region(), own.region()});
  return {own.data[0]};
}

TEST(Multimem, IntermediateSumsHaveThePrecisionThatIsSaid) {
  const auto half = [](int value) { return static_cast<std::uint16_t>(testing::pattern_of("f16", value)); };
  const auto small = [](int value) { return static_cast<std::uint16_t>(testing::pattern_of("e4m3", value)); };
  EXPECT_EQ(sums_of("f16x2", "", {half(2048), half(1), half(1)})[0], half(2048));
  EXPECT_EQ(sums_of("f16x2", ".acc::f32", {half(2048), half(1), half(1)})[0], half(2050));
  EXPECT_EQ(sums_of("e4m3x4", "", {small(16), small(1), small(1)})[0], small(16));
  EXPECT_EQ(sums_of("e4m3x4", ".acc::f16", {small(16), small(1), small(1)})[0], small(18));
  EXPECT_EQ(sums_of("e4m3x4", "", {small(448), small(448)})[0], small(448)) << "the largest";
  EXPECT_EQ(sums_of("f16x2", "", {0x7E01})[0], 0x7E01) << "one value is that value, whatever it is";
}

TEST(Multimem, WhatIsNotKnownIsSaid) {
  const auto notes = [](std::string_view instruction) {
    const auto program = body_program(both, cat(begin(32), instruction), {"8.1", "sm_90"});
    return program == nullptr ? std::vector<FidelityNote>() : program->fidelity();
  };
  const auto sums = notes("multimem.ld_reduce.add.f32 %e0, [%rd0];");
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].fidelity, Fidelity::unverified);
  EXPECT_EQ(sums[0].instruction, "multimem.ld_reduce.add.f32");
  EXPECT_TRUE(notes("multimem.ld_reduce.add.u32 %e0, [%rd0];").empty());
  EXPECT_TRUE(notes("multimem.st.b32 [%rd0], %e0;").empty());
}

// ---- who may use which address

// `all` is 512 bytes, `own` as many; the instruction has %rd0 and %rd1 of thread 0.
Diagnostic fault_of(std::string_view instruction, const std::function<void(Region&)>& change = [](Region&) {}) {
  const auto program = body_program(both, cat(begin(32), instruction), newest);
  Devices memory(2);
  Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads)};
  Region all = memory.region();
  change(all);
  return testing::fault(program, testing::block(1), params({all.address(), own.address()}), {all, own.region()});
}
void expect_fault(
    std::string_view instruction, Kind kind, std::string_view words,
    const std::function<void(Region&)>& change = [](Region&) {}) {
  const Diagnostic d = fault_of(instruction, change);
  EXPECT_EQ(d.kind, kind) << instruction;
  EXPECT_NE(d.message.find(words), std::string::npos) << instruction << '\n' << render(d);
}

TEST(Multimem, AddressesAreForMultimemAlone) {
  constexpr std::string_view not_ordinary = "which is a multimem address: multimem.* alone may use it";
  for (const std::string_view instruction : {"ld.global.b32 %e0, [%rd0];", "ld.b32 %e0, [%rd0];", "st.global.b32 [%rd0], %r0;",
                                             "red.global.add.u32 [%rd0], 1;", "atom.add.u32 %e0, [%rd0], 1;"})
    expect_fault(instruction, Kind::out_of_bounds, not_ordinary);
  constexpr std::string_view not_multimem = "which is no multimem address: what multimem.* reaches are multicast regions";
  for (const std::string_view instruction :
       {"multimem.ld_reduce.add.u32 %e0, [%rd1];", "multimem.st.b32 [%rd1], %r0;", "multimem.red.add.u32 [%rd1], %r0;",
        "multimem.st.async.release.gpu.b32 [%rd1], %r0;"})
    expect_fault(instruction, Kind::out_of_bounds, not_multimem);
}

TEST(Multimem, Bounds) {
  expect_fault("multimem.st.b32 [%rd0+512], %r0;", Kind::out_of_bounds, "just past the end of `all` (512 bytes)");
  expect_fault("multimem.ld_reduce.add.v4.f32 {%e0, %e1, %e2, %e3}, [%rd0+4];", Kind::misaligned,
               "which is not a multiple of 16");
  expect_fault("multimem.red.add.u32 [%rd0+2], %r0;", Kind::misaligned, "which is not a multiple of 4");
  expect_fault("multimem.red.add.u32 [%rd0], %r0;", Kind::read_only, "of `all`, which the kernel may only read",
               [](Region& all) { all.writable = false; });
  expect_fault("multimem.red.add.u32 [%rd0], %r0;", Kind::uninitialised, "nothing has written byte 0 of `all`",
               [](Region& all) { all.initialised = false; });
  expect_fault("multimem.ld_reduce.add.u32 %e0, [%rd0];", Kind::uninitialised, "nothing has written byte 0 of `all`",
               [](Region& all) { all.initialised = false; });
}

// An access is aligned in all replicas when it is in the first: they lie alike.
TEST(Multimem, ReplicasLieAlike) {
  const auto program = body_program(both, cat(begin(32), "multimem.red.add.u32 [%rd0], 1;\n"), newest);
  Devices memory(3, lane_bytes);
  Buffer<std::uint8_t> own{"own", Bytes(lane_bytes)};
  const auto message = [&](std::ptrdiff_t all, std::ptrdiff_t last) {
    Region region = memory.region();
    region.data += all;
    for (std::byte*& replica : region.further_replicas) replica += all;
    region.further_replicas[1] += last;
    region.bytes = 4;
    const auto report =
        program->run(testing::block(1), params({region.address(), own.address()}), std::vector{region, own.region()});
    return report ? std::string() : cat(name(report.error().kind), ": ", report.error().message);
  };
  EXPECT_EQ(message(0, 0), "");
  EXPECT_EQ(message(8, 0), "");
  EXPECT_EQ(message(0, 2),
            "launch_config: kernel `k`: replica 1 of multicast region `all` lies 2 bytes behind a multiple of 16, "
            "and its first memory 0; what fits is the same of all");
  EXPECT_EQ(message(4, 4),
            "launch_config: kernel `k`: replica 1 of multicast region `all` lies 8 bytes behind a multiple of 16, "
            "and its first memory 4; what fits is the same of all");
}

// A device's own view of its memory and the multicast view are the same memory.
TEST(Multimem, WhatOneViewStoresTheOtherLoads) {
  const auto program =
      body_program(both,
                   cat(begin(32),
                       "multimem.st.b32 [%rd0], 7;\nld.global.b32 %e0, [%rd1];\nadd.u32 %e0, %e0, 1;\n"
                       "st.global.b32 [%rd1+4], %e0;\nmultimem.ld_reduce.add.u32 %e1, [%rd0+4];\nst.global.b32 [%rd1+8], %e1;\n"),
                   newest);
  Devices memory(2);
  Region own{.data = reinterpret_cast<std::byte*>(memory.at(0)), .bytes = memory.bytes(), .initialised = false, .name = "own"};
  testing::run(program, testing::block(1), params({memory.region().address(), own.address()}), {own, memory.region()});
  EXPECT_EQ(memory.of(0)[8], 8);
  EXPECT_EQ(memory.of(1)[0], 7);
}

TEST(Multimem, WorkersReduceAtOnce) {
  const auto program = body_program(
      both, cat(begin(32), "multimem.red.add.u32 [%rd0], 1;\nmultimem.red.relaxed.gpu.add.f32 [%rd0+4], 0f3F800000;\n"), newest);
  Devices memory(2);
  Buffer<std::uint8_t> own{"own", Bytes(lane_bytes * threads)};
  LaunchConfig config = testing::block(threads);
  config.grid = {200, 1, 1};
  Options options;
  options.workers = 4;
  testing::run(program, config, params({memory.region().address(), own.address()}), {memory.region(), own.region()}, options);
  for (std::size_t d = 0; d < 2; ++d) {
    std::uint32_t count = 0;
    float sum = 0;
    std::memcpy(&count, memory.at(d), 4), std::memcpy(&sum, memory.at(d) + 4, 4);
    EXPECT_EQ(count, 200u);
    EXPECT_EQ(sum, 200.0f);
  }
}

}  // namespace
}  // namespace ptx::vgpu::multimem
