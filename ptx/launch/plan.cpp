#include "ptx/launch/plan.hpp"

#include <algorithm>

namespace ptx::launch {

Plan::Plan(Signature signature, Specialise specialise) : signature_(std::move(signature)), specialise_(std::move(specialise)) {}

std::size_t Plan::KeyHash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::int64_t word : key) hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x100000001b3;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

Plan::Key Plan::key_of(std::span<const TensorView> tensors) const {
  Key key;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& tensor = tensors[i];
    key.push_back(Specialisation::pack(tensor));
    key.push_back(tile::element_bytes(signature_.inputs()[i].dtype()) - 1);
    const std::size_t begin = key.size();
    key.resize(begin + 2 * static_cast<std::size_t>(tensor.rank));
    std::int64_t stride = 1;
    for (auto dim = static_cast<std::size_t>(tensor.rank); dim-- > 0;) {
      key[begin + 2 * dim] = tensor.shape[dim];
      key[begin + 2 * dim + 1] = stride;
      stride = multiply_dims(stride, tensor.shape[dim]);
    }
  }
  return key;
}

Expected<const Specialisation*> Plan::find(std::span<const TensorView> tensors, Scope scope) {
  auto bound = signature_.bind(tensors, scope);
  if (!bound) return Unexpected{std::move(bound).error()};
  Key key = key_of(tensors);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = specialisations_.find(key); found != specialisations_.end()) {
      last_.store(found->second.get(), std::memory_order_release);
      return found->second.get();
    }
  }
  auto made = std::make_unique<Specialisation>();
  const auto is_empty = [](const Output& output) { return output.bytes == 0; };
  if (bound->outputs.empty() || !std::all_of(bound->outputs.begin(), bound->outputs.end(), is_empty)) {
    auto image = specialise_(bound->env);
    if (!image) return Unexpected{std::move(image).error()};
    const LaunchSpec& spec = (*image)->spec();
    if (spec.inputs != signature_.inputs().size() || spec.outputs != signature_.outputs().size()) {
      return Unexpected{
          {.kind = Kind::param_layout,
           .message = cat("kernel `", signature_.kernel(), "` has ", signature_.inputs().size(), " inputs and ",
                          signature_.outputs().size(), " outputs; its image takes ", spec.inputs, " and ", spec.outputs)}};
    }
    if (!spec.aliases.empty()) made->changed.resize(spec.outputs);
    for (const Alias& alias : spec.aliases) {
      if (auto same = signature_.check_alias(alias, tensors[alias.input], bound->outputs[alias.output]); !same)
        return Unexpected{std::move(same).error()};
      made->changed[alias.output] = alias.input;
    }
    made->image = std::move(*image);
  }
  made->env = std::move(bound->env);
  made->outputs = std::move(bound->outputs);
  made->key_ = key;

  const std::lock_guard lock(mutex_);
  made->index = specialisations_.size();
  const auto at = specialisations_.try_emplace(std::move(key), std::move(made)).first;
  last_.store(at->second.get(), std::memory_order_release);
  return at->second.get();
}

Expected<void> Plan::check_output(const Specialisation& specialisation, std::size_t index, const TensorView& given,
                                  std::span<const TensorView> inputs, DeviceId device) const {
  if (auto fits = signature_.check_output(index, specialisation.outputs[index], given, inputs, device); !fits) return fits;
  if (specialisation.image != nullptr && specialisation.outputs[index].bytes != 0) {
    for (const std::uint32_t number : specialisation.image->spec().inputs_apart) {
      if (lie_apart(given.data, specialisation.outputs[index].bytes, inputs[number].data, inputs[number].bytes())) continue;
      return Unexpected{Diagnostic{.kind = Kind::argument_memory,
                                   .message = cat(signature_.output(index), " lies where ", signature_.argument(number),
                                                  " does, which the kernel reads again when parts of the output are there")}
                            .hint("what fits is an output with memory of its own")};
    }
  }
  const std::optional<std::size_t> input = specialisation.changed_input(index);
  if (!input || given.data == inputs[*input].data) return {};
  return Unexpected{{.kind = Kind::argument_memory,
                     .message = cat(signature_.output(index), " is written where ", signature_.argument(*input),
                                    " lies; the call gives another tensor for it")}};
}

std::size_t Plan::size() const {
  const std::lock_guard lock(mutex_);
  return specialisations_.size();
}

}  // namespace ptx::launch
