// Modules of several threads, read in several orders.
#include <gtest/gtest.h>

#include <iterator>
#include <thread>

#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"

namespace ptx::text {
namespace {

// A module reads as it does whatever was read before, here and in other threads: spellings outlive their module (opcodes.hpp).
TEST(Parse, ReadsTheSameWhateverWasReadBefore) {
  const auto read = [](const std::string& file) {
    const Parsed parsed = parse(testing::read_file(file), file);
    std::string said;
    for (const Diagnostic& d : parsed.findings) said += render(d);
    for (const ir::Function& f : parsed.module.functions)
      for (const ir::Inst& item : f.body)
        if (item.kind == ir::ItemKind::inst) said += cat(item.form, '(', isa::spell(isa::form(item.form), item.choices), ')');
    return said;
  };
  std::vector<std::string> files = testing::files_in("tests/corpus/hand", ".ptx"), first;
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

}  // namespace
}  // namespace ptx::text
