// Kernels of whole instructions: forms of the table with random choices and operands that fit, behind a prologue that gives the
// registers numbers, addresses, descriptors, an mbarrier and tensor memory. What the builder's random operands never meet is run
// here: matrix products, tensor copies, mbarriers, clusters, tcgen05.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/layout/tensor_map_bytes.hpp"
#include "ptx/text/text.hpp"
#include "tests/fuzz/bytes.hpp"
#include "tests/fuzz/hostile.hpp"
#include "tests/oracle/cases.hpp"

namespace ptx::fuzz {

class Forms {
 public:
  explicit Forms(Bytes& in) : in_(in) {}

  /// The text of a module with one kernel; nothing where no instruction was taken.
  std::optional<std::string> module() {
    constexpr std::array<Target, 5> targets = {sm_90a, sm_90a, sm_100a, sm_100a, sm_120a};
    const Target target = in_.pick(targets);
    constexpr Version version{9, 0};
    oracle::Kernel kernel(target, version);
    unsigned taken = 0;
    for (int tries = 0; tries < 24 && taken < 6; ++tries) {
      const auto c = some_case(target, version);
      if (!c) continue;
      for (std::size_t times = 1 + (in_.below(8) == 0 ? 1 : 0); times > 0; --times) kernel.add(*c, ++taken);
      if (in_.empty()) break;
    }
    if (taken == 0) return std::nullopt;
    return with_prologue(text::print(std::move(kernel).finish()), target);
  }

 private:
  // One instruction that the target has.
  std::optional<oracle::Case> some_case(Target target, Version version) {
    const auto forms = isa::forms();
    const isa::Form& form = forms[(in_.next() << 8 | in_.next()) % forms.size()];
    if (form.row->exec.empty() || form.opcode == "call" || form.opcode == "brx" || form.opcode == "ret" || form.opcode == "exit")
      return std::nullopt;
    oracle::Case c{.form = form.id, .choices = {}, .optional = in_.next(), .change = {}};
    for (std::size_t i = 0; i < form.slots.size(); ++i) {
      const std::size_t first = form.slots[i].optional ? 0 : 1;
      c.choices[i] = static_cast<std::uint8_t>(first + in_.below(form.slots[i].choices.size() + 1 - first));
    }
    oracle::Kernel alone(target, version);
    if (!alone.add(c, 1) || !check::accept(std::move(alone).finish())) return std::nullopt;
    return c;
  }

  // A tensor map of 4 KiB of global memory, with what else of it is random.
  std::string tensor_map() {
    layout::TensorMap map;
    map.type = static_cast<layout::TensorMapType>(in_.below(13));
    map.rank = static_cast<std::uint8_t>(1 + in_.below(5));
    constexpr std::array<layout::Swizzle, 4> swizzles = {layout::Swizzle::none, layout::Swizzle::b32, layout::Swizzle::b64,
                                                         layout::Swizzle::b128};
    map.swizzle = in_.pick(swizzles);
    map.interleave = in_.below(4) == 0 ? static_cast<layout::Interleave>(in_.below(3)) : layout::Interleave::none;
    for (std::size_t i = 0; i < map.rank; ++i) {
      map.sizes[i] = 1 + in_.below(40);
      map.box[i] = static_cast<std::uint32_t>(i == 0 ? 16 : 1 + in_.below(6));
      map.element_strides[i] = in_.below(4) == 0 ? 1 + static_cast<std::uint32_t>(in_.below(8)) : 1;
      if (i + 1 < map.rank) map.strides[i] = 16 * (1 + in_.below(16));
    }
    if (map.rank >= 3 && in_.below(3) == 0) {
      map.im2col = layout::Im2col{.channels_per_pixel = 16, .pixels_per_column = 1 + static_cast<std::uint32_t>(in_.below(64))};
      for (std::size_t i = 0; i < map.rank - 2u; ++i) {
        map.im2col->lower_corner[i] = static_cast<std::int32_t>(in_.below(5)) - 2;
        map.im2col->upper_corner[i] = static_cast<std::int32_t>(in_.below(5)) - 2;
      }
      map.box = {};
    }
    layout::TensorMapWords words;
    if (map.check()) words = layout::encode(map, 0);
    if (in_.below(6) == 0) words.word[in_.below(32)] ^= 1u << in_.below(32);
    std::string list;
    for (const std::uint32_t word : words.word) list += cat(list.empty() ? "" : ", ", word);
    return list;
  }

  std::string wide_number() {
    switch (in_.below(6)) {
      case 0:  // a descriptor of a matrix in shared memory
        return cat(std::uint64_t{64 + in_.below(64)} | std::uint64_t{in_.below(16)} << 16 | std::uint64_t{in_.below(64)} << 32 |
                   std::uint64_t{in_.below(8)} << 61 | std::uint64_t{in_.below(2)} << 46);
      case 1:
        return std::string(in_.pick(hostile_numbers));
      default:
        return cat(in_.below(256));
    }
  }
  std::string narrow_number() {
    constexpr std::array<std::string_view, 8> numbers = {"0", "1", "-1", "0x4E4E4E4E", "32", "0x08200490", "2147483648", "64"};
    return in_.below(3) == 0 ? std::string(in_.pick(numbers)) : cat(in_.below(256));
  }

  // Values of the registers of one declaration, `.reg .b32 %b32_<160>;`.
  std::string values(std::string_view declaration) {
    const std::size_t dot = declaration.find(" .", 4), percent = declaration.find('%'), open = declaration.find('<');
    if (dot == std::string_view::npos || percent == std::string_view::npos || open == std::string_view::npos) return {};
    const std::string_view type = declaration.substr(dot + 2, declaration.find_first_of(" \t", dot + 2) - dot - 2);
    const std::string_view base = declaration.substr(percent, open - percent);
    std::string out;
    const auto give = [&](int i, std::string_view move, std::string_view value) {
      out += cat("mov.", move, ' ', base, i, ", ", value, ";\n");
    };
    for (int i = 0; i < 160; ++i) {
      if (i >= 48 && i != 100 && type.find("32") == std::string_view::npos) continue;
      if (type == "pred") {
        out += cat("setp.eq.u32 ", base, i, ", ", in_.below(2), ", 1;\n");
      } else if (type == "b64" && i == 100) {
        constexpr std::array<std::string_view, 8> moves = {"global_variable", "global_variable", "generic", "parameter",
                                                           "shared",          "global_variable", "entry",   "number"};
        const std::string_view where = in_.pick(moves);
        if (where == "generic" || where == "shared")
          out += cat(where == "generic" ? "cvta.shared.u64 " : "mov.u64 ", base, i, ", shared_variable;\n");
        else if (where == "parameter")
          out += cat("ld.param.u64 ", base, i, ", [buffer];\n");
        else if (where == "entry")
          out += cat("mov.u64 ", base, i, ", entry_param;\n");
        else if (where == "number")
          give(i, "b64", in_.pick(hostile_numbers));
        else
          give(i, "u64", where);
        if (in_.below(3) == 0) out += cat("add.u64 ", base, i, ", ", base, i, ", ", 4 * in_.below(256), ";\n");
      } else if (type == "b32" && i == 100) {
        give(i, in_.below(4) == 0 ? "b32" : "u32", in_.below(4) == 0 ? cat(in_.below(256)) : "shared_variable");
        if (in_.below(3) == 0) out += cat("add.u32 ", base, i, ", ", base, i, ", ", 8 * in_.below(256), ";\n");
      } else if (type == "f32") {
        give(i, "b32", narrow_number());
      } else if (type == "f64") {
        give(i, "b64", wide_number());
      } else if (type.find("64") != std::string_view::npos) {
        give(i, type, wide_number());
      } else if (type.find("32") != std::string_view::npos) {
        give(i, type, narrow_number());
      } else if (type == "f16x2") {
        give(i, "b32", narrow_number());
      } else if (type.find("16") != std::string_view::npos) {
        give(i, type == "f16" ? "b16" : type, cat(in_.below(256)));
      }
    }
    return out;
  }

  std::string with_prologue(std::string text, Target target) {
    const auto replace = [&](std::string_view from, std::string_view to) {
      if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    };
    replace("shared_variable[256]", "shared_variable[32768]");
    replace(".align 32 .b8 shared_variable", ".align 1024 .b8 shared_variable");
    replace(".align 32 .b8 global_variable[256]", cat(".align 128 .b32 global_variable[2048] = {", tensor_map(), "}"));
    replace("entry_param[256]", "entry_param[256], .param .u64 buffer");
    std::string out;
    bool done = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      out += cat(line, '\n');
      const std::size_t begin = line.find_first_not_of(" \t");
      if (begin != std::string_view::npos && line.substr(begin).starts_with(".reg "))
        declarations_.emplace_back(line.substr(begin));
      const std::string_view next = std::string_view(text).substr(std::min(end + 1, text.size()));
      const std::size_t after = next.find_first_not_of(" \t\n");
      if (!done && !declarations_.empty() && after != std::string_view::npos && next[after] != '.') {
        done = true;
        out += prologue(target);
      }
      at = end + 1;
    }
    return out;
  }

  std::string prologue(Target target) {
    std::string out = "{\n.reg .b64 %fuzz_b64;\n.reg .b32 %fuzz_b32;\n.reg .pred %fuzz_first;\n";
    for (const std::string& declaration : declarations_) out += values(declaration);
    out += "ld.param.u64 %fuzz_b64, [buffer];\n";
    if (in_.below(4) != 0)
      out +=
          "tensormap.replace.tile.global_address.global.b1024.b64 [global_variable], %fuzz_b64;\n"
          "fence.proxy.tensormap::generic.acquire.gpu [global_variable], 128;\n";
    out += "mov.u32 %fuzz_b32, %tid.x;\nsetp.eq.u32 %fuzz_first, %fuzz_b32, 0;\n";
    if (in_.below(4) != 0) out += cat("@%fuzz_first mbarrier.init.shared.b64 [shared_variable], ", 1 + in_.below(3), ";\n");
    if (target == sm_100a && in_.below(4) != 0)
      out +=
          cat("setp.lt.u32 %fuzz_first, %fuzz_b32, 32;\n@%fuzz_first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
              "[shared_variable+1024], ",
              32 << in_.below(5), ";\n");
    return out + "bar.sync 0;\n}\n";
  }

  Bytes& in_;
  std::vector<std::string> declarations_;
};

}  // namespace ptx::fuzz
