#include "ptx/kernels/row_ring.hpp"

namespace ptx::kernels {

std::int64_t ring_row_bytes(const Recipe& recipe) { return static_cast<std::int64_t>(capacity(recipe)) * bytes_of(recipe.dtype); }

namespace {
constexpr std::int64_t barrier_bytes = 8;

std::vector<Reg<Type::b64>> pointers(Kernel& k, const std::vector<std::string_view>& tensors) {
  std::vector<Reg<Type::b64>> all;
  for (const std::string_view tensor : tensors) {
    const auto [pointer] = k.global_ptrs(tensor);
    all.push_back(pointer);
  }
  return all;
}
}  // namespace

RowRing::RowRing(Rows& rows, const Recipe& recipe, const std::vector<std::string_view>& tensors, const Reg<Type::u32>& stride)
    : k(rows.k),
      rows_(rows),
      recipe_(recipe),
      tensors_(pointers(rows.k, tensors)),
      stride_(stride),
      row_bytes_(rows.columns * bytes_of(recipe.dtype)),
      place_(
          k.smem.base(k.smem.alloc<Type::b8>({recipe.ahead, static_cast<std::int64_t>(tensors.size()), ring_row_bytes(recipe)}))),
      barriers_(k.smem.base(k.smem.mbarrier(recipe.ahead))),
      stages_(k.pipeline(recipe.ahead)) {
  k.if_(rows.thread == 0, [&] {
    for (int i = 0; i < recipe.ahead; ++i) k.mbarrier.init(addr(barriers_, i * barrier_bytes), 1);
    k.fence.mbarrier_init();
    const auto row = k.from_<Type::u32>(rows.first_row), stage = k.scalar<Type::u32>(0);
    k.while_(
        [&] {
          const auto is_free = stage < recipe.ahead;
          return is_free & (row < rows.rows);
        },
        [&] {
          copy(row, stage);
          k << inst.add.u32(row, row, stride_) << inst.add.u32(stage, stage, 1);
        });
  });
  k.bar.sync(0);
}

void RowRing::copy(const Reg<Type::u32>& row, const Reg<Type::u32>& stage) {
  const std::int64_t row_place = ring_row_bytes(recipe_);
  const auto count = static_cast<std::int64_t>(tensors_.size());
  const auto barrier = barriers_ + (stage << 3);
  k.mbarrier.arrive_expect_tx(barrier, row_bytes_ * count);
  const auto to = k.let(inst.mad.lo.u32, stage, row_place * count, place_);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto from = k.let(inst.mad.wide.u32, row, row_bytes_, tensors_[i]);
    k.cp.async_.bulk(
        {.dst = i == 0 ? to : to + static_cast<std::int64_t>(i) * row_place, .src = from, .size = row_bytes_, .mbar = barrier});
  }
}

std::vector<std::vector<Piece>> RowRing::next() {
  const auto [stage, phase] = stages_.advance();
  stage_ = stage;
  const auto barrier = barriers_ + (stage << 3);
  k.mbarrier.wait(barrier, phase);
  const std::int64_t row_place = ring_row_bytes(recipe_);
  const auto count = static_cast<std::int64_t>(tensors_.size());
  const auto here = k.let(inst.mad.lo.u32, rows_.thread, recipe_.vector * bytes_of(recipe_.dtype), place_);
  k << inst.mad.lo.u32(here, stage, row_place * count, here);
  std::vector<std::vector<Piece>> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.emplace_back();
    for (int pass = 0; pass < recipe_.passes; ++pass) all.back().push_back(rows_.load_staged(here, i * row_place, pass));
  }
  return all;
}

void RowRing::refill(const Reg<Type::u32>& first) {
  const auto later = k.let(inst.mad.lo.u32, stride_, recipe_.ahead, first);
  const auto is_first = rows_.thread == 0;
  k.if_(is_first & (later < rows_.rows), [&] {
    k.fence.proxy_async_shared_cta();  // what was read there is overwritten by another proxy
    copy(later, *stage_);
  });
}

}  // namespace ptx::kernels
