#include "ptx/ir/ir.hpp"

#include "ptx/isa/isa.hpp"

#include <algorithm>
#include <cstring>

namespace ptx::ir {

std::string_view name(StateSpace space) {
  constexpr std::string_view names[] = {"reg", "global", "shared", "local", "const", "param", "sreg", "tex"};
  return names[static_cast<std::size_t>(space)];
}

std::string_view name(Linkage linkage) {
  constexpr std::string_view names[] = {"", "visible", "extern", "weak", "common"};
  return names[static_cast<std::size_t>(linkage)];
}

std::uint64_t Variable::element_count() const {
  if (!unsized) return elements.value_or(1);
  std::uint64_t count = 0;
  int depth = 0;
  for (const Init& e : initialiser) {
    if (e.kind == InitKind::close) {
      --depth;
      continue;
    }
    if (depth == 1) ++count;
    if (e.kind == InitKind::open) ++depth;
  }
  return count;
}

std::vector<std::uint64_t> param_offsets(std::span<const Param> params) {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(params.size() + 1);
  std::uint64_t end = 0;
  for (const Param& param : params) {
    offsets.push_back(align_size(end, param.alignment()));
    end = add_sizes(offsets.back(), param.bytes());
  }
  offsets.push_back(end);
  return offsets;
}

std::uint32_t Module::hash(std::string_view text) {
  // Eight bytes at a time; the last eight may overlap those before.
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
  const char* p = text.data();
  std::size_t n = text.size();
  std::uint64_t h = n * factor;
  const auto mix = [&h](std::uint64_t word) {
    h = (h ^ word) * factor;
    h ^= h >> 29;
  };
  const auto load = [](const char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    return word;
  };
  if (n >= 8) {
    for (; n > 8; n -= 8, p += 8) mix(load(p, 8));
    mix(load(text.data() + text.size() - 8, 8));
  } else if (n >= 4) {
    mix(load(p, 4) | load(p + n - 4, 4) << 32);
  } else {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i) word = word << 8 | static_cast<unsigned char>(p[i]);
    mix(word);
  }
  return static_cast<std::uint32_t>(h >> 32);
}

// The slot that holds the text, or the free one where it belongs. There is a free one.
std::size_t Module::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id == StringId::absent || (slot.hash == hash && strings_[slot.id] == text)) return i;
  }
}

std::string_view Module::keep(std::string_view text) {
  constexpr std::size_t block = 4096;
  if (text.size() > free_.left) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(std::max(text.size(), block)));
    if (text.size() >= block) {
      std::copy(text.begin(), text.end(), blocks_.back().get());
      return {blocks_.back().get(), text.size()};
    }
    free_.at = blocks_.back().get();
    free_.left = block;
  }
  const char* kept = free_.at;
  free_.at = std::copy(text.begin(), text.end(), free_.at);
  free_.left -= text.size();
  return {kept, text.size()};
}

void Module::grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(64, 2 * old.size()), {});
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == StringId::absent) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].id != StringId::absent) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

StringId Module::intern(std::string_view text) {
  if (2 * strings_.size() >= slots_.size()) grow();
  const std::uint32_t h = hash(text);
  Slot& slot = slots_[slot_of(text, h)];
  if (slot.id == StringId::absent) {
    slot = {h, static_cast<std::uint32_t>(strings_.size())};
    strings_.push_back(keep(text));
  }
  return StringId(slot.id);
}

StringId Module::interned(std::string_view text) const {
  return slots_.empty() ? StringId() : StringId(slots_[slot_of(text, hash(text))].id);
}

WhereId Module::add(SourceLocation where) {
  if (!where.known()) return {};
  // consecutive instructions mostly share a line
  if (wheres_.empty() || wheres_.back().line != where.line || wheres_.back().file != where.file ||
      wheres_.back().from != where.from)
    wheres_.push_back(where);
  return WhereId(wheres_.size() - 1);
}

void Module::reg_name(const Function& function, RegId id, TextBuffer& out) const {
  const Register& reg = function.reg(id);
  const RegDecl& decl = function.reg_decls[reg.decl.index];
  out.add(str(decl.base));
  if (decl.count) out.small(reg.index);
}
std::string Module::reg_name(const Function& function, RegId id) const {
  std::string out;
  TextBuffer buffer(out);
  reg_name(function, id, buffer);
  buffer.flush();
  return out;
}

const Function* Module::find(std::string_view function_name) const {
  const Function* declaration = nullptr;
  for (const Function& f : functions) {
    if (str(f.name) != function_name) continue;
    if (f.has_body) return &f;
    declaration = &f;
  }
  return declaration;
}

SourceLocation Source::where(std::uint32_t offset) const {
  const auto next = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  if (next == line_starts.begin()) return {file, 1, offset + 1};
  return {file, static_cast<std::uint32_t>(next - line_starts.begin()), offset - *(next - 1) + 1};
}

std::string_view Listing::line(std::uint32_t number) const {
  std::size_t begin = 0;
  for (std::uint32_t n = 1; n < number && begin != std::string::npos; ++n) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (number == 0 || begin == std::string::npos || begin >= text.size()) return {};
  std::string_view found = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
  while (!found.empty() && (found.front() == ' ' || found.front() == '\t')) found.remove_prefix(1);
  return found;
}

isa::Arg arg_of(const Module& module, const Function& function, const Operand& operand,
                std::deque<std::vector<isa::Arg>>& scratch) {
  isa::Arg arg;
  arg.negated = operand.negated;
  arg.piped = operand.piped;
  RegId reg;
  StringId string;
  switch (operand.kind) {
    case OperandKind::reg:
      reg.index = operand.payload;
      arg.kind = isa::ArgKind::reg;
      arg.type = function.reg(reg).type;
      if (const std::uint8_t n = function.reg(reg).vector; n != 1) {
        arg.elements = scratch.emplace_back(n, isa::Arg{.kind = isa::ArgKind::reg, .type = arg.type});
        arg.kind = isa::ArgKind::vector;
      }
      break;
    case OperandKind::special:
      arg.kind = isa::ArgKind::special;
      arg.type = isa::specials()[operand.payload].type;
      arg.shown = isa::specials()[operand.payload].name;
      break;
    case OperandKind::integer:
      arg.kind = isa::ArgKind::integer;
      arg.integer = function.integer(operand);
      break;
    case OperandKind::floating:
      arg.kind = isa::ArgKind::floating;
      arg.type = operand.count == 32 ? Type::f32 : Type::f64;
      arg.integer = static_cast<std::int64_t>(function.constants[operand.payload]);
      break;
    case OperandKind::symbol:
      string.index = operand.payload;
      arg.kind = isa::ArgKind::symbol;
      arg.shown = module.str(string);
      break;
    case OperandKind::label:
      arg.kind = isa::ArgKind::symbol;
      arg.shown = module.str(function.labels[operand.payload].name);
      break;
    case OperandKind::sink:
      arg.kind = isa::ArgKind::sink;
      break;
    case OperandKind::text:
      string.index = operand.payload;
      arg.kind = isa::ArgKind::text;
      arg.shown = module.str(string);
      break;
    case OperandKind::expression:
      arg.kind = isa::ArgKind::integer;
      arg.integer = function.integer(operand);
      string.index = function.parts(operand)[1].payload;
      arg.shown = module.str(string);
      break;
    case OperandKind::vector:
    case OperandKind::address:
    case OperandKind::tensor:
    case OperandKind::list:
    case OperandKind::part:
    case OperandKind::element: {
      arg.kind = operand.kind == OperandKind::vector    ? isa::ArgKind::vector
                 : operand.kind == OperandKind::address ? isa::ArgKind::address
                 : operand.kind == OperandKind::tensor  ? isa::ArgKind::tensor
                 : operand.kind == OperandKind::list    ? isa::ArgKind::list
                 : operand.kind == OperandKind::element ? isa::ArgKind::element
                                                        : isa::ArgKind::part;
      if (operand.kind == OperandKind::part) {
        string.index = function.parts(operand)[1].payload;
        arg.shown = module.str(string);
      }
      std::vector<isa::Arg> elements;
      for (const Operand& part : function.parts(operand)) elements.push_back(arg_of(module, function, part, scratch));
      scratch.push_back(std::move(elements));
      arg.elements = scratch.back();
      break;
    }
  }
  return arg;
}

}  // namespace ptx::ir
