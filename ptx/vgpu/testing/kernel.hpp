// For the executor's tests: kernels from script lines, accepted, listed and run; and single instructions run over tables of
// operands.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/vgpu/machine/machine.hpp"
#include "ptx/vgpu/vgpu.hpp"
#include "tests/support/script.hpp"

namespace ptx::vgpu::testing {

/// The program of the script's kernel `k`. Line i of the script is kernel.py:i+1.
inline std::shared_ptr<const Program> program(const std::vector<std::string>& lines) {
  auto accepted = check::accept(ptx::testing::Script::module(lines, "kernel.py"));
  if (!accepted) {
    ADD_FAILURE() << render(accepted.error());
    return nullptr;
  }
  auto listing = std::make_shared<ir::Listing>(text::list(accepted->module()));
  auto made = Program::make(*accepted, std::move(listing), "k");
  if (!made) {
    ADD_FAILURE() << render(made.error());
    return nullptr;
  }
  return *made;
}

/// The same of PTX text, or why it does not run.
inline Expected<std::shared_ptr<const Program>> make_from_text(std::string text) {
  text::Parsed parsed = text::parse(std::move(text), "kernel.ptx");
  for (Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return Unexpected{std::move(finding)};
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  auto listing = std::make_shared<ir::Listing>(text::list(accepted->module()));
  return Program::make(*accepted, std::move(listing), "k");
}
/// The program of `.visible .entry k(parameters) { body }`.
inline std::string text_kernel(std::string_view parameters, std::string_view body) {
  return cat(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(", parameters, ")\n{\n", body, "\n}\n");
}
inline std::shared_ptr<const Program> text_program(std::string_view parameters, std::string_view body) {
  auto made = make_from_text(text_kernel(parameters, body));
  if (!made) {
    ADD_FAILURE() << render(made.error());
    return nullptr;
  }
  return *made;
}

/// A tensor of a test: memory, and the region that says what the kernel may do with it.
template <class T>
struct Buffer {
  std::string name;
  std::vector<T> data;
  bool writable = true, initialised = true;

  [[nodiscard]] Region region() {
    keep_apart();
    return {reinterpret_cast<std::byte*>(data.data()), data.size() * sizeof(T), writable, initialised, name};
  }
  [[nodiscard]] std::uint64_t address() {
    keep_apart();
    return reinterpret_cast<std::uintptr_t>(data.data());
  }

 private:
  /// What lies just behind a buffer is no other buffer's, whatever the allocator does: a test that reaches behind one expects a
  /// fault.
  void keep_apart() {
    constexpr std::size_t gap = 256;
    if (data.capacity() * sizeof(T) < data.size() * sizeof(T) + gap) data.reserve(data.size() + gap);
  }
};

/// The parameter block of 64-bit parameters.
inline std::vector<std::byte> params(std::initializer_list<std::uint64_t> values) {
  std::vector<std::byte> block(values.size() * 8);
  std::memcpy(block.data(), std::data(values), block.size());
  return block;
}

inline bool has_note(const Diagnostic& d, std::string_view note) {
  const std::vector<std::string> notes = notes_of(d);
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

/// One CTA of that many threads.
inline LaunchConfig block(std::uint32_t threads) {
  LaunchConfig config;
  config.block = {threads, 1, 1};
  return config;
}

/// Runs and expects no fault.
inline Report run(const std::shared_ptr<const Program>& program, const LaunchConfig& config, std::span<const std::byte> block,
                  std::vector<Region> regions, const Options& options = {}) {
  if (program == nullptr) return {};
  auto report = program->run(config, block, regions, options);
  if (!report) {
    ADD_FAILURE() << render(report.error());
    return {};
  }
  return *report;
}

/// The fault of a run that must have one.
inline Diagnostic fault(const std::shared_ptr<const Program>& program, const LaunchConfig& config,
                        std::span<const std::byte> block, std::vector<Region> regions, const Options& options = {}) {
  if (program == nullptr) return {};
  auto report = program->run(config, block, regions, options);
  if (report) {
    ADD_FAILURE() << "the run ended without a fault";
    return {};
  }
  return report.error();
}

/// Operands of one instruction in one thread: d before it, then a, b and c.
struct Operands {
  std::uint64_t d = 0, a = 0, b = 0, c = 0;
};

/// The kernel that runs `instruction`, with %vd, %va, %vb and %vc of the given types ("b32", "b64", "b16", "f32", "f64", "pred";
/// "" for one that it does not have), in a thread for each row of a table, only in the lanes of a mask, and writes %vd back to
/// the row.
/// `header`: script lines for another target or version.
using Header = std::vector<std::string>;
inline std::vector<std::string> rows_kernel(const std::string& instruction, const std::array<std::string, 4>& types,
                                            const Header& header = {".target sm_90a"}) {
  constexpr std::string_view names[] = {"%vd", "%va", "%vb", "%vc"};
  std::vector<std::string> lines = header;
  lines.insert(lines.end(), {".visible .entry k", ".param .u64 rows", ".param .u64 count", ".param .u64 lanes"});
  for (std::size_t i = 0; i < 4; ++i)
    if (!types[i].empty()) lines.push_back(cat(".reg .", types[i], ' ', names[i]));
  for (const char* line : {"ld.param.u64 %rd0, [rows]", "ld.param.u64 %rd1, [count]", "ld.param.u64 %rd2, [lanes]",
                           "mov.u32 %r0, %tid.x", "mov.u32 %r1, %ctaid.x", "mov.u32 %r2, %ntid.x",
                           "mad.lo.u32 %r3, %r1, %r2, %r0", "cvt.u64.u32 %rd3, %r3", "setp.ge.u64 %p0, %rd3, %rd1",
                           "@%p0 bra DONE", "shl.b64 %rd4, %rd3, 5", "add.u64 %rd4, %rd4, %rd0", "cvt.u32.u64 %r4, %rd2",
                           "mov.u32 %r5, %laneid", "shr.u32 %r6, %r4, %r5", "and.b32 %r6, %r6, 1", "setp.ne.u32 %p1, %r6, 0"})
    lines.emplace_back(line);
  for (std::size_t i = 0; i < 4; ++i) {
    if (types[i].empty()) continue;
    if (types[i] == "pred") {
      lines.push_back(cat("ld.global.b32 %r7, [%rd4+", 8 * i, "]"));
      lines.push_back(cat("setp.ne.b32 ", names[i], ", %r7, 0"));
    } else {
      lines.push_back(cat("ld.global.", types[i], ' ', names[i], ", [%rd4+", 8 * i, "]"));
    }
  }
  lines.push_back(cat("@%p1 ", instruction));
  if (types[0] == "pred") {
    lines.emplace_back("selp.b64 %rd5, 1, 0, %vd");
  } else if (types[0] == "b64" || types[0] == "f64") {
    lines.emplace_back("mov.b64 %rd5, %vd");
  } else if (types[0] == "f32") {
    lines.insert(lines.end(), {"mov.b32 %r8, %vd", "cvt.u64.u32 %rd5, %r8"});
  } else {
    lines.push_back(cat("cvt.u64.u", types[0].substr(1), " %rd5, %vd"));
  }
  lines.insert(lines.end(), {"st.global.b64 [%rd4], %rd5", "DONE:", "ret"});
  return lines;
}

inline constexpr std::uint32_t rows_of_block = 256;

/// Runs that kernel over the rows and returns %vd of every row. What is compiled for AVX2 and for the baseline must agree.
inline std::vector<std::uint64_t> run_rows(const std::string& instruction, const std::array<std::string, 4>& types,
                                           const std::vector<Operands>& rows, std::uint32_t mask = 0xFFFFFFFFu,
                                           const Header& header = {".target sm_90a"}) {
  const auto made = program(rows_kernel(instruction, types, header));
  if (made == nullptr) return std::vector<std::uint64_t>(rows.size());
  Buffer<Operands> table{"rows", rows};
  const auto threads = static_cast<std::uint32_t>(rows.size());
  LaunchConfig config;
  config.block = {rows_of_block, 1, 1};
  config.grid = {(threads + rows_of_block - 1) / rows_of_block, 1, 1};
  run(made, config, params({table.address(), threads, mask}), {table.region()});
  Buffer<Operands> baseline{"rows", rows};
  baseline_only = true;
  const auto made_for_baseline = program(rows_kernel(instruction, types, header));
  baseline_only = false;
  run(made_for_baseline, config, params({baseline.address(), threads, mask}), {baseline.region()});
  std::vector<std::uint64_t> results;
  std::size_t different = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results.push_back(table.data[i].d);
    different += baseline.data[i].d != table.data[i].d;
  }
  EXPECT_EQ(different, 0u) << instruction << ": rows that differ between AVX2 and the baseline";
  return results;
}

}  // namespace ptx::vgpu::testing
