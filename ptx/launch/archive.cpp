#include "ptx/launch/archive.hpp"

#include <algorithm>
#include <memory>

#include "ptx/check/check.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/loading.hpp"
#include "ptx/launch/ready.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

constexpr std::string_view saved_magic = "ptxsaved";
constexpr std::uint32_t format = 1;
constexpr std::string_view cubin_prefix = "cubin ", log_prefix = "log ";
constexpr std::uint32_t fixed_dim = 0, named_dim = 1;

void put_string(std::string& out, std::string_view text) {
  cuda::put32(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}
std::string get_string(cuda::ByteReader& in) {
  const std::uint32_t size = in.get32();
  return std::string(in.take(size));
}

// Types and layouts go by name: their numbers are this version's own affair.

void put(std::string& out, const std::vector<tile::Dim>& dims) {
  cuda::put32(out, static_cast<std::uint32_t>(dims.size()));
  for (const tile::Dim& dim : dims) {
    if (const auto* size = std::get_if<std::int64_t>(&dim)) {
      cuda::put32(out, fixed_dim);
      cuda::put64(out, static_cast<std::uint64_t>(*size));
    } else {
      cuda::put32(out, named_dim);
      put_string(out, std::get<std::string>(dim));
    }
  }
}
std::vector<tile::Dim> get_tile_dims(cuda::ByteReader& in) {
  std::vector<tile::Dim> dims;
  const std::uint32_t count = in.get32();
  for (std::uint32_t i = 0; i < count && in.ok; ++i) {
    switch (in.get32()) {
      case fixed_dim:
        dims.emplace_back(static_cast<std::int64_t>(in.get64()));
        break;
      case named_dim:
        dims.emplace_back(get_string(in));
        break;
      default:
        in.ok = false;
    }
  }
  return dims;
}

std::string pack(const std::vector<Tile>& tiles) {
  std::string out;
  cuda::put32(out, static_cast<std::uint32_t>(tiles.size()));
  for (const Tile& tile : tiles) {
    put(out, tile.shape());
    put_string(out, isa::name(tile.dtype()));
    put_string(out, tile::name(tile.layout()));
    cuda::put32(out, tile.tma_box() ? 1 : 0);
    if (tile.tma_box()) put(out, *tile.tma_box());
    cuda::put32(out, static_cast<std::uint32_t>(tile.tma_rank()));
    cuda::put32(out, tile.tma_padding() ? 1 : 0);
  }
  return out;
}
std::optional<std::vector<Tile>> unpack_tiles(std::string_view bytes) {
  cuda::ByteReader in{.bytes = bytes};
  std::vector<Tile> tiles;
  const std::uint32_t count = in.get32();
  for (std::uint32_t i = 0; i < count && in.ok; ++i) {
    auto shape = get_tile_dims(in);
    const auto dtype = isa::type_from_name(get_string(in));
    const auto layout = tile::layout_from_name(get_string(in));
    std::optional<std::vector<tile::Dim>> box;
    if (in.get32() != 0) box = get_tile_dims(in);
    const auto rank = static_cast<int>(in.get32());
    const bool padding = in.get32() != 0;
    if (!in.ok || !dtype || !layout) return std::nullopt;
    auto tile = Tile::make(std::move(shape), *dtype, *layout, std::move(box), rank, padding);
    if (!tile) return std::nullopt;
    tiles.push_back(std::move(*tile));
  }
  if (!in.ok || !in.bytes.empty()) return std::nullopt;
  return tiles;
}

std::string pack(const std::vector<std::string>& names) {
  std::string out;
  cuda::put32(out, static_cast<std::uint32_t>(names.size()));
  for (const std::string& name : names) put_string(out, name);
  return out;
}
std::optional<std::vector<std::string>> unpack_strings(std::string_view bytes) {
  cuda::ByteReader in{.bytes = bytes};
  std::vector<std::string> names;
  const std::uint32_t count = in.get32();
  for (std::uint32_t i = 0; i < count && in.ok; ++i) names.push_back(get_string(in));
  if (!in.ok || !in.bytes.empty()) return std::nullopt;
  return names;
}

std::size_t scalars_of(const LaunchSpec& spec) {
  return static_cast<std::size_t>(
      std::count_if(spec.params.begin(), spec.params.end(), [](const Param& p) { return p.kind == Param::Kind::scalar; }));
}

/// As many as there are, or none.
Expected<void> check_counts(const LaunchSpec& spec, std::size_t tiles, std::size_t scalar_types, Kind kind) {
  const std::size_t tensors = std::size_t{spec.inputs} + spec.outputs;
  const std::size_t scalars = scalars_of(spec);
  if ((tiles == 0 || tiles == tensors) && (scalar_types == 0 || scalar_types == scalars)) return {};
  return Unexpected{{.kind = kind,
                     .message = cat("kernel `", spec.entry, "` has ", tensors, " tensors and ", scalars, " scalars; ", tiles,
                                    " tiles and ", scalar_types, " types of scalars do not fit")}};
}

/// What KernelImage::make asks of an image that was made here, asked of one that was made of text alone; and that a block of the
/// launch has room on the text's own target.
Expected<void> check_launchable(const KernelImage& image) {
  const LaunchSpec& spec = image.spec();
  const auto target = cuda::target_of(image.text());
  if (!target) return Unexpected{target.error()};
  if (const auto known = isa::target_from_name(to_string(*target))) {
    if (const std::uint32_t most = isa::max_shared_bytes(*known); spec.geometry.dynamic_smem_bytes > most) {
      return Unexpected{
          {.kind = Kind::launch_config,
           .message = cat("kernel `", spec.entry, "` needs ", spec.geometry.dynamic_smem_bytes,
                          " bytes of dynamic shared memory; a block on ", to_string(*target), " has at most ", most)}};
    }
  }
  if (image.has_module()) return {};
  text::Parsed parsed = text::parse(image.text(), cat(spec.entry, ".ptx"));
  for (Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return Unexpected{std::move(finding)};
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  auto listing = std::make_shared<ir::Listing>();
  listing->text = image.text();
  auto made = KernelImage::make(std::move(*accepted), std::move(listing), spec);
  if (!made) return Unexpected{std::move(made).error()};
  return {};
}

}  // namespace

Expected<Diagnostics> save(const std::string& path, const KernelImage& image, const SaveOptions& options) {
  const LaunchSpec& spec = image.spec();
  if (auto ok = check_counts(spec, options.tiles.size(), options.scalar_types.size(), Kind::argument_count); !ok)
    return Unexpected{std::move(ok).error()};
  if (auto ok = check_launchable(image); !ok) return Unexpected{std::move(ok).error()};
  std::vector<std::string> type_names;
  for (const Type type : options.scalar_types) type_names.emplace_back(isa::name(type));
  std::vector<cuda::Section> sections{{"launch", image.meta()},
                                      {"ptx", image.text()},
                                      {"names", pack(image.tensor_names())},
                                      {"tiles", pack(options.tiles)},
                                      {"scalars", pack(type_names)}};

  std::vector<std::string> targets = options.targets.value_or(std::vector<std::string>());
  if (!options.targets) {
    auto own = cuda::target_of(image.text());
    if (!own) return Unexpected{std::move(own).error()};
    targets.push_back(to_string(*own));
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());

  Diagnostics warnings;
  const std::vector<cuda::Cubin> ready = image.ready_cubins();
  if (!targets.empty()) {
    auto settings = cuda::CompileSettings::from_environment();
    if (!settings) return Unexpected{std::move(settings).error()};
    settings->jit = cuda::Jit::ptxas;  // what the driver compiles cannot be had
    const CompilerText text = image.compiler_text();
    for (const std::string& target : targets) {
      std::string cubin, log;
      const auto made = std::find_if(ready.begin(), ready.end(), [&](const cuda::Cubin& each) { return each.target == target; });
      if (made != ready.end()) {
        cubin = made->bytes;
        log = made->log;
      } else {
        auto code = compile_for(text, spec.entry, target, *settings);
        if (!code) return Unexpected{std::move(code).error()};
        cubin = std::move(code->cubin);
        log = std::move(code->log);
        for (Diagnostic& warning : code->warnings) warnings.push_back(std::move(warning));
      }
      sections.push_back({cat(cubin_prefix, target), std::move(cubin)});
      sections.push_back({cat(log_prefix, target), std::move(log)});
    }
  }
  if (auto ok = cuda::replace_file(path, cuda::pack_sections(saved_magic, format, sections)); !ok)
    return Unexpected{std::move(ok).error()};
  return warnings;
}

Expected<SavedKernel> read_saved(std::string_view bytes, std::string_view name) {
  auto sections = cuda::unpack_sections(saved_magic, format, bytes, cat("saved kernel `", name, '`'));
  if (!sections) return Unexpected{std::move(sections).error()};
  const auto bad = [&](std::string_view why) {
    return Unexpected{{.kind = Kind::bad_image, .message = cat("saved kernel `", name, "` is damaged: ", why)}};
  };
  const auto find = [&](std::string_view wanted) {
    const auto at =
        std::find_if(sections->begin(), sections->end(), [&](const cuda::Section& each) { return each.name == wanted; });
    return at != sections->end() ? &at->bytes : nullptr;
  };
  const std::string* const meta = find("launch");
  std::string* const text = find("ptx");
  if (meta == nullptr || text == nullptr) return bad(meta == nullptr ? "it has no launch record" : "it has no PTX");

  KernelImage::Ready ready;
  for (const cuda::Section& section : *sections) {
    if (!section.name.starts_with(cubin_prefix)) continue;
    cuda::Cubin cubin{.bytes = section.bytes, .target = section.name.substr(cubin_prefix.size())};
    if (!cuda::parse_target(cubin.target) || !cubin.bytes.starts_with("\x7f"
                                                                      "ELF"))
      return bad(cat("its machine code for `", cubin.target, "` cannot be read"));
    if (const std::string* log = find(cat(log_prefix, cubin.target))) cubin.log = *log;
    ready.cubins.push_back(std::move(cubin));
  }
  if (const std::string* names = find("names")) {
    auto unpacked = unpack_strings(*names);
    if (!unpacked) return bad("its names cannot be read");
    ready.tensor_names = std::move(*unpacked);
  }
  SavedKernel saved;
  if (const std::string* tiles = find("tiles")) {
    auto unpacked = unpack_tiles(*tiles);
    if (!unpacked) return bad("its tiles cannot be read");
    saved.tiles = std::move(*unpacked);
  }
  if (const std::string* scalars = find("scalars")) {
    const auto unpacked = unpack_strings(*scalars);
    if (!unpacked) return bad("its scalars cannot be read");
    for (const std::string& word : *unpacked) {
      const auto type = isa::type_from_name(word);
      if (!type) return bad(cat("a scalar's type is `", word, '`'));
      saved.scalar_types.push_back(*type);
    }
  }
  auto image = KernelImage::from_text(std::move(*text), *meta, std::move(ready));
  if (!image) {
    Diagnostic error = std::move(image).error();
    error.message = cat("saved kernel `", name, "`: ", error.message);
    return Unexpected{std::move(error)};
  }
  saved.image = std::move(*image);
  if (auto ok = check_counts(saved.image->spec(), saved.tiles.size(), saved.scalar_types.size(), Kind::bad_image); !ok)
    return bad(ok.error().message);
  return saved;
}

Expected<SavedKernel> load_saved(const std::string& path) {
  auto bytes = cuda::read_file(path);
  if (!bytes) return Unexpected{std::move(bytes).error()};
  return read_saved(*bytes, path);
}

}  // namespace ptx::launch
