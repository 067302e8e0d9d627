// Fingerprints: what a thing of the module says, as 30 bits. Equal ones mean that its piece of the source still stands.
#pragma once

#include "ptx/ir/ir.hpp"
#include "ptx/text/text.hpp"

namespace ptx::text {

class Fingerprint {
 public:
  explicit Fingerprint(const ir::Module& module) : module_(module) {}

  /// Each adds a thing: a piece that says several things has one fingerprint.
  Fingerprint& add(const ir::Function& function, const ir::Inst& item);
  Fingerprint& add(const ir::Variable& variable);
  Fingerprint& add(const ir::RegDecl& decl);
  Fingerprint& add(const ir::ModuleItem& item);  ///< of a function: its head
  Fingerprint& add_head(const ir::Function& function);
  Fingerprint& add(Version version);
  Fingerprint& add_target();
  Fingerprint& add_address_size();

  [[nodiscard]] std::uint32_t value() const { return static_cast<std::uint32_t>(hash_ >> 34); }

 private:
  void mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u;
    hash_ ^= hash_ >> 29;
  }
  void mix(std::string_view text);
  void mix(ir::StringId id) { mix(std::uint64_t{id.index} | 1ull << 32); }
  void mix(const ir::Function& function, const ir::Operand& operand);
  void mix(const ir::Function& function, ir::RegId reg);
  void mix(const ir::Param& param);
  void mix(const ir::Directive& directive);

  const ir::Module& module_;
  std::uint64_t hash_ = 0;
};

}  // namespace ptx::text
