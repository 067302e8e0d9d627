// One call of a kernel, whoever makes it. numpy, CuPy, torch, XLA and C++ say where memory comes from and on which stream to
// launch; outputs, changed inputs, apartness, scalars, TMA descriptors and loading are done here, once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/plan.hpp"
#include "ptx/launch/some.hpp"
#include "ptx/launch/tensor.hpp"

namespace ptx::launch {

/// What a call asks of the library that its tensors are of. A library derives from this and says otherwise what it does
/// otherwise; calls are templates, so that asking costs nothing. What it must say, where it is asked:
///     Expected<void*> allocate(std::size_t output)            the address of new memory for an output
///     Expected<TensorView> given(std::size_t output)          where the caller wants it (Call::gives_outputs)
///     Expected<cuda::api::Stream> stream(int ordinal)         what to launch on, on a GPU
struct CallLibrary {
  struct Nothing {};
  /// An output is that input, which the kernel changes.
  void changes(std::size_t /*output*/, std::size_t /*input*/) {}
  /// How a run on the host goes.
  [[nodiscard]] static Cpu cpu() { return default_cpu(); }
  /// What it gives is held while something takes long: loading, and runs that the call waits for.
  [[nodiscard]] static Nothing step_aside() { return {}; }
  /// An image is about to be loaded on a GPU.
  static void loading() {}
  /// It was loaded, or was not: what the compilers warned of may be told. What it returns is what comes of it.
  Expected<void> loaded(const KernelImage& /*image*/, Expected<void> ready) { return ready; }
};

/// Loads an image on a GPU before its first launch there does. Kinds: those of KernelImage::prepare, and the library's.
template <class Library>
Expected<void> prepare(const KernelImage& image, int ordinal, Library& library) {
  library.loading();
  Expected<void> ready;
  {
    [[maybe_unused]] const auto aside = library.step_aside();
    ready = image.prepare(ordinal);
  }
  return library.loaded(image, std::move(ready));
}

/// Runs an image on tensors by address: inputs, then outputs, with the sizes of all where the call runs on the host.
/// `keeps_outputs`: what they hold may be read. `forms` gives Cpu::forms where a run may have findings. Kinds: those of
/// KernelImage::launch and prepare, and the library's.
template <class Library, class Forms = std::vector<TensorForm> (*)()>
Expected<void> run_image(
    const KernelImage& image, DeviceId device, std::span<void* const> addresses, std::span<const std::size_t> bytes,
    ScalarValues scalars, bool keeps_outputs, Library& library, Forms forms = [] { return std::vector<TensorForm>(); }) {
  if (device.kind == DeviceId::Kind::cpu) {
    Cpu cpu = library.cpu();
    cpu.keeps_outputs = keeps_outputs;
    if (cpu.options.checks == vgpu::Checks::full) cpu.forms = forms();
    [[maybe_unused]] const auto aside = library.step_aside();
    auto report = image.launch(cpu, addresses, bytes, scalars);
    return report ? Expected<void>() : Unexpected{std::move(report).error()};
  }
  const auto stream = library.stream(device.ordinal);
  if (!stream) [[unlikely]]
    return Unexpected{stream.error()};
  if (!image.prepared(device.ordinal)) [[unlikely]] {
    if (auto ready = prepare(image, device.ordinal, library); !ready) return ready;
  }
  if (KernelImage::synchronous()) [[unlikely]] {
    // What the stream waits for may be another thread's to launch.
    [[maybe_unused]] const auto aside = library.step_aside();
    return image.launch(Cuda{device.ordinal, *stream}, addresses, scalars);
  }
  return image.launch(Cuda{device.ordinal, *stream}, addresses, scalars);
}

/// The same for callers who have addresses alone, of whatever: what is written must lie apart. Kind argument_memory.
template <class Library>
Expected<void> run_apart(const KernelImage& image, DeviceId device, std::span<void* const> addresses,
                         std::span<const std::size_t> bytes, ScalarValues scalars, bool keeps_outputs, Library& library) {
  if (device.kind == DeviceId::Kind::cuda) {  // the executor looks by itself
    const LaunchSpec& spec = image.spec();
    if (auto apart = check_apart(spec.entry, spec.inputs, addresses, bytes, spec.inputs_apart); !apart) return apart;
  }
  return run_image(image, device, addresses, bytes, scalars, keeps_outputs, library);
}

/// A call whose inputs are seen, and fit.
struct Call {
  const Plan& plan;
  const Specialisation& specialisation;  ///< of these inputs
  std::span<const TensorView> inputs;
  ScalarValues scalars{};
  bool gives_outputs = false;  ///< the caller says where all outputs go
  /// Where it runs: a call without inputs on the host, unless its outputs are elsewhere.
  DeviceId device = inputs.empty() ? DeviceId{} : inputs[0].device;
};

/// Finds or makes memory for the outputs, and runs. Each output is where the caller wants it, or an input that the kernel
/// changes, or new. Kinds: those of Plan::check_output and Signature::check_apart, argument_memory for an input that is changed
/// and is read-only, and those of run_image.
template <class Library>
Expected<void> run(const Call& call, Library& library) {
  const Signature& signature = call.plan.signature();
  const Specialisation& specialisation = call.specialisation;
  const std::size_t inputs = call.inputs.size(), outputs = specialisation.outputs.size();
  const bool on_cpu = call.device.kind == DeviceId::Kind::cpu;
  Some<void*, 64> address_room(inputs + outputs);  // as many as a call from Python has at most
  Some<std::size_t, 64> byte_room(inputs + outputs);
  const std::span<void*> addresses = address_room.all();
  const std::span<std::size_t> bytes = byte_room.all();
  for (std::size_t i = 0; i < inputs; ++i) {
    addresses[i] = call.inputs[i].data;
    if (on_cpu) bytes[i] = call.inputs[i].bytes();
  }
  bool all_new = true;
  for (std::size_t i = 0; i < outputs; ++i) {
    const Output& output = specialisation.outputs[i];
    const std::optional<std::size_t> input = specialisation.changed_input(i);
    void* address = nullptr;
    if (call.gives_outputs) {
      const auto given = library.given(i);
      if (!given) return Unexpected{given.error()};
      if (auto fits = call.plan.check_output(specialisation, i, *given, call.inputs, call.device); !fits) return fits;
      address = given->data;
    } else if (input) {
      const TensorView& changed = call.inputs[*input];
      if (changed.read_only) return Unexpected{signature.changed_read_only(*input)};
      if (auto fits = signature.check_output(i, output, changed, call.inputs, call.device); !fits) return fits;
      library.changes(i, *input);
      address = changed.data;
    } else {
      const auto made = library.allocate(i);
      if (!made) return Unexpected{made.error()};
      address = *made;
    }
    all_new = all_new && !call.gives_outputs && !input;
    addresses[inputs + i] = address;
    bytes[inputs + i] = output.bytes;
  }
  if (specialisation.image == nullptr) return {};  // no elements, nothing to launch
  if (!all_new && outputs > 1) {
    if (auto apart = signature.check_apart(specialisation.outputs, addresses.subspan(inputs)); !apart) return apart;
  }
  const auto forms = [&] {
    std::vector<TensorForm> all;
    const auto add = [&](std::span<const std::int64_t> shape, const ElementType& type) {
      all.push_back({{shape.begin(), shape.end()}, static_cast<std::uint32_t>(8 * type.bytes())});
    };
    for (const TensorView& input : call.inputs) add({input.shape, static_cast<std::size_t>(input.rank)}, input.dtype);
    for (const Output& output : specialisation.outputs) add(output.shape, output.dtype);
    return all;
  };
  return run_image(*specialisation.image, call.device, addresses, bytes, call.scalars, call.gives_outputs, library, forms);
}

}  // namespace ptx::launch
