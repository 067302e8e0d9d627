// How fast real PTX is parsed, printed, restored and checked, one core: `bench_ptx_text_bench [FOLDER] [--ptxas]` over the .ptx
// files of a folder, else those of tests/corpus/hand. Memory is what the heap holds after parsing, and at most while parsing, per
// byte of source. With --ptxas, how long ptxas takes over the same files.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"

namespace {

std::atomic<std::size_t> heap = 0, heap_peak = 0;

void* counted(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = heap += malloc_usable_size(memory);
  if (now > heap_peak) heap_peak = now;
  return memory;
}
void uncounted(void* memory) noexcept {
  if (memory == nullptr) return;
  heap -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

namespace {

struct File {
  std::filesystem::path path;
  std::string text;
};
struct Corpus {
  std::vector<File> files;
  std::vector<ptx::text::Parsed> parsed;
  std::size_t bytes = 0, instructions = 0;
};

Corpus read_folder(const std::filesystem::path& folder) {
  Corpus corpus;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    corpus.files.push_back({entry.path(), std::string(std::istreambuf_iterator<char>(in), {})});
  }
  std::sort(corpus.files.begin(), corpus.files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  for (const File& file : corpus.files) {
    const ptx::text::Parsed& parsed = corpus.parsed.emplace_back(ptx::text::parse(file.text, file.path.string()));
    corpus.bytes += file.text.size();
    for (const ptx::ir::Function& f : parsed.module.functions)
      for (const ptx::ir::Inst& item : f.body) corpus.instructions += item.kind == ptx::ir::ItemKind::inst;
  }
  return corpus;
}

// One round over every file; `of` does one and says how many bytes of text it had to do with.
template <class Of>
void over(benchmark::State& state, const Corpus& corpus, Of of) {
  std::size_t bytes = 0;
  for (auto _ : state)
    for (std::size_t i = 0; i < corpus.files.size(); ++i) bytes += of(i);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(corpus.instructions));
}

void parse(benchmark::State& state, const Corpus& corpus) {
  double held = 0, most = 0, worst = 0;
  over(state, corpus, [&](std::size_t i) {
    state.PauseTiming();
    std::string copy = corpus.files[i].text;
    const auto size = static_cast<double>(copy.size());
    const std::size_t before = heap - malloc_usable_size(copy.data());
    heap_peak = heap.load();
    state.ResumeTiming();
    auto parsed = std::make_unique<ptx::text::Parsed>(ptx::text::parse(std::move(copy), "bench.ptx"));
    state.PauseTiming();
    held += static_cast<double>(heap - before);
    most += static_cast<double>(heap_peak - before);
    if (size > 20'000)
      worst = std::max(worst, static_cast<double>(heap_peak - before) / size);  // smaller ones are tables of names
    parsed.reset();
    state.ResumeTiming();
    return corpus.files[i].text.size();
  });
  const double bytes = static_cast<double>(state.iterations()) * static_cast<double>(corpus.bytes);
  state.counters["held_per_byte"] = held / bytes;
  state.counters["peak_per_byte"] = most / bytes;
  state.counters["worst_peak_per_byte"] = worst;
}

void print(benchmark::State& state, const Corpus& corpus) {
  over(state, corpus, [&](std::size_t i) { return ptx::text::print(corpus.parsed[i].module).size(); });
}

void restore(benchmark::State& state, const Corpus& corpus) {
  over(state, corpus, [&](std::size_t i) {
    const std::string text = ptx::text::restore(corpus.parsed[i]);
    if (text != corpus.files[i].text) state.SkipWithError(corpus.files[i].path.c_str());
    return text.size();
  });
}

void check(benchmark::State& state, const Corpus& corpus) {
  over(state, corpus, [&](std::size_t i) {
    benchmark::DoNotOptimize(ptx::check::check(corpus.parsed[i].module));
    return corpus.files[i].text.size();
  });
}

void ptxas(benchmark::State& state, const Corpus& corpus) {
  std::size_t refused = 0;
  over(state, corpus, [&](std::size_t i) {
    const std::string command = ptx::cat("ptxas -arch ", ptx::isa::name(corpus.parsed[i].module.target), " -o /dev/null '",
                                         corpus.files[i].path.string(), "' >/dev/null 2>&1");
    refused += std::system(command.c_str()) != 0;
    return corpus.files[i].text.size();
  });
  state.counters["refused"] = static_cast<double>(refused);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::filesystem::path folder = "tests/corpus/hand";
  bool with_ptxas = false;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--ptxas")
      with_ptxas = true;
    else
      folder = argv[i];
  if (!std::filesystem::is_directory(folder)) {
    std::fprintf(stderr, "%s: no folder `%s`; give one with .ptx files\n", argv[0], folder.c_str());
    return 2;
  }
  const Corpus corpus = read_folder(folder);
  const auto add = [&](const char* name, void (*run)(benchmark::State&, const Corpus&)) {
    return benchmark::RegisterBenchmark(name, [run, &corpus](benchmark::State& state) { run(state, corpus); })
        ->Unit(benchmark::kMillisecond);
  };
  add("parse", parse);
  add("print", print);
  add("restore", restore);
  add("check", check);
  if (with_ptxas) add("ptxas", ptxas)->Iterations(1)->UseRealTime();
  benchmark::AddCustomContext("files", std::to_string(corpus.files.size()));
  benchmark::AddCustomContext("bytes", std::to_string(corpus.bytes));
  benchmark::AddCustomContext("instructions", std::to_string(corpus.instructions));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
