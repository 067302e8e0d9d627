// CUB's algorithms of a device, the others: merge sort, sorts and reductions of segments, scan by key, partition,
// neighbours' differences.
// targets: sm_80; sm_90a
#include <cub/cub.cuh>

#include "program.cuh"

// Asks how much room an algorithm needs, and calls it with that.
template <class Call>
void with_room(const char* name, Call call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* const room = made<unsigned char>(name, bytes == 0 ? 1 : bytes);
  call(room, bytes);
}
struct Less {
  __device__ bool operator()(double a, double b) const { return a < b; }
};
struct Small {
  __device__ bool operator()(short x) const { return x < 0; }
};
struct Most {
  __device__ long long operator()(long long a, long long b) const { return a > b ? a : b; }
};

int main() {
  constexpr int n = 3001;
  double* const doubles = given<double>("doubles", n, [](auto i) { return eighths(40, i); });
  int* const places = given<int>("places", n, [](auto i) { return static_cast<int>(i); });
  with_room("room_merge", [=](void* room, std::size_t& bytes) { cub::DeviceMergeSort::StableSortPairs(room, bytes, doubles, places, n, Less{}); });
  constexpr int segments = 7;
  const int* const begins = given<int>("begins", segments + 1, [](auto i) { return static_cast<int>(i * i * n / 49); });
  const unsigned short* const keys = given<unsigned short>("keys", n, [](auto i) { return drawn(41, i); });
  unsigned short* const sorted = made<unsigned short>("sorted", n);
  with_room("room_segments", [=](void* room, std::size_t& bytes) {
    cub::DeviceSegmentedSort::SortKeys(room, bytes, keys, sorted, n, segments, begins, begins + 1);
  });
  const long long* const longs = given<long long>("longs", n, [](auto i) { return static_cast<long long>(drawn(42, i)) * (i % 2 == 0 ? 1 : -3); });
  long long* const most = made<long long>("most", segments);
  with_room("room_most", [=](void* room, std::size_t& bytes) {
    cub::DeviceSegmentedReduce::Reduce(room, bytes, longs, most, segments, begins, begins + 1, Most{}, -(1LL << 62));
  });
  const int* const runs = given<int>("runs", n, [](auto i) { return static_cast<int>(drawn(43, i / 5) % 3); });
  long long* const by_key = made<long long>("by_key", n);
  with_room("room_scans", [=](void* room, std::size_t& bytes) { cub::DeviceScan::InclusiveSumByKey(room, bytes, runs, longs, by_key, n); });
  const short* const shorts = given<short>("shorts", n, [](auto i) { return static_cast<short>(drawn(44, i)); });
  short *const parted = made<short>("parted", n);
  int* const parted_count = made<int>("parted_count", 1);
  with_room("room_parted", [=](void* room, std::size_t& bytes) { cub::DevicePartition::If(room, bytes, shorts, parted, parted_count, n, Small{}); });
  int* const differences = made<int>("differences", n);
  with_room("room_differences", [=](void* room, std::size_t& bytes) {
    cub::DeviceAdjacentDifference::SubtractLeftCopy(room, bytes, runs, differences, n, cuda::std::minus<int>{});
  });
  return cudaDeviceSynchronize();
}
