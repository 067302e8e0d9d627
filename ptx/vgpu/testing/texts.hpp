// For tests of instructions that need a newer version or another target than the rest: kernels as PTX text.
#pragma once

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu::testing {

struct TextOptions {
  std::string_view version = "8.7", target = "sm_90a";
};

/// `.visible .entry k(.param .u64 out, …) { body }` with registers of every kind, 16 each: %p %r %rd %h.
inline std::string body_text(std::string_view parameters, std::string_view body, const TextOptions& options = {}) {
  return cat(".version ", options.version, "\n.target ", options.target, "\n.address_size 64\n.visible .entry k(", parameters,
             ")\n{\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<32>;\n", body, "\nret;\n}\n");
}
inline Expected<std::shared_ptr<const Program>> make_body(std::string_view parameters, std::string_view body,
                                                          const TextOptions& options = {}) {
  return make_from_text(body_text(parameters, body, options));
}
inline std::shared_ptr<const Program> body_program(std::string_view parameters, std::string_view body,
                                                   const TextOptions& options = {}) {
  auto made = make_body(parameters, body, options);
  if (!made) {
    ADD_FAILURE() << render(made.error()) << '\n' << body;
    return nullptr;
  }
  return *made;
}

}  // namespace ptx::vgpu::testing
