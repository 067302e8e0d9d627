#include "ptx/vgpu/machine/rows_run.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "ptx/isa/isa.hpp"

namespace ptx::vgpu::rows_run {
namespace {

class Notes {
 public:
  Notes() : ran_(isa::rows().size()) {
    if (const char* folder = std::getenv("PTX_ROWS_RUN")) folder_ = folder;
  }
  ~Notes() {
    if (folder_.empty()) return;
    std::ofstream out(cat(folder_, "/", ::getpid(), ".rows"), std::ios::app);
    for (std::size_t i = 0; i < ran_.size(); ++i)
      if (const isa::Row& row = isa::rows()[i]; !row.exec.empty())
        out << i << ' ' << (ran_[i] ? "ran " : "not ") << row.form << '\n';
  }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  [[nodiscard]] bool on() const { return !folder_.empty(); }
  void note(std::uint32_t row) { ran_[row].store(true, std::memory_order_relaxed); }

 private:
  std::string folder_;
  std::vector<std::atomic<bool>> ran_;
};

Notes& notes() {
  static Notes all;
  return all;
}

}  // namespace

bool noting() { return notes().on(); }
void note(std::uint32_t row) { notes().note(row); }

}  // namespace ptx::vgpu::rows_run
