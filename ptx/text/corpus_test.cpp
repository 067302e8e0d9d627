// Real PTX, of compilers and of people: every file is read without a finding, restored byte for byte, and means the same once it
// is printed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"

namespace ptx::text {
namespace {

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
  const std::vector<std::string> files = testing::files_in(folder, ".ptx");
  ASSERT_FALSE(files.empty()) << "no .ptx in " << folder;
  Counts counts;
  for (const std::string& file : files) holds(file, counts);
  std::printf("%s: %zu files, %.1f MB, %zu functions, %zu instructions of %zu rows\n", folder.filename().c_str(), counts.files,
              static_cast<double>(counts.bytes) / 1e6, counts.functions, counts.instructions, counts.forms.size());
}

TEST(Corpus, OfCompilers) { hold(PTX_CORPUS); }
TEST(Corpus, ByHand) { hold("tests/corpus/hand"); }

}  // namespace
}  // namespace ptx::text
