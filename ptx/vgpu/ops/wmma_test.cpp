// wmma: loads, a product and a store, against the product of the matrices in memory: which lane has what cancels out.
#include "ptx/vgpu/testing/fragments.hpp"
#include "ptx/vgpu/testing/numbers.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::pattern_of;
using testing::range_of;
using testing::width_of;

struct Case {
  std::string shape, a, b, c, d;  // types
  int a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
  std::string rounding = {}, operation = {}, target = "sm_90a";
  bool sub_byte = false;  // a by rows and b by columns alone
};

std::string list(const char* name, int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i) out += cat(i == 0 ? "" : ", ", '%', name, i);
  return out + "}";
}

void expect_wmma(const Case& c, bool a_rows, bool b_rows, bool c_rows, bool given, bool clamp, std::mt19937_64& random) {
  const testing::Shape s = testing::shape_of(c.shape);
  const bool wide = c.d == "f64";
  struct Stored {
    std::string type;
    int rows, columns;
    bool by_rows;
    int stride;
    std::vector<int> values;
    Buffer<std::uint8_t> memory;
  };
  const auto make = [&](const char* name, const std::string& type, int rows, int columns, bool by_rows) {
    Stored m{type, rows, columns, by_rows, (by_rows ? columns : rows) + (given ? 128 / width_of(type) : 0), {}, {name, {}}};
    const auto [least, most] = range_of(type == "s32" || type == "f32" ? "f16" : type);
    for (int i = 0; i < rows * columns; ++i)
      m.values.push_back(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
    const int bits = width_of(type), lines = by_rows ? rows : columns;
    m.memory.data.assign(static_cast<std::size_t>(lines * m.stride * bits / 8 + 64), 0);
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        const std::uint64_t pattern = pattern_of(type, m.values[static_cast<std::size_t>(row * columns + column)]);
        const int bit = (by_rows ? row * m.stride + column : column * m.stride + row) * bits;
        for (int b = 0; b < bits; ++b)
          m.memory.data[static_cast<std::size_t>((bit + b) / 8)] |=
              static_cast<std::uint8_t>((pattern >> b & 1) << (bit + b) % 8);
      }
    return m;
  };
  Stored a = make("a", c.a, s.m, s.k, a_rows), b = make("b", c.b, s.k, s.n, b_rows), acc = make("c", c.c, s.m, s.n, c_rows),
         out = make("d", c.d, s.m, s.n, c_rows);
  const std::string before(out.memory.data.begin(), out.memory.data.end());
  const auto layout = [](bool by_rows) { return by_rows ? "row" : "col"; };
  const auto stride = [&](const Stored& m) { return given ? cat(", ", m.stride) : std::string(); };
  const std::string types = c.a == "f16" ? cat(c.d, '.', c.c) : cat(c.d, '.', c.a, '.', c.b, '.', c.c);
  const std::string reg = wide ? "b64" : "b32";
  const std::string product = c.operation.empty()
                                  ? cat("wmma.mma.sync.aligned.", layout(a_rows), '.', layout(b_rows), '.', c.shape, c.rounding,
                                        '.', types, clamp ? ".satfinite" : "")
                                  : cat("wmma.mma.", c.operation, ".popc.sync.aligned.row.col.", c.shape, '.', types);
  const std::string body =
      cat(".reg .b64 %x<4>; .reg .", reg, " %a<8>; .reg .", reg, " %b<8>; .reg .", reg, " %c<8>; .reg .", reg,
          " %d<8>;\nld.param.u64 %x0, [a]; ld.param.u64 %x1, [b]; ld.param.u64 %x2, [c]; ld.param.u64 %x3, [d];\n",
          "wmma.load.a.sync.aligned.", layout(a_rows), '.', c.shape, ".global.", c.a, ' ', list("a", c.a_registers), ", [%x0]",
          stride(a), ";\n", "wmma.load.b.sync.aligned.", layout(b_rows), '.', c.shape, ".global.", c.b, ' ',
          list("b", c.b_registers), ", [%x1]", stride(b), ";\n", "wmma.load.c.sync.aligned.", layout(c_rows), '.', c.shape,
          ".global.", c.c, ' ', list("c", c.c_registers), ", [%x2]", stride(acc), ";\n", product, ' ', list("d", c.d_registers),
          ", ", list("a", c.a_registers), ", ", list("b", c.b_registers), ", ", list("c", c.c_registers), ";\n",
          "wmma.store.d.sync.aligned.", layout(c_rows), '.', c.shape, ".global.", c.d, " [%x3], ", list("d", c.d_registers),
          stride(out), ";\n");
  auto made = testing::make_from_text(cat(".version 8.7\n.target ", c.target,
                                          "\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
                                          ".param .u64 c, .param .u64 d)\n{\n",
                                          body, "ret;\n}\n"));
  ASSERT_TRUE(made) << product << '\n' << render(made.error());
  // rows of 32 bytes: where the buffers begin may matter
  testing::run(*made, testing::block(32),
               testing::params({a.memory.address(), b.memory.address(), acc.memory.address(), out.memory.address()}),
               {a.memory.region(), b.memory.region(), acc.memory.region(), out.memory.region()});
  const int bits = width_of(c.d);
  for (int row = 0; row < s.m; ++row)
    for (int column = 0; column < s.n; ++column) {
      int sum = acc.values[static_cast<std::size_t>(row * s.n + column)];
      for (int k = 0; k < s.k; ++k) {
        const int x = a.values[static_cast<std::size_t>(row * s.k + k)], y = b.values[static_cast<std::size_t>(k * s.n + column)];
        sum += c.operation == "xor" ? x ^ y : x * y;
      }
      std::uint64_t got = 0;
      const std::size_t at =
          static_cast<std::size_t>((c_rows ? row * out.stride + column : column * out.stride + row) * bits / 8);
      std::memcpy(&got, &out.memory.data[at], static_cast<std::size_t>(bits / 8));
      ASSERT_EQ(got, pattern_of(c.d, sum)) << product << " row " << row << " column " << column;
    }
  // nothing else is written
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += out.memory.data[i] != static_cast<std::uint8_t>(before[i]);
  EXPECT_LE(changed, static_cast<std::size_t>(s.m * s.n * bits / 8));
}

TEST(Wmma, MultipliesMatricesInMemory) {
  std::mt19937_64 random(21);
  std::vector<Case> all;
  for (const char* shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
    for (const char* d : {"f16", "f32"})
      for (const char* c : {"f16", "f32"})
        for (const char* target : {"sm_70", "sm_90a"})
          all.push_back({shape, "f16", "f16", c, d, 8, 8, c[1] == '1' ? 4 : 8, d[1] == '1' ? 4 : 8, {}, {}, target});
    const int m = testing::shape_of(shape).m, n = testing::shape_of(shape).n;
    for (const char* type : {"s8", "u8"}) all.push_back({shape, type, type, "s32", "s32", m / 8, n / 8, 8, 8});
    all.push_back({shape, "bf16", "bf16", "f32", "f32", m / 4, n / 4, 8, 8, {}, {}, "sm_80"});
  }
  all.push_back({"m16n16k8", "tf32", "tf32", "f32", "f32", 4, 4, 8, 8});
  for (const char* rounding : {"", ".rn", ".rz"}) all.push_back({"m8n8k4", "f64", "f64", "f64", "f64", 1, 1, 2, 2, rounding});
  for (const char* type : {"s4", "u4"}) all.push_back({"m8n8k32", type, type, "s32", "s32", 1, 1, 2, 2, {}, {}, "sm_80", true});
  for (const char* operation : {"xor", "and"})
    all.push_back({"m8n8k128", "b1", "b1", "s32", "s32", 1, 1, 2, 2, {}, operation, "sm_80", true});
  for (const Case& c : all)
    for (int layouts = 0; layouts < 8; ++layouts) {
      if (c.sub_byte && (layouts & 3) != 0) continue;
      for (const bool given : {false, true})
        expect_wmma(c, (layouts & 1) == 0, (layouts & 2) != 0, (layouts & 4) == 0, given,
                    given && c.d == "s32" && c.operation.empty(), random);
    }
}

// Four products at a time, which mma adds eight at once: small ones before a large one are not cut off one by one.
TEST(Wmma, AddsFourProductsOfTf32AtOnce) {
  Buffer<float> a{"a", std::vector<float>(16 * 8)}, b{"b", std::vector<float>(8 * 16)}, d{"d", std::vector<float>(16 * 16)};
  const float row[] = {0.875f, 0.875f, 0.875f, 0.375f, 0x1p23f};
  std::copy(std::begin(row), std::end(row), a.data.begin());
  std::fill(b.data.begin(), b.data.end(), 1.0f);
  const auto program = testing::text_program(
      ".param .u64 a, .param .u64 b, .param .u64 d",
      ".reg .b64 %x<3>; .reg .b32 %a<4>; .reg .b32 %b<4>; .reg .f32 %d<8>;\n"
      "ld.param.u64 %x0, [a]; ld.param.u64 %x1, [b]; ld.param.u64 %x2, [d];\n"
      "wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%a0,%a1,%a2,%a3}, [%x0];\n"
      "wmma.load.b.sync.aligned.col.m16n16k8.global.tf32 {%b0,%b1,%b2,%b3}, [%x1];\n"
      "wmma.load.c.sync.aligned.row.m16n16k8.global.f32 {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}, [%x2];\n"
      "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}, {%a0,%a1,%a2,%a3}, "
      "{%b0,%b1,%b2,%b3}, {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7};\n"
      "wmma.store.d.sync.aligned.row.m16n16k8.global.f32 [%x2], {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7};\nret;");
  testing::run(program, testing::block(32), testing::params({a.address(), b.address(), d.address()}),
               {a.region(), b.region(), d.region()});
  EXPECT_EQ(d.data[0], 8388611.0f) << "8388610 where all eight are aligned at once";
}

TEST(Wmma, SaysWhatIsWrongWithAnAddress) {
  const auto fault = [](std::string_view line, std::uint64_t offset) {
    auto made = testing::make_from_text(testing::text_kernel(
        ".param .u64 in", cat(".reg .b64 %x<2>; .reg .b32 %a<9>;\nld.param.u64 %x0, [in];\n", line, "\nret;")));
    if (!made) return made.error();
    Buffer<std::uint64_t> in{"in", std::vector<std::uint64_t>(64)};
    return testing::fault(*made, testing::block(32), testing::params({in.address() + offset}), {in.region()});
  };
  const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%x0]";
  EXPECT_EQ(fault(load + ";", 8).kind, Kind::misaligned);
  EXPECT_EQ(fault(load + ", 20;", 0).kind, Kind::misaligned);
  EXPECT_EQ(fault(load + ", 24;", 0).kind, Kind::out_of_bounds);
  // a warp's lanes name one matrix
  const auto message = [&](std::string_view before, std::string_view stride) {
    return fault(cat(before, load, stride), 0).message;
  };
  EXPECT_NE(message("mov.u32 %a8, %laneid; shr.u32 %a8, %a8, 4; mad.lo.u32 %a8, %a8, 8, 16;\n", ", %a8;")
                .find("is given a stride of 24 here and of 16 in another lane of its warp"),
            std::string::npos);
  EXPECT_NE(message("mov.u32 %a8, %laneid; mad.wide.u32 %x0, %a8, 16, %x0;\n", ";").find("is given a matrix at 0x"),
            std::string::npos);
}

}  // namespace
}  // namespace ptx::vgpu
