#include "ptx/author/specialise.hpp"

#include "ptx/launch/launch.hpp"

#include <algorithm>
#include <utility>

namespace ptx {

struct Specialised::State {
  KernelSpec spec;
  SizedBody body;
  std::vector<launch::Scalar> scalars;
  SourceLocation at;
  std::shared_ptr<launch::SizedKernel> kernel;

  std::mutex mutex;  // guards what follows; not held while the body writes
  std::map<Sizes, Compiled> written;

  Expected<Compiled> write(const Sizes& sizes) {
    {
      const std::lock_guard lock(mutex);
      if (const auto known = written.find(sizes); known != written.end()) return known->second;
    }
    auto open = compile(spec, [&](Kernel& k) { body(k, sizes); }, scalars, at);
    if (!open) return open;
    auto made = open->at(sizes);
    if (!made) return made;
    const std::lock_guard lock(mutex);
    return written.try_emplace(sizes, std::move(*made)).first->second;  // of two threads that wrote it, the first
  }
};

Expected<Specialised> specialise(KernelSpec spec, SizedBody body, std::vector<launch::Scalar> scalars, SourceLocation at) {
  Kernel declared(spec, at);
  if (auto module = declared.module(); !module) return Unexpected{std::move(module).error()};
  const Boundary& boundary = declared.boundary();
  auto state = std::make_shared<Specialised::State>();
  std::vector<Tile> tiles = boundary.in_tiles;
  tiles.insert(tiles.end(), boundary.out_tiles.begin(), boundary.out_tiles.end());
  const auto make = [raw = state.get()](const Sizes& sizes) -> Expected<std::shared_ptr<const launch::KernelImage>> {
    auto written = raw->write(sizes);
    if (!written) return Unexpected{std::move(written).error()};
    return written->image().shared_from_this();
  };
  auto kernel = launch::SizedKernel::of_maker(spec.name, boundary.in_tiles.size(), std::move(tiles), boundary.tensor_names, make);
  if (!kernel) return Unexpected{std::move(kernel).error()};
  state->spec = std::move(spec);
  state->body = std::move(body);
  state->scalars = std::move(scalars);
  state->at = at;
  state->kernel = std::move(*kernel);
  return Specialised(std::move(state));
}

Expected<Compiled> Specialised::at(const Sizes& sizes) const {
  for (const auto& [name, size] : sizes) {
    const std::vector<std::string>& dims = state_->kernel->dims();
    if (std::find(dims.begin(), dims.end(), name) == dims.end())
      return Unexpected{
          {.kind = Kind::argument_kind, .message = cat("kernel `", state_->kernel->name(), "` has no dimension `", name, '`')}};
  }
  if (auto image = state_->kernel->image(sizes); !image) return Unexpected{std::move(image).error()};
  return state_->write(sizes);
}

Expected<void> Specialised::run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs, SourceLocation at) const {
  return placed(state_->kernel->run(place, inputs, outputs, {}), at);
}

std::size_t Specialised::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->written.size();
}

}  // namespace ptx
