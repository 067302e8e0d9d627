// What the tests of launch and ffi share: a small kernel, and the fake driver under the real one's name.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/launch/launch.hpp"
#include "ptx/text/text.hpp"
#include "ptx/write/builder.hpp"
#include "tests/cuda/fake_libcuda.hpp"

namespace ptx::launch {

inline bool says(const Diagnostic& error, std::string_view text) { return render(error).find(text) != std::string::npos; }

/// out[i] = 2 * in[i] for one block of threads, i the thread's index; with `scaled`, times the scalar parameter `factor` instead;
/// with `described`, it takes the tensors' TMA descriptors too, and leaves them; `by_value`, the descriptors themselves.
inline ir::Module twice_module(bool scaled = false, bool described = false, bool by_value = false) {
  write::Builder builder({.name = "twice"});
  const auto reg = [&](Type type) { return builder.reg(type).value(); };
  const auto emit = [&](std::string_view dots, std::initializer_list<write::Value> operands) {
    const auto ok = builder.emit(dots, std::span(operands.begin(), operands.size()));
    EXPECT_TRUE(ok) << render(ok.error());
  };
  using write::Value;
  EXPECT_TRUE(builder.param({.type = Type::u64}, "X"));
  EXPECT_TRUE(builder.param({.type = Type::u64}, "Y"));
  if (scaled) {
    EXPECT_TRUE(builder.param({.type = Type::f32}, "factor"));
  }
  if (described) {
    ir::Param passed{.type = by_value ? Type::b8 : Type::u64};
    if (by_value) {
      passed.align = 128;
      passed.elements = 128;
    }
    for (const std::string_view tensor : {"Y", "X"}) {
      passed.describes = builder.module().interned(tensor);
      EXPECT_TRUE(builder.param(passed, cat(tensor, ir::descriptor_suffix)));
    }
  }
  const auto x = reg(Type::u64), y = reg(Type::u64), offset = reg(Type::u64), index = reg(Type::u32), value = reg(Type::f32),
             factor = reg(Type::f32);
  const auto load_param = [&](std::string_view dots, write::Reg to, std::string_view name) {
    const Value base = Value::of_symbol(name);
    emit(dots, {Value::of(to), Value::address_of({&base, 1})});
  };
  load_param("ld.param.u64", x, "X");
  load_param("ld.param.u64", y, "Y");
  emit("mov.u32", {Value::of(index), Value::of_special(*isa::special_from_name("%tid.x"))});
  emit("mul.wide.u32", {Value::of(offset), Value::of(index), Value::of_integer(4)});
  emit("add.u64", {Value::of(x), Value::of(x), Value::of(offset)});
  emit("add.u64", {Value::of(y), Value::of(y), Value::of(offset)});
  const Value from = Value::of(x), to = Value::of(y);
  emit("ld.global.f32", {Value::of(value), Value::address_of({&from, 1})});
  if (scaled) {
    load_param("ld.param.f32", factor, "factor");
    emit("mul.f32", {Value::of(value), Value::of(value), Value::of(factor)});
  } else {
    emit("add.f32", {Value::of(value), Value::of(value), Value::of(value)});
  }
  emit("st.global.f32", {Value::address_of({&to, 1}), Value::of(value)});
  emit("ret", {});
  auto module = builder.finish();
  EXPECT_TRUE(module) << render(module.error());
  return std::move(*module);
}

inline std::shared_ptr<const KernelImage> twice_image(std::uint32_t threads = 32) {
  auto accepted = check::accept(twice_module());
  EXPECT_TRUE(accepted) << render(accepted.error());
  const ir::Module& module = accepted->module();
  auto listing = std::make_shared<const ir::Listing>(text::list(module));
  auto spec = LaunchSpec::make(module, module.functions[0], {.block = {threads, 1, 1}}, 1, 1);
  EXPECT_TRUE(spec) << render(spec.error());
  auto image = KernelImage::make(std::move(*accepted), std::move(listing), std::move(*spec));
  EXPECT_TRUE(image) << render(image.error());
  return *image;
}

/// An image of text alone: `name` makes it another kernel.
inline std::shared_ptr<const KernelImage> text_image(const std::string& name = "kernel", const Geometry& geometry = {}) {
  auto image = KernelImage::from_text(cat(".version 8.5\n.target sm_90a\n// ", name, "\n"),
                                      LaunchSpec::make(name, geometry, 1, 1).value().serialise());
  EXPECT_TRUE(image) << render(image.error());
  return *image;
}

/// The process's driver is the fake one; two GPUs.
inline FakeCuda& fake_driver() {
  // Its kernels are no real ones, so ptxas is left out, and with it the cache of whoever runs the tests.
  setenv("PYPTX_JIT", "driver", 1);
  static void* const library = dlopen(PTX_FAKE_LIBCUDA, RTLD_NOW | RTLD_GLOBAL);
  static const auto reset = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda_reset"));
  // The process's driver outlives a test, and with it the tensor maps: what they are has to stay.
  static FakeCuda* last = nullptr;
  decltype(FakeCuda::memory) memory;
  decltype(FakeCuda::tensor_maps) tensor_maps;
  if (last != nullptr) {
    memory = std::move(last->memory);
    tensor_maps = std::move(last->tensor_maps);
  }
  FakeCuda& fake = *reset();
  last = &fake;
  fake.memory = std::move(memory);
  fake.tensor_maps = std::move(tensor_maps);
  fake.devices = {FakeDevice{}, FakeDevice{.name = "Fake H200 again"}};
  fake.kernels = {{"kernel", {}}, {"twice", {}}};
  return fake;
}

}  // namespace ptx::launch
