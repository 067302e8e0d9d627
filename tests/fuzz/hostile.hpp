// Kernels that try to reach memory that is not theirs: declarations of every size and alignment, and accesses at, around and far
// beyond the ends of whatever has an address.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "tests/fuzz/bytes.hpp"

namespace ptx::fuzz {

inline constexpr std::string_view hostile_numbers[] = {
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "64",
    "127",
    "128",
    "255",
    "508",
    "512",
    "1024",
    "4095",
    "65535",
    "65536",
    "524288",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "1099511627776",
    "576460752303423496",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551608",
    "-1",
    "-8",
    "-16",
    "-512",
    "-2147483648",
    "-9223372036854775808",
};
inline constexpr std::string_view hostile_sizes[] = {
    "65536",
    "524288",
    "2147483648",
    "4294967296",
    "1099511627776",
    "576460752303423496",
    "9223372036854775808",
    "18446744073709551615",
};
inline constexpr std::string_view small_sizes[] = {"1", "2", "3", "4", "7", "8", "16", "31", "33", "64", "100", "128", "4096"};

/// The text of a module with a kernel or two.
class Hostile {
 public:
  explicit Hostile(Bytes& in) : in_(in) {}

  std::string module() {
    out_ = cat(".version 8.7\n.target ", in_.pick(std::array<std::string_view, 4>{"sm_90a", "sm_80", "sm_75", "sm_100a"}),
               "\n.address_size 64\n");
    if (in_.below(3) == 0) {
      out_ += ".extern .shared .align 16 .b8 dynamic[];\n";
      names_.push_back({"dynamic", ".shared"});
    }
    if (in_.below(6) == 0) {
      out_ += ".extern .shared .align 128 .b32 dynamic_too[];\n";
      names_.push_back({"dynamic_too", ".shared"});
    }
    for (std::size_t n = in_.below(3); n > 0; --n)
      declare(in_.pick(std::array<std::string_view, 3>{".global", ".const", ".shared"}));
    const std::size_t of_module = names_.size();
    for (std::size_t n = 1 + in_.below(2); n > 0; --n) {
      kernel(n);
      names_.resize(of_module);
    }
    return out_;
  }

 private:
  struct Name {
    std::string name;
    std::string_view space;
  };

  void declare(std::string_view space) {
    constexpr std::array<std::string_view, 8> aligns = {
        "", "", "", ".align 1 ", ".align 2 ", ".align 16 ", ".align 128 ", ".align 4096 "};
    const std::string_view align = in_.pick(aligns);
    const std::string_view type =
        in_.pick(std::array<std::string_view, 7>{".b8", ".u16", ".b32", ".u64", ".f32", ".v4 .b32", ".v2 .b64"});
    names_.push_back({cat('v', names_.size()), space});
    out_ += cat(space, ' ', align, type, ' ', names_.back().name);
    const std::size_t dimensions = in_.below(3);
    for (std::size_t i = 0; i < dimensions; ++i)
      out_ += cat('[', in_.below(24) == 0 ? in_.pick(hostile_sizes) : in_.pick(small_sizes), ']');
    if (space != ".shared" && space != ".local" && in_.below(3) == 0 && dimensions == 1 && type.size() <= 4)
      out_ += type == ".f32" ? " = {1.5}" : " = {1}";
    out_ += ";\n";
  }

  void kernel(std::size_t number) {
    out_ += cat(".visible .entry k", number, "(.param .u64 X, .param .u64 Y)\n{\n");
    out_ += ".reg .pred %p<4>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n.reg .f64 %fd<8>;\n";
    for (std::size_t n = in_.below(3); n > 0; --n)
      declare(in_.pick(std::array<std::string_view, 4>{".local", ".shared", ".global", ".local"}));
    out_ += "ld.param.u64 %rd0, [X];\nld.param.u64 %rd1, [Y];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %laneid;\n";
    out_ +=
        "mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd3, %rd0, %rd2;\nmov.u64 %rd4, 0;\nmov.u64 %rd5, 0;\nmov.u64 %rd6, 0;\nmov.u64 "
        "%rd7, 0;\n";
    for (int i = 2; i < 8; ++i) out_ += cat("mov.u32 %r", i, ", ", i, ";\n");
    for (int i = 0; i < 8; ++i) out_ += cat("mov.f32 %f", i, ", 0f3F800000;\nmov.f64 %fd", i, ", 1.0;\nmov.u16 %rs", i, ", 5;\n");
    out_ += "setp.lt.u32 %p0, %r0, 7;\nsetp.eq.u32 %p1, %r1, 3;\nsetp.ne.u32 %p2, %r1, 3;\nsetp.ge.u32 %p3, %r0, 32;\n";
    int labels = 0;
    for (int count = 0; count < 60 && !in_.empty(); ++count) {
      if (in_.below(12) == 0) {
        out_ += cat("{\n");
        const std::size_t before = names_.size();
        declare(in_.pick(std::array<std::string_view, 2>{".local", ".shared"}));
        statement();
        out_ += "}\n";
        names_.resize(before);
      } else if (in_.below(12) == 0) {
        out_ += cat("@%p", in_.below(4), " bra L", number, '_', labels, ";\n");
        statement();
        out_ += cat('L', number, '_', labels++, ":\n");
      } else {
        statement();
      }
    }
    out_ += "ret;\n}\n";
  }

  std::string wide() { return cat("%rd", in_.below(8)); }
  std::string narrow() { return cat("%r", in_.below(8)); }
  std::string_view number() { return in_.pick(hostile_numbers); }
  // A variable in a space, in any that has generic addresses, or in any for ""; nothing when there is none.
  static constexpr std::string_view generic = "generic";
  std::string name(std::string_view space) {
    if (names_.empty()) return {};
    const std::size_t first = in_.below(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (const Name& n = names_[(first + i) % names_.size()];
          space.empty() || n.space == space || (space == generic && n.space != ".const"))
        return n.name;
    return {};
  }
  std::string address(std::string_view space) {
    const std::size_t kind = in_.below(4);
    const bool in_window = space == ".shared" || space == ".local" || space == ".const" || space == ".param";
    std::string base = kind == 0                ? (space == ".param" ? "X" : name(space.empty() ? generic : space))
                       : kind == 1 && in_window ? narrow()
                                                : wide();
    if (base.empty()) base = wide();
    if (in_.below(2) == 0) base += cat('+', number());
    return cat('[', base, ']');
  }

  void statement() {
    if (in_.below(6) == 0) out_ += cat(in_.below(2) == 0 ? "@%p" : "@!%p", in_.below(4), ' ');
    struct Access {
      std::string_view words, value;
    };
    constexpr Access accesses[] = {
        {".u8", "%r2"},
        {".s8", "%r3"},
        {".u16", "%rs1"},
        {".b32", "%r4"},
        {".s32", "%r5"},
        {".b64", "%rd5"},
        {".u64", "%rd6"},
        {".f32", "%f1"},
        {".f64", "%fd1"},
        {".v2.b32", "{%r2, %r3}"},
        {".v4.b32", "{%r2, %r3, %r4, %r5}"},
        {".v2.b64", "{%rd5, %rd6}"},
        {".v4.f32", "{%f1, %f2, %f3, %f4}"},
        {".v2.u8", "{%rs1, %rs2}"},
        {".v4.u8", "{%rs1, %rs2, %rs3, %rs4}"},
        {".v2.f64", "{%fd1, %fd2}"},
    };
    const Access a = in_.pick(accesses);
    switch (in_.below(16)) {
      case 0:
      case 1:
      case 2: {
        const std::string_view space =
            in_.pick(std::array<std::string_view, 7>{"", ".global", ".shared", ".local", ".global", ".const", ".param"});
        const bool strong = (space.empty() || space == ".global" || space == ".shared") && in_.below(4) == 0;
        out_ += cat("ld", strong ? ".volatile" : "", space, a.words, ' ', a.value, ", ", address(space), ";\n");
        break;
      }
      case 3:
      case 4:
      case 5:
      case 6: {
        const std::string_view space = in_.pick(std::array<std::string_view, 5>{"", ".global", ".shared", ".local", ".global"});
        const bool strong = space != ".local" && in_.below(4) == 0;
        out_ += cat("st", strong ? ".volatile" : "", space, a.words, ' ', address(space), ", ", a.value, ";\n");
        break;
      }
      case 7:
        if (const std::string named = in_.below(6) == 0 ? "X" : name(""); !named.empty())
          out_ += cat("mov.u64 ", wide(), ", ", named, ";\n");
        else
          out_ += cat("mov.u64 ", wide(), ", X;\n");
        break;
      case 8:
        out_ += cat("mov.u64 ", wide(), ", ", number(), ";\n");
        break;
      case 9:
        out_ += cat("add.s64 ", wide(), ", ", wide(), ", ", number(), ";\n");
        break;
      case 10:
        out_ += cat("cvta", in_.below(2) == 0 ? ".to" : "",
                    in_.pick(std::array<std::string_view, 4>{".global", ".shared", ".local", ".const"}), ".u64 ", wide(), ", ",
                    wide(), ";\n");
        break;
      case 11:
        out_ += cat(
            in_.pick(std::array<std::string_view, 6>{"add.s64 ", "sub.s64 ", "mul.lo.s64 ", "and.b64 ", "or.b64 ", "xor.b64 "}),
            wide(), ", ", wide(), ", ", wide(), ";\n");
        break;
      case 12:
        out_ += in_.below(2) == 0 ? cat("cvt.u32.u64 ", narrow(), ", ", wide(), ";\n")
                                  : cat("cvt.u64.u32 ", wide(), ", ", narrow(), ";\n");
        break;
      case 13:
        out_ += cat("shl.b64 ", wide(), ", ", wide(), ", ", in_.below(70), ";\n");
        break;
      case 14:
        out_ += in_.pick(std::array<std::string_view, 5>{"bar.sync 0;\n", "bar.warp.sync -1;\n", "membar.gl;\n",
                                                         "shfl.sync.idx.b32 %r6, %r1, %r5, 31, -1;\n",
                                                         "vote.sync.ballot.b32 %r7, %p1, -1;\n"});
        break;
      default: {
        const std::string_view space = in_.pick(std::array<std::string_view, 3>{".shared", ".local", ".global"});
        const std::string named = name(space);
        out_ += cat("cvta", space, ".u64 ", wide(), ", ", named.empty() ? wide() : named, ";\n");
        break;
      }
    }
  }

  Bytes& in_;
  std::string out_;
  std::vector<Name> names_;  // that are declared here
};

}  // namespace ptx::fuzz
