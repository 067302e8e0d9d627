// The table: every family's rows, in one list.
#include <vector>

#include "ptx/isa/form.hpp"
#include "ptx/isa/table/async_copy.hpp"
#include "ptx/isa/table/atomics.hpp"
#include "ptx/isa/table/compare.hpp"
#include "ptx/isa/table/control.hpp"
#include "ptx/isa/table/convert.hpp"
#include "ptx/isa/table/data_movement.hpp"
#include "ptx/isa/table/floating.hpp"
#include "ptx/isa/table/half.hpp"
#include "ptx/isa/table/integer.hpp"
#include "ptx/isa/table/matrix.hpp"
#include "ptx/isa/table/mbarrier.hpp"
#include "ptx/isa/table/multimem.hpp"
#include "ptx/isa/table/sync.hpp"
#include "ptx/isa/table/tcgen05.hpp"
#include "ptx/isa/table/texture.hpp"
#include "ptx/isa/table/video.hpp"
#include "ptx/isa/table/warp.hpp"
#include "ptx/isa/table/wgmma.hpp"

namespace ptx::isa {

namespace {

std::vector<Row> collect() {
  std::vector<Row> list;
  const auto add = [&list](std::span<const Row> family) { list.insert(list.end(), family.begin(), family.end()); };
  add(table::data_movement);
  add(table::integer);
  add(table::floating);
  add(table::half);
  add(table::compare);
  add(table::convert);
  add(table::control);
  add(table::warp);
  add(table::sync);
  add(table::mbarrier);
  add(table::atomics);
  add(table::multimem);
  add(table::async_copy);
  add(table::texture);
  add(table::video);
  add(table::matrix);
  add(table::wgmma);
  add(table::tcgen05);
  return list;
}

}  // namespace

std::span<const Row> rows() {
  static const std::vector<Row>& all = *new std::vector<Row>(collect());  // never destroyed: forms point into it
  return all;
}

}  // namespace ptx::isa
