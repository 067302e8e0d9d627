// CUB's algorithms of a device: reduction, scan with decoupled look-back, radix sort in one sweep, histogram, selection, runs.
// targets: sm_80; sm_90a
#include <cub/cub.cuh>

#include "program.cuh"

struct Odd {
  __device__ bool operator()(int x) const { return x & 1; }
};

// Asks how much room an algorithm needs, and calls it with that.
template <class Call>
void with_room(const char* name, Call call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* const room = made<unsigned char>(name, bytes == 0 ? 1 : bytes);
  call(room, bytes);
}

int main() {
  constexpr int n = 9000;
  const int* ints = given<int>("ints", n, [](auto i) { return static_cast<int>(drawn(20, i) % 2001) - 1000; });
  int* const sum = made<int>("sum", 1);
  with_room("room_sum", [=](void* room, std::size_t& bytes) { cub::DeviceReduce::Sum(room, bytes, ints, sum, n); });
  int* const sums = made<int>("sums", n);
  with_room("room_scan", [=](void* room, std::size_t& bytes) { cub::DeviceScan::ExclusiveSum(room, bytes, ints, sums, n); });
  const unsigned* keys = given<unsigned>("keys", n, [](auto i) { return drawn(21, i) >> (i % 4 * 8); });
  unsigned* const sorted = made<unsigned>("sorted_keys", n);
  int* const carried = made<int>("sorted_values", n);
  with_room("room_sort", [=](void* room, std::size_t& bytes) { cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, ints, carried, n); });
  const float* floats = given<float>("floats", n, [](auto i) { return eighths(22, i); });
  int* const bins = made<int>("bins", 32);
  with_room("room_bins",
            [=](void* room, std::size_t& bytes) { cub::DeviceHistogram::HistogramEven(room, bytes, floats, bins, 33, -16.0F, 16.0F, n); });
  int *const odd = made<int>("odd", n), *const odd_count = made<int>("odd_count", 1);
  with_room("room_odd", [=](void* room, std::size_t& bytes) { cub::DeviceSelect::If(room, bytes, ints, odd, odd_count, n, Odd{}); });
  const int* runs = given<int>("runs", n, [](auto i) { return static_cast<int>(i * i / 9000); });
  int *const values = made<int>("run_values", n), *const lengths = made<int>("run_lengths", n), *const run_count = made<int>("run_count", 1);
  with_room("room_runs",
            [=](void* room, std::size_t& bytes) { cub::DeviceRunLengthEncode::Encode(room, bytes, runs, values, lengths, run_count, n); });
  return cudaDeviceSynchronize();
}
