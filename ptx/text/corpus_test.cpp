// Real PTX, of compilers and of people: every file is read without a finding, restored byte for byte, and means the same once it
// is printed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <thread>

#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"

namespace ptx::text {
namespace {

std::vector<std::string> ptx_files(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".ptx") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

struct Counts {
  std::size_t files = 0, bytes = 0, instructions = 0, functions = 0;
  std::set<isa::FormId> forms;
};

void holds(const std::string& file, Counts& counts) {
  const std::string text = testing::read_file(file);
  const Parsed parsed = parse(text, file);
  if (!parsed.findings.empty())
    ADD_FAILURE() << parsed.findings.size() << " findings, the first:\n" << render(parsed.findings[0]);
  EXPECT_TRUE(restore(parsed) == text) << file << " is restored with differences";
  const std::string printed = print(parsed.module);
  const Parsed again = parse(printed, file + " as printed");
  if (!again.findings.empty() && parsed.findings.empty())
    ADD_FAILURE() << "printed, " << again.findings.size() << " findings, the first:\n" << render(again.findings[0]);
  EXPECT_EQ(ir::difference(parsed.module, again.module), "") << file;
  EXPECT_TRUE(print(again.module) == printed) << file << " prints differently once it was printed";
  ++counts.files;
  counts.bytes += text.size();
  counts.functions += parsed.module.functions.size();
  for (const ir::Function& f : parsed.module.functions)
    for (const ir::Inst& item : f.body) {
      const bool is_raw = item.kind == ir::ItemKind::raw && !print(parsed.module, f, item).starts_with("@@");
      if (is_raw && parsed.findings.empty())
        ADD_FAILURE() << file << ": `" << print(parsed.module, f, item) << "` is not read, and nothing is said";
      if (item.kind != ir::ItemKind::inst) continue;
      ++counts.instructions;
      counts.forms.insert(item.form);
    }
}

void hold(const std::filesystem::path& folder) {
  const std::vector<std::string> files = ptx_files(folder);
  ASSERT_FALSE(files.empty()) << "no .ptx in " << folder;
  Counts counts;
  for (const std::string& file : files) holds(file, counts);
  std::printf("%s: %zu files, %.1f MB, %zu functions, %zu instructions of %zu rows\n", folder.filename().c_str(), counts.files,
              static_cast<double>(counts.bytes) / 1e6, counts.functions, counts.instructions, counts.forms.size());
}

// A module reads as it does whatever was read before, here and in other threads: spellings outlive their module (opcodes.hpp).
TEST(Corpus, ReadsTheSameWhateverWasReadBefore) {
  const auto read = [](const std::string& file) {
    const Parsed parsed = parse(testing::read_file(file), file);
    std::string said;
    for (const Diagnostic& d : parsed.findings) said += render(d);
    for (const ir::Function& f : parsed.module.functions)
      for (const ir::Inst& item : f.body)
        if (item.kind == ir::ItemKind::inst) said += cat(item.form, '(', isa::spell(isa::form(item.form), item.choices), ')');
    return said;
  };
  std::vector<std::string> files = ptx_files("tests/corpus/hand"), first;
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) first.push_back(read(file));
  std::vector<std::vector<std::string>> later(4, std::vector<std::string>(files.size()));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < later.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < files.size(); ++i) {
        const std::size_t at = t % 2 == 0 ? i : files.size() - 1 - i;
        later[t][at] = read(files[at]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& said : later) EXPECT_EQ(said, first);

  // The same words, and another meaning of the name among them.
  const auto kernel = [](std::string_view declared) {
    const Parsed parsed = parse(cat(".version 9.0\n.target sm_90a\n.address_size 64\n", declared,
                                    "\n.entry k()\n{\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\nmov.u64 %rd1, name;\ncvta.shared.u64 "
                                    "%rd1, name;\nld.u32 %r1, [name];\n}\n"),
                                "k.ptx");
    return print(parsed.module);
  };
  const std::string_view ways[] = {".shared .b32 name;", ".global .b32 name;", ".func name;", ".const .b32 name;"};
  std::vector<std::string> once, again;
  for (const std::string_view way : ways) once.push_back(kernel(way));
  for (std::size_t i = std::size(ways); i-- > 0;) again.insert(again.begin(), kernel(ways[i]));
  EXPECT_EQ(once, again);
}

TEST(Corpus, OfCompilers) { hold(PTX_CORPUS); }
TEST(Corpus, ByHand) { hold("tests/corpus/hand"); }

}  // namespace
}  // namespace ptx::text
