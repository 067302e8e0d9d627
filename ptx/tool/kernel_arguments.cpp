#include "ptx/tool/kernel_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "ptx/tool/files.hpp"

namespace ptx::tool {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "f32[4096]=random" in parts.
struct BufferWords {
  Type type = Type::none;
  std::string_view count, content;
  bool has_content = false;
};
std::optional<BufferWords> as_buffer(std::string_view word) {
  const std::size_t open = word.find('['), close = word.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const std::string_view behind = word.substr(close + 1);
  if (!behind.empty() && behind.front() != '=') return std::nullopt;
  const auto type = isa::type_from_name(word.substr(0, open));
  if (!type || !is_number(*type)) return std::nullopt;
  return BufferWords{.type = *type,
                     .count = word.substr(open + 1, close - open - 1),
                     .content = behind.empty() ? behind : behind.substr(1),
                     .has_content = !behind.empty()};
}

// Why a word that is written like a buffer is none: its type.
std::optional<Diagnostic> wrong_element_type(std::string_view word) {
  const std::size_t open = word.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  return Diagnostic{
      .kind = Kind::argument_kind,
      .message = cat("`", word.substr(0, open), "` is no type of a buffer's elements; what fits is f16, bf16, f32, f64, or ",
                     "b, u or s with 8, 16, 32 or 64 bits, as in `u8[64]`")};
}
// The name in "name:word", where no parameter has it: no word has a colon so early.
std::optional<std::string_view> unknown_name(std::string_view word) {
  const std::size_t at = word.find_first_of(":[@=");
  if (at == std::string_view::npos || at == 0 || word[at] != ':') return std::nullopt;
  return word.substr(0, at);
}

Expected<Array> from_file(const BufferWords& words) {
  const std::string path(words.content.substr(1));
  auto file = read_bytes(path);
  if (!file) return Unexpected{std::move(file).error()};
  std::string_view elements = *file;
  if (path.ends_with(".npy")) {
    auto inside = from_npy(*file, words.type);
    if (!inside) return refuse(Kind::file_error, cat("cannot use `", path, "`: ", inside.error().message));
    elements = *inside;
  }
  const std::size_t size = static_cast<std::size_t>(isa::bits(words.type)) / 8;
  const std::uint64_t count = words.count.empty() ? elements.size() / size : whole_number(words.count).value_or(0);
  if (multiply_sizes(count, size) != elements.size())
    return refuse(Kind::file_error, cat("`", path, "` holds ", elements.size(), " bytes of elements; ", count, " of type ",
                                        isa::name(words.type), " take ", multiply_sizes(count, size)));
  auto array = Array::make(words.type, count);
  if (array && count != 0) std::memcpy(array->bytes().data(), elements.data(), elements.size());
  return array;
}

Expected<void> fill(Array& array, std::string_view content) {
  const std::size_t count = array.count();
  if (content == "iota") {
    for (std::size_t i = 0; i < count; ++i) count_element(array.type(), i, array.element(i));
    return {};
  }
  if (content == "random" || content.starts_with("random:")) {
    std::uint64_t state = 0;
    if (content != "random") {
      const auto seed = whole_number(content.substr(7));
      if (!seed) return refuse(Kind::argument_kind, cat("`", content.substr(7), "` is no seed of `random`"));
      state = *seed;
    }
    for (std::size_t i = 0; i < count; ++i) random_element(array.type(), state, array.element(i));
    return {};
  }
  const std::vector<std::string_view> values = split(content, ',');
  if (values.size() != 1 && values.size() != count)
    return refuse(Kind::argument_kind, cat(values.size(), " values for ", count, " elements; give one for all, or each"));
  for (std::size_t i = 0; i < count; ++i)
    if (auto read = read_element(array.type(), values[values.size() == 1 ? 0 : i], array.element(i)); !read) return read;
  return {};
}

Expected<Buffer> make_buffer(std::string name, const BufferWords& words) {
  if (words.content.starts_with('@')) {
    auto array = from_file(words);
    if (!array) return Unexpected{std::move(array).error()};
    return Buffer{.name = std::move(name), .array = std::move(*array)};
  }
  const auto count = words.count.empty() && words.has_content && words.content.find(',') != std::string_view::npos
                         ? std::optional<std::uint64_t>(split(words.content, ',').size())
                         : whole_number(words.count);
  if (!count) return refuse(Kind::argument_kind, cat("`[", words.count, "]` says no number of elements"));
  auto array = Array::make(words.type, *count);
  if (!array) return Unexpected{std::move(array).error()};
  if (words.has_content)
    if (auto filled = fill(*array, words.content); !filled) return Unexpected{std::move(filled).error()};
  return Buffer{.name = std::move(name), .array = std::move(*array), .initialised = words.has_content};
}

std::string signature(const ir::Module& module, const ir::Function& entry) {
  std::string text = cat("kernel `", module.str(entry.name), "` takes ");
  if (entry.params.empty()) return text + "no parameters";
  const char* comma = "";
  for (const ir::Param& param : entry.params) {
    text += cat(comma, '`', module.str(param.name), "` (", isa::name(param.type));
    if (param.elements) text += cat('[', *param.elements, ']');
    text += ')';
    comma = ", ";
  }
  return text;
}

}  // namespace

std::vector<vgpu::Region> KernelArguments::regions() {
  std::vector<vgpu::Region> all;
  for (Buffer& buffer : buffers)
    all.push_back({.data = buffer.array.bytes().data(),
                   .bytes = buffer.array.bytes().size(),
                   .writable = true,
                   .initialised = buffer.initialised,
                   .name = buffer.name,
                   .shape = {buffer.array.count()},
                   .element_bits = static_cast<std::uint32_t>(isa::bits(buffer.array.type()))});
  return all;
}

Expected<KernelArguments> read_kernel_arguments(const ir::Module& module, const ir::Function& entry,
                                                std::span<const std::string> words) {
  const std::span<const ir::Param> params = entry.params;
  const auto parameter_named = [&](std::string_view name) {
    return std::find_if(params.begin(), params.end(), [&](const ir::Param& param) { return module.str(param.name) == name; });
  };
  std::vector<std::optional<std::string_view>> given(params.size());
  std::vector<std::string_view> in_order;
  const auto one_too_many = [&](std::string_view word) {
    return refuse(Kind::argument_count, cat("`--arg ", word, "` is one too many: ", signature(module, entry)));
  };
  for (const std::string_view word : words) {
    const std::size_t colon = word.find(':');
    const auto named = colon == std::string_view::npos ? params.end() : parameter_named(word.substr(0, colon));
    if (named == params.end()) {
      if (const auto name = unknown_name(word))
        return refuse(Kind::argument_count,
                      cat("`--arg ", word, "`: there is no parameter `", *name, "`; ", signature(module, entry)));
      in_order.push_back(word);
      continue;
    }
    auto& its_word = given[static_cast<std::size_t>(named - params.begin())];
    if (its_word) return one_too_many(word);
    its_word = word.substr(colon + 1);
  }
  // Those without a name go to the parameters that nobody named, in their order.
  for (const std::string_view word : in_order) {
    const auto next = std::find(given.begin(), given.end(), std::nullopt);
    if (next == given.end()) return one_too_many(word);
    *next = word;
  }
  KernelArguments made;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ir::Param& param = params[i];
    const std::string name(module.str(param.name));
    if (!given[i]) return refuse(Kind::argument_count, cat("`", name, "` has no `--arg`: ", signature(module, entry)));
    const std::string_view word = *given[i];
    const std::uint64_t align = std::max<std::uint32_t>(param.alignment(), 1);
    const std::uint64_t offset = (made.block.size() + align - 1) / align * align;
    made.block.resize(offset + param.bytes());
    const std::span<std::byte> place = std::span(made.block).subspan(offset);
    const auto wrong = [&](Diagnostic error) {
      return refuse(error.kind, cat("`--arg ", word, "` for parameter `", name, "`: ", error.message));
    };
    if (const auto buffer = as_buffer(word)) {
      if (place.size() != 8 || isa::kind(param.type) == isa::TypeKind::floating)
        return wrong({.kind = Kind::argument_kind, .message = cat("its type, ", isa::name(param.type), ", takes no address")});
      auto array = make_buffer(name, *buffer);
      if (!array) return wrong(std::move(array).error());
      const auto address = reinterpret_cast<std::uintptr_t>(array->array.bytes().data());
      std::memcpy(place.data(), &address, sizeof address);
      made.buffers.push_back(std::move(*array));
    } else if (word.starts_with('@')) {
      auto file = read_bytes(std::string(word.substr(1)));
      if (!file) return wrong(std::move(file).error());
      if (file->size() != place.size())
        return wrong(
            {.kind = Kind::file_error, .message = cat("the file holds ", file->size(), " bytes, the parameter ", place.size())});
      std::memcpy(place.data(), file->data(), file->size());
    } else {
      if (param.elements || param.vector != 1 || !is_number(param.type))
        return wrong({.kind = Kind::argument_kind,
                      .message = cat("a parameter of ", place.size(), " bytes takes a file of them, `@FILE`")});
      if (auto wrong_type = wrong_element_type(word)) return wrong(std::move(*wrong_type));
      if (auto read = read_element(param.type, word, place); !read) return wrong(std::move(read).error());
    }
  }
  // An array's memory does not move with its Buffer, so the addresses stay.
  for (Buffer& buffer : made.buffers) {
    const auto bytes = std::as_const(buffer.array).bytes();
    buffer.before.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return made;
}

}  // namespace ptx::tool
