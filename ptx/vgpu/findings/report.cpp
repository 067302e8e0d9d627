#include "ptx/vgpu/findings/report.hpp"

#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/machine/cluster.hpp"

namespace ptx::vgpu {
namespace {

std::string triple(const std::array<std::uint32_t, 3>& v) { return cat('(', v[0], ", ", v[1], ", ", v[2], ')'); }

// ", completion random, seed 7": what a run has to be told to find the same again.
std::string say_options(const Options& options) {
  std::string said;
  if (options.checks != Checks::cheap) said += cat(", checks ", words_of_checks()[static_cast<std::size_t>(options.checks)]);
  if (options.completion != Completion::eager)
    said += cat(", completion ", words_of_completion()[static_cast<std::size_t>(options.completion)]);
  if (options.numerics != Numerics::exact)
    said += cat(", numerics ", words_of_numerics()[static_cast<std::size_t>(options.numerics)]);
  if (options.threads == Threads::random) said += ", threads random";
  if (options.completion == Completion::random || options.threads == Threads::random ||
      options.approximations == Approximations::perturbed)
    said += cat(", seed ", options.seed);
  return said;
}

std::optional<std::uint32_t> rank_of_block(const Cta& cta) {
  return cta.cluster->blocks.size() > 1 ? std::optional(cta.rank) : std::nullopt;
}

}  // namespace

std::string Code::spell(std::uint32_t item) const {
  if (item >= function->body.size()) return {};
  const ir::Inst& inst = function->body[item];
  return inst.kind == ir::ItemKind::inst ? isa::spell(isa::form(inst.form), inst.choices) : std::string();
}

std::string Code::line(std::uint32_t item) const {
  if (const std::uint32_t number = listed_line(item); number != 0) return cat("line ", number, ": ", listing->line(number));
  if (item >= function->body.size()) return {};
  const ir::Inst& inst = function->body[item];
  if (inst.kind == ir::ItemKind::inst) return ir::spell(*module, *function, inst);
  ir::StringId id;
  id.index = inst.payload;
  return inst.kind == ir::ItemKind::raw ? std::string(module->str(id)) : std::string();
}

SourceLocation Code::where(std::uint32_t item) const {
  return item < function->body.size() ? module->where(function->body[item]) : SourceLocation{};
}

std::string Code::scalar_name(std::uint32_t scalar) const {
  if (scalar == carry_scalar()) return "CC.CF";
  const auto behind = std::upper_bound(first_scalar.begin(), first_scalar.end(), scalar);
  ir::RegId reg;
  reg.index = static_cast<std::uint32_t>(behind - first_scalar.begin() - 1);
  std::string spelled = module->reg_name(*function, reg);
  if (function->reg(reg).vector != 1) spelled += std::string(".") + "xyzw"[scalar - first_scalar[reg.index]];
  return spelled;
}

SourceLocation authors_place(const Code& code, std::uint32_t item) {
  const std::vector<SourceLocation> debug = ir::debug_places(*code.module, *code.function, item);
  return debug.empty() ? code.where(item) : debug.front();
}

void add_debug_places(const Code& code, std::uint32_t item, Diagnostic& to) {
  std::string_view role = "source";
  for (const SourceLocation& place : ir::debug_places(*code.module, *code.function, item)) {
    to.place(std::string(role), place);
    role = "called at";
  }
}

std::string element_of_shared(const Code& code, std::uint64_t offset) {
  const SharedVariable* nearest = nullptr;
  for (const SharedVariable& v : code.shared_variables)
    if (offset >= v.begin && (v.bytes == 0 || offset < v.begin + v.bytes) && (nearest == nullptr || v.begin >= nearest->begin))
      nearest = &v;
  if (nearest == nullptr) return {};
  return offset == nearest->begin ? nearest->name : cat(nearest->name, " + 0x", hex(offset - nearest->begin));
}

std::string name_of_shared(const Code& code, std::uint64_t address) {
  const std::string name = element_of_shared(code, address % cluster_part - shared_base);
  return name.empty() ? cat("0x", hex(address)) : name;
}

std::string element_of(const MemoryRegion& region, std::uint64_t address) {
  if (region.tensor == nullptr || region.tensor->element_bits < 8) return {};
  const std::uint64_t bytes = region.tensor->element_bits / 8;
  std::uint64_t at = (address - region.begin) / bytes;
  std::string indices;
  for (auto size = region.tensor->shape.rbegin(); size != region.tensor->shape.rend(); ++size) {
    if (*size == 0) return {};
    indices = cat(at % *size, indices.empty() ? "" : ", ", indices);
    at /= *size;
  }
  if (at != 0 || indices.empty()) return {};  // not of the tensor, which may be less than the region
  return cat(region.tensor->name, '[', indices, ']');
}

std::uint32_t Code::ptx_line(std::uint32_t item) const { return listing == nullptr ? where(item).line : listed_line(item); }

std::uint32_t Code::listed_line(std::uint32_t item) const {
  if (listing == nullptr || function_index >= listing->line_of.size() || item >= listing->line_of[function_index].size())
    return 0;
  return listing->line_of[function_index][item];
}

Diagnostic report(const Warp& warp) { return report(warp, *warp.fault); }

Diagnostic report(const Warp& warp, const Fault& fault) {
  const Cta& cta = *warp.cta;
  const Launch& launch = *cta.launch;
  const Code& code = launch.code;
  const auto& block = launch.config.block;
  const std::uint32_t thread = warp.index * lane_count + static_cast<std::uint32_t>(fault.lane);
  const std::array<std::uint32_t, 3> id{thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
  Diagnostic d{.kind = fault.kind,
               .severity = Severity::error,
               .message = cat('`', code.spell(fault.item), "` ", fault.message),
               .where = code.where(fault.item),
               .notes = {}};
  d.ptx(code.line(fault.item));
  add_debug_places(code, fault.item, d);
  d.note(cat("thread: ", triple(id), " of ", say_block(cta), " in kernel `", code.name, "` (warp ", warp.index, ", lane ",
             fault.lane, ')'));
  for (const std::string& note : fault.notes) d.note(note);
  const std::optional<Rule> broken = fault.rule ? fault.rule : usual_rule(fault.kind);
  if (broken) d.note(cat("rule: ", vgpu::id(*broken), " (", page(*broken), ')'));
  d.note(cat("replay: kernel `", code.name, "`, grid ", triple(launch.config.grid), ", block ", triple(block), ", ",
             cta.cluster->blocks.size() > 1 ? cat("cluster ", triple(launch.config.cluster), ", ") : std::string(),
             launch.config.dynamic_smem_bytes, " bytes of dynamic shared memory", say_options(launch.options)));
  d.execution = {ExecutionPoint{.rule = broken ? std::string(vgpu::id(*broken)) : std::string(),
                                .kernel = code.name,
                                .instruction = code.spell(fault.item),
                                .ptx_line = code.ptx_line(fault.item),
                                .block = cta.id,
                                .thread = id,
                                .warp = warp.index,
                                .lane = static_cast<std::uint32_t>(fault.lane),
                                .rank = rank_of_block(cta),
                                .where = d.where,
                                .access = fault.access}};
  return d;
}

}  // namespace ptx::vgpu
