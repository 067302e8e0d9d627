#include "ptx/tool/debug_show.hpp"

#include <algorithm>
#include <charconv>
#include <span>

#include "ptx/isa/isa.hpp"
#include "ptx/tool/elements.hpp"

namespace ptx::tool {

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

std::string lanes_of(std::uint32_t lanes) { return lanes == 0 ? std::string("no lanes") : vgpu::say_lanes(lanes); }
std::string triple(const std::array<std::uint32_t, 3>& v) { return cat('(', v[0], ", ", v[1], ", ", v[2], ')'); }

// Of a text that was read, the line as it stands there.
std::string spelled(const std::string& instruction, std::uint32_t line) {
  return instruction.starts_with("line ") || line == 0 ? instruction : cat("line ", line, ": ", instruction);
}

namespace {

Unexpected complaint(std::string message) {
  return Unexpected{Diagnostic{.kind = Kind::argument_kind, .message = std::move(message)}};
}

std::string value_of(const vgpu::RegisterView& reg, std::size_t lane, Type type) {
  if ((reg.undefined >> lane & 1u) != 0) return "?";
  if (reg.bits == 1) return reg.low[lane] != 0 ? "true" : "false";
  if (reg.bits == 128 || isa::bits(type) != static_cast<int>(reg.bits) || !is_number(type) ||
      isa::kind(type) == isa::TypeKind::bits)
    return cat("0x", reg.bits == 128 ? hex(reg.high[lane]) : std::string(), hex(reg.low[lane], reg.bits == 128 ? 16 : 0));
  return show_element(type, std::as_bytes(std::span(&reg.low[lane], 1)).first(reg.bits / 8));
}
// Equal values of neighbouring lanes together: "0-15: 1  16-31: 2".
std::string values_of(const vgpu::RegisterView& reg, std::uint32_t lanes, std::size_t most) {
  std::string out;
  std::size_t shown = 0;
  for (std::size_t lane = 0; lane < 32;) {
    if ((lanes >> lane & 1u) == 0) {
      ++lane;
      continue;
    }
    const std::string value = value_of(reg, lane, reg.type);
    std::size_t end = lane + 1;
    while (end < 32 && (lanes >> end & 1u) != 0 && value_of(reg, end, reg.type) == value) ++end;
    if (lane == 0 && end == 32) return value;
    if (shown++ == most) return out + "  …";
    out += cat(out.empty() ? "" : "  ", lane, end - lane > 1 ? cat('-', end - 1) : std::string(), ": ", value);
    lane = end;
  }
  return out;
}

// "f32[32,32]": type, and sizes.
struct Shape {
  Type type = Type::u32;
  std::vector<std::uint64_t> sizes;
};
std::optional<Shape> shape_of(std::string_view text) {
  const std::size_t bracket = text.find('[');
  Shape shape;
  const auto type = isa::type_from_name(text.substr(0, bracket));
  if (!type || !is_number(*type)) return std::nullopt;
  shape.type = *type;
  if (bracket == std::string_view::npos) return shape;
  if (!text.ends_with(']')) return std::nullopt;
  text = text.substr(bracket + 1, text.size() - bracket - 2);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto size = number_of(text.substr(0, end));
    if (!size || *size == 0 || *size > 1u << 20) return std::nullopt;
    shape.sizes.push_back(*size);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shape.sizes.size() <= 2 ? std::optional(shape) : std::nullopt;
}

std::optional<layout::Swizzle> swizzle_of(std::string_view word) {
  for (const layout::Swizzle swizzle : {layout::Swizzle::none, layout::Swizzle::b32, layout::Swizzle::b64, layout::Swizzle::b128,
                                        layout::Swizzle::b128_atom32, layout::Swizzle::b128_atom64})
    if (layout::tensor_map_swizzle_name(swizzle) == word) return swizzle;
  return std::nullopt;
}

}  // namespace

Expected<std::string> shown_warps(vgpu::Session& session) {
  std::string out;
  const auto views = session.warps();
  if (views.empty()) return complaint("nothing runs");
  for (const vgpu::WarpView& view : views)
    out += cat(view.focused ? "* " : "  ", "block ", triple(view.block), " warp ", view.warp, "  ", view.state, "  ",
               view.state == "ended" ? std::string() : lanes_of(view.lanes),
               view.waits.empty() ? std::string() : cat("  for ", view.waits),
               view.instruction.empty() ? std::string() : cat("  at ", spelled(view.instruction, view.ptx_line)), '\n');
  return out;
}

Expected<std::string> shown_registers(vgpu::Session& session, const Words& words) {
  std::string out;
  const auto all = session.registers();
  if (all.empty()) return complaint("nothing runs");
  std::size_t width = 0;
  std::vector<const vgpu::RegisterView*> chosen;
  for (const vgpu::RegisterView& reg : all) {
    const bool wanted =
        words.size() < 2 ||
        std::any_of(
            words.begin() + 1, words.end(), [&](const std::string& word) { return reg.name == word || reg.name == '%' + word; });
    if (!wanted) continue;
    chosen.push_back(&reg);
    width = std::max(width, reg.name.size());
  }
  if (chosen.empty()) return complaint(cat("the kernel uses no register `", words[1], "`; `registers` lists them"));
  for (const vgpu::RegisterView* reg : chosen)
    out += cat("  ", reg->name, std::string(width - reg->name.size(), ' '), "  ", isa::name(reg->type), "  ",
               values_of(*reg, 0xFFFFFFFFu, words.size() < 2 ? 4 : 32), '\n');
  return out;
}

std::string shown_barriers(vgpu::Session& session) {
  std::string out;
  const auto views = session.mbarriers();
  for (const vgpu::MbarrierView& view : views) {
    std::string waiting;
    for (const std::string& one : view.waiting) waiting += cat(waiting.empty() ? "; waiting: " : ", ", one);
    out += cat("  block ", triple(view.block), "  mbarrier ", view.name, "  phase ", view.phase, "  lacks ", view.pending, " of ",
               view.expected, " arrivals", view.bytes != 0 ? cat(" and ", view.bytes, " bytes") : std::string(), waiting, '\n');
  }
  bool any = !views.empty();
  for (const vgpu::WarpView& view : session.warps())
    if (view.state == "waits") {
      any = true;
      out += cat("  block ", triple(view.block), "  warp ", view.warp, " waits for ", view.waits, '\n');
    }
  if (!any) out += "no mbarriers, and nobody waits for others\n";
  return out;
}

Expected<std::string> shown_shared(vgpu::Session& session, const Words& words) {
  std::string out;
  const auto variables = session.shared_variables();
  if (variables.empty()) return complaint("nothing runs");
  if (words.size() < 2) {
    for (const vgpu::SharedView& v : variables)
      out += cat("  ", v.name.empty() ? std::string("all of it") : v.name, "  address 0x", hex(v.address), "  ", v.bytes,
                 " bytes\n");
    return out;
  }
  const auto plus = words[1].find('+');
  const std::string name = words[1].substr(0, plus);
  const auto offset =
      plus == std::string::npos ? std::optional(std::uint64_t{0}) : number_of(std::string_view(words[1]).substr(plus + 1));
  std::optional<std::uint64_t> begin = number_of(name);
  std::uint64_t room = 0;
  for (const vgpu::SharedView& v : variables)
    if ((begin ? v.name.empty() : v.name == name) && v.bytes != 0) {
      if (!begin) begin = v.address;
      room = v.bytes - std::min(v.bytes, *begin - v.address);
      break;
    }
  if (!begin || !offset)
    return complaint(
        cat("`shared` takes a variable or an address, with `+N` bytes behind it; `", words[1], "` is none of the block's"));
  const auto shape = words.size() > 2 ? shape_of(words[2]) : Shape{.sizes = {std::clamp<std::uint64_t>(room / 4, 1, 16)}};
  const auto swizzle = words.size() > 3 ? swizzle_of(words[3]) : layout::Swizzle::none;
  if (!shape) return complaint(cat("`", words[2], "` is no type and sizes, such as f32[32,32]"));
  if (!swizzle)
    return complaint(cat("`", words[3], "` is no swizzle; what fits is NONE, 32B, 64B, 128B, 128B_ATOM_32B, 128B_ATOM_64B"));
  const std::uint64_t of_row = shape->sizes.empty() ? 1 : shape->sizes.back(),
                      rows = shape->sizes.size() == 2 ? shape->sizes[0] : 1;
  const auto size = static_cast<std::uint64_t>(isa::bits(shape->type)) / 8;
  const auto read = session.shared(*begin + *offset, rows * of_row * size, *swizzle);
  if (!read) return complaint(cat(rows * of_row * size, " bytes from there on lie outside of the block's shared memory"));
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::string line = "  ";
    for (std::uint64_t column = 0; column < of_row; ++column) {
      const auto at = static_cast<std::ptrdiff_t>((row * of_row + column) * size);
      const bool written = std::all_of(read->written.begin() + at, read->written.begin() + at + static_cast<std::ptrdiff_t>(size),
                                       [](bool is) { return is; });
      line += cat(column == 0 ? "" : " ",
                  written ? show_element(shape->type, std::span(read->data).subspan(static_cast<std::size_t>(at), size)) : "?");
    }
    out += line + '\n';
  }
  return out;
}

}  // namespace ptx::tool
