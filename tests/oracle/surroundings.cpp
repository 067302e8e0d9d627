#include "tests/oracle/surroundings.hpp"

#include <algorithm>
#include <set>

#include "ptx/base/base.hpp"

namespace ptx::oracle {
namespace {

constexpr const char* variables = R"(.extern .global .b32 extern_word;
.global .align 128 .b8 global_array[1024];
.global .u32 global_word;
.global .f32 global_float[4];
.global .v4 .f32 global_vector;
.shared .align 128 .b8 shared_array[1024];
.shared .u32 shared_word;
.shared .align 8 .b64 shared_barrier;
.extern .shared .align 16 .b8 shared_open[];
.const .align 16 .b8 const_array[256];
.const .u32 const_word = 7;
.global .texref texref_array;
.global .surfref surfref_array;
.func plain() { ret; }
.func (.param .b32 result) with_result(.param .b32 argument) { .reg .b32 %t; ld.param.b32 %t, [argument]; st.param.b32 [result], %t; ret; }
)";
constexpr const char* entry_head = R"(.visible .entry kernel(
.param .align 64 .b8 entry_array[1024], .param .u32 entry_word, .param .u64 .ptr .global .align 8 entry_pointer,
.param .align 64 .b8 entry_map[128], .param .b16 entry_half, .param .texref entry_texref, .param .u64 entry_sampler, .param .surfref entry_surfref)
{
)";
constexpr const char* function_head = R"(.visible .entry kernel() { ret; }
.visible .func (.param .align 16 .b8 result_array[16]) body(
.param .align 64 .b8 entry_array[1024], .param .u32 entry_word, .param .u64 entry_pointer,
.param .align 64 .b8 entry_map[128], .param .b16 entry_half, .param .u64 entry_texref, .param .u64 entry_sampler, .param .u64 entry_surfref)
{
)";
constexpr const char* locals = R"(.local .align 16 .b8 local_array[64];
.param .align 16 .b8 param_array[64];
.param .b32 param_word;
prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
targets_list: .calltargets with_result;
)";

std::string registers() {
  std::string out;
  for (const std::string_view type : register_types)
    out += cat(".reg .", type, " %", type, "_<", type == "b32" || type == "f32" || type == "s32" ? 132 : 24, ">;\n");
  for (const std::string_view vector : vector_types)
    out += cat(".reg .", vector.substr(0, 2), " .", vector.substr(2), " %", vector, "_<2>;\n");
  return out;
}

// A register of the surroundings, and its type.
struct Named {
  std::string name;
  std::string_view type;
  auto operator<=>(const Named&) const = default;
};

std::set<Named> registers_of(std::string_view statement) {
  std::set<Named> found;
  for (std::size_t at = statement.find('%'); at != std::string_view::npos; at = statement.find('%', at + 1))
    for (const std::string_view type : register_types) {
      const std::string_view rest = statement.substr(at + 1);
      if (!rest.starts_with(type) || rest.substr(type.size(), 1) != "_") continue;
      const std::size_t end = std::min(rest.find_first_not_of("0123456789", type.size() + 1), rest.size());
      if (end != type.size() + 1) found.insert({cat('%', rest.substr(0, end)), type});
    }
  return found;
}

}  // namespace

std::string used(std::string_view statement) {
  constexpr std::string_view memory = "[global_array]";
  std::string before, behind;
  for (const auto& [name, type] : registers_of(statement)) {
    // memory has no predicates and no pairs of halves
    const std::string_view stored = type == "pred" || type == "f16x2" ? "b32" : type == "f16" ? "b16" : type;
    if (type == "pred") {
      before += cat("{ .reg .b32 t; ld.volatile.global.b32 t, ", memory, "; setp.ne.s32 ", name, ", t, 0; } ");
      behind += cat(" { .reg .b32 t; selp.b32 t, 1, 0, ", name, "; st.volatile.global.b32 ", memory, ", t; }");
    } else {
      before += cat("ld.volatile.global.", stored, ' ', name, ", ", memory, "; ");
      behind += cat(" st.volatile.global.", stored, ' ', memory, ", ", name, ';');
    }
  }
  return cat(before, statement, behind);
}

Asked surrounded(const Surroundings& where, std::span<const std::string> declarations,
                 std::span<const std::string> instructions) {
  std::string text;
  std::vector<std::uint32_t> lines, ends;
  std::uint32_t line = 1;
  const auto add = [&](std::string_view piece) {
    text += piece;
    for (const char c : piece) line += c == '\n';
  };
  add(cat(".version ", where.version, "\n.target ", where.target, where.independent ? ", texmode_independent" : "",
          "\n.address_size 64\n", variables,
          where.independent ? ".global .samplerref sampler_array;\n" : ".global .u64 sampler_array;\n"));
  for (const std::string& declaration : declarations) {
    lines.push_back(line);
    add(cat(declaration, '\n'));
  }
  add(where.in_function ? function_head : entry_head);
  add(registers());
  add(locals);
  // Every statement can be reached, whatever those before it do.
  add("table: .branchtargets $end");
  for (std::size_t i = 0; i < instructions.size(); ++i) add(cat(", L", i));
  add(";\nbrx.idx %u32_23, table;\n");
  std::vector<std::pair<std::uint32_t, std::size_t>> behind;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    add(cat('L', i, ":\n"));
    lines.push_back(line);
    add(cat(instructions[i], '\n'));
    behind.emplace_back(line, lines.size() - 1);
  }
  add("$end:\nret;\n}\n");
  Asked asked(std::move(text), lines);
  // A syntax error may be seen only at the next label.
  for (const auto& [at, statement] : behind) asked.at_line.try_emplace(at, statement);
  return asked;
}

}  // namespace ptx::oracle
