// XLA's FFI as plain C structures, declared by ourselves: the core builds without jaxlib's headers, and one object file serves
// every jaxlib from 0.5 to 0.11 (FFI 0.1 to 0.4), where these layouts are the same. Compared with the c_api.h of each in
// docs/facts.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptx::ffi::xla {

inline constexpr std::int32_t major_version = 0;
inline constexpr std::int32_t newest_minor_version = 4;

enum class ExtensionType : std::int32_t { metadata = 1 };
struct Extension {
  std::size_t struct_size;
  ExtensionType type;
  Extension* next;
};
struct Version {
  std::size_t struct_size;
  Extension* extension;
  std::int32_t major, minor;
};
/// Newer versions append a member, but say the same struct_size: nothing behind `traits` may be written.
struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};
inline constexpr std::uint32_t command_buffer_compatible = 1;
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct ByteSpan {
  const char* data;
  std::size_t size;
};
/// XLA_FFI_DataType, the members with a width of their own.
enum class DataType : std::int32_t {
  pred = 1,
  s8 = 2,
  s16 = 3,
  s32 = 4,
  s64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  c64 = 15,
  bf16 = 16,
  c128 = 18,
  f8e5m2 = 19,
  f8e4m3fn = 20,
  f8e4m3b11fnuz = 23,
  f8e5m2fnuz = 24,
  f8e4m3fnuz = 25,
  f8e4m3 = 28,
  f8e3m4 = 29,
  f8e8m0fnu = 33,
};
struct Buffer {
  std::size_t struct_size;
  Extension* extension;
  DataType dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
struct Scalar {
  DataType dtype;
  void* value;
};
/// Arguments and results; of type 1, a Buffer.
struct Buffers {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  std::int32_t* types;
  void** values;
};
enum class AttributeType : std::int32_t { array = 1, dictionary = 2, scalar = 3, string = 4 };
/// Sorted by name.
struct Attributes {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  AttributeType* types;
  ByteSpan** names;
  void** values;
};

struct ErrorCreateArgs {
  std::size_t struct_size;
  Extension* extension;
  const char* message;
  std::int32_t code;
};
struct StreamGetArgs {
  std::size_t struct_size;
  Extension* extension;
  void* context;
  void* stream;
};
struct DeviceOrdinalGetArgs {
  std::size_t struct_size;
  Extension* extension;
  void* context;
  std::int32_t ordinal;
};
/// absl::StatusCode, those we use.
enum class ErrorCode : std::int32_t {
  invalid_argument = 3,
  not_found = 5,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
};

struct Api {
  std::size_t struct_size;
  Extension* extension;
  Version version;
  const void* internal;
  void* (*error_create)(ErrorCreateArgs*);
  void* error_get_message;
  void* error_destroy;
  void* handler_register;
  void* (*stream_get)(StreamGetArgs*);
  void* type_register;
  void* execution_context_get;
  void* state_set;
  void* state_get;
  void* device_memory_allocate;
  void* device_memory_free;
  void* thread_pool_schedule;
  void* thread_pool_num_threads;
  void* future_create;
  void* future_set_available;
  void* future_set_error;
  void* run_id_get;
  void* (*device_ordinal_get)(DeviceOrdinalGetArgs*);  // since jaxlib 0.6: look at struct_size
};

enum class Stage : std::int32_t { instantiate = 0, prepare = 1, initialize = 2, execute = 3 };
struct CallFrame {
  std::size_t struct_size;
  Extension* extension;
  const Api* api;
  void* context;
  Stage stage;
  Buffers args;
  Buffers results;
  Attributes attributes;
  void* future;
};
static_assert(sizeof(CallFrame) == 176 && sizeof(Buffer) == 48 && sizeof(Buffers) == 40 && sizeof(Attributes) == 48);
static_assert(offsetof(Api, error_create) == 48 && offsetof(Api, stream_get) == 80 && offsetof(Api, device_ordinal_get) == 184);
static_assert(offsetof(Metadata, traits) == 32);

}  // namespace ptx::ffi::xla
