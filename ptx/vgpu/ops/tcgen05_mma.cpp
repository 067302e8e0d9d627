// Products in tensor memory (rows: ptx/isa/table/tcgen05.hpp). One thread issues a whole product, and it is done when it is
// issued, as an asynchronous one may be. Layouts and numbers are the manual's and those of published models (docs/facts.md); no
// GPU of this family has been asked.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/product_words.hpp"
#include "ptx/vgpu/tensor/reach.hpp"
#include "ptx/vgpu/tensor/scaled_product.hpp"
#include "ptx/vgpu/tensor/shared_operand.hpp"

namespace ptx::vgpu {
namespace {

enum class MmaWord : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
constexpr bool is_scaled(MmaWord kind) { return kind >= MmaWord::mxf8f6f4; }
constexpr bool is_packed(MmaWord kind) { return kind >= MmaWord::mxf4; }  // two elements in a byte

// x[0] = MmaWord, x[1] = flags, x[2] = scales of a row, x[3] = by how much d is scaled down, x[4] = disabled lanes are given,
// x[5] = CTAs
constexpr std::uint32_t a_in_tensor_memory = 1, weights_stationary = 2, a_sparse = 4, zeroes_columns = 8, shifts_rows = 16,
                        has_k96 = 32, counts_scales = 64;  // has_k96: the target does; counts_scales: .scale_vec::NX
enum OperandAt : std::size_t {
  d_at,
  a_at,
  b_at,
  idesc_at,
  e_at,
  a_scales_at,
  b_scales_at,
  zero_columns_at,
  enable_at,
  enable_flip_at,
  disabled_at
};

// Bits of an element, of those that take a byte in a register too.
int bits_in_memory(Type type) {
  switch (type) {
    case Type::tf32:
      return 32;
    case Type::e2m1:
      return 4;
    case Type::e3m2:
    case Type::e2m3:
      return 6;
    default:
      return isa::bits(type);
  }
}

// Room for one product, by thread.
struct Room {
  std::vector<std::uint32_t> a, b, d;
  std::vector<std::uint8_t> columns, d_marks, a_scales, b_scales;
  std::vector<bool> undefined_rows, undefined_columns;
};

// A product while a lane issues it. Its steps return false when they have recorded a fault.
class Issue {
 public:
  Issue(Warp& warp, const Step& step, int lane)
      : warp_(warp),
        step_(step),
        lane_(lane),
        slots_(operands_of(warp.cta->launch->code, step)),
        kind_(static_cast<MmaWord>(step.x[0])),
        group_(static_cast<int>(step.x[5])),
        ctas_{warp.cta, warp.cta} {}

  bool run() {
    return find_pair() && read_description() && choose_arithmetic() && read_a() && read_b() && read_metadata() && read_scales() &&
           read_d() && multiply_and_store();
  }

 private:
  [[nodiscard]] bool flag(std::uint32_t bit) const { return (step_.x[1] & bit) != 0; }
  [[nodiscard]] std::uint64_t wide(OperandAt at) const { return warp_.slot<std::uint64_t>(slots_[at])[lane_]; }
  [[nodiscard]] layout::TensorAddress address(OperandAt at) const { return tensor_address_of(warp_, slots_[at], lane_); }
  bool fail(Kind kind, std::string message) {
    warp_.fail(step_, lane_, kind, std::move(message));
    return false;
  }

  // The even CTA of the pair comes first.
  bool find_pair() {
    if (group_ == 1) return true;
    Cta* const peer = peer_of(*warp_.cta);
    if (peer == nullptr) {
      fail_alone(warp_, step_, lane_);
      return false;
    }
    ctas_[(warp_.cta->rank & 1) == 0 ? 1 : 0] = peer;
    return true;
  }
  [[nodiscard]] TensorMemory& memory(int cta) const { return ctas_[index_of(cta)]->tensor_memory; }
  [[nodiscard]] int rows_of_cta() const { return mma_.m / group_; }

  bool read_description() {
    const std::uint32_t bits = warp_.slot<std::uint32_t>(slots_[idesc_at])[lane_];
    const auto read =
        is_scaled(kind_)
            ? layout::read_instruction_descriptor(
                  static_cast<layout::ScaledMmaKind>(step_.x[0] - static_cast<std::uint32_t>(MmaWord::mxf8f6f4)), bits)
            : layout::read_instruction_descriptor(static_cast<layout::MmaKind>(kind_), bits);
    if (!read) return fail(Kind::bad_descriptor, cat("is given ", read.error().message));
    mma_ = *read;
    if (mma_.sparse != flag(a_sparse))
      return fail(Kind::bad_descriptor, cat("is given an instruction descriptor of a ", mma_.sparse ? "sparse" : "dense",
                                            " a, which the instruction is not for"));
    const auto path = layout::data_path(mma_.m, group_, flag(weights_stationary), mma_.sparse);
    if (!path || (is_scaled(kind_) && mma_.m == 64)) {
      const std::string_view fits = group_ == 2                ? "128 or 256"
                                    : is_scaled(kind_)         ? "128"
                                    : flag(weights_stationary) ? "32, 64 or 128"
                                                               : "64 or 128";
      return fail(Kind::bad_descriptor, cat("is given an instruction descriptor of M = ", mma_.m, "; what fits is ", fits));
    }
    path_ = *path;
    if (const auto fits = columns_that_fit(); !fits.empty())
      return fail(Kind::bad_descriptor, cat("is given an instruction descriptor of N = ", mma_.n, "; what fits is ", fits));
    if (flag(shifts_rows) && rows_of_cta() != layout::tensor_lanes)
      return fail(Kind::bad_descriptor, cat("shifts the rows of a, with M = ", mma_.m, "; what fits is ", 128 * group_));
    return (!is_scaled(kind_) || can_find_scales()) && (!mma_.k96 || can_take_k96());
  }
  // Others read them so, of which CuTe's and Mosaic's layouts know (docs/facts.md).
  bool can_find_scales() {
    if (path_ != layout::DataPath::b && path_ != layout::DataPath::c) return true;
    if (path_ == layout::DataPath::c)
      return fail(Kind::not_executed, "has a sparse a of M = 128 in two CTAs, whose scales of b nobody has told the place of");
    return mma_.n % 64 == 0 ||
           fail(Kind::not_executed,
                cat("has M = 128 in two CTAs and N = ", mma_.n,
                    ", whose scales of b nobody has told the place of; what is executed is a multiple of 64"));
  }
  bool can_take_k96() {
    if (!flag(has_k96)) return fail(Kind::bad_descriptor, "has K = 96, which only sm_103a has");
    if (flag(counts_scales)) return fail(Kind::bad_descriptor, "has K = 96, whose scales are `.block16` or `.block32`");
    if (mma_.sparse) return fail(Kind::bad_descriptor, "has K = 96, which a sparse a has not");
    return path_ != layout::DataPath::b ||
           fail(Kind::not_executed, "has K = 96 and M = 128 in two CTAs, whose scales nobody has told the place of");
  }
  // Of a row of a, and of a column of b.
  [[nodiscard]] int scales() const {
    const int each = static_cast<int>(step_.x[2]);
    return mma_.k96 ? each * 3 / 2 : each;
  }

  // What N may be where it is not; empty where it may (manual: "Matrix Shape").
  [[nodiscard]] std::string_view columns_that_fit() const {
    const int n = mma_.n;
    if (flag(weights_stationary)) {
      if (n == 64 || n == 128 || (n == 256 && !mma_.sparse)) return {};
      return mma_.sparse ? "64 or 128" : "64, 128 or 256";
    }
    if (n < 8 || n > 256) return "8 to 256";
    if (group_ == 2 && n % 16 != 0) return "a multiple of 16 in two CTAs";
    const bool bytes = kind_ != MmaWord::f16 && kind_ != MmaWord::tf32;
    if (group_ == 2 && n % 32 != 0 && (kind_ == MmaWord::i8 || (mma_.b_transposed && bytes)))
      return "a multiple of 32 for integers, or b of 8 bits that is transposed, in two CTAs";
    if (kind_ == MmaWord::i8 && n > 32 && n % 16 != 0) return "8, 16, 24, 32, 48 and so on in steps of 16 to 256";
    if (mma_.b_transposed && bytes && n % 16 != 0) return "a multiple of 16 where b of 8 bits is transposed";
    return {};
  }

  bool choose_arithmetic() {
    p_ = {};
    p_.m = static_cast<std::uint16_t>(mma_.m), p_.n = static_cast<std::uint16_t>(mma_.n);
    const int dense = kind_ == MmaWord::f16 ? 16 : kind_ == MmaWord::tf32 ? 8 : mma_.k96 ? 96 : is_packed(kind_) ? 64 : 32;
    p_.k = static_cast<std::uint16_t>(mma_.sparse ? 2 * dense : dense);
    p_.c_half = p_.d_half = mma_.d_dtype == "f16";
    const Type a_type = isa::type_from_name(mma_.a_dtype).value_or(Type::none);
    const Type b_type = isa::type_from_name(mma_.b_dtype).value_or(Type::none);
    a_bits_ = bits_in_memory(a_type), b_bits_ = bits_in_memory(b_type);
    p_.bits = static_cast<std::uint8_t>(std::max(a_bits_, b_bits_));
    if (kind_ == MmaWord::i8) {
      p_.arithmetic = Arithmetic::integers;
      p_.a_signed = a_type == Type::s8, p_.b_signed = b_type == Type::s8;
      p_.satfinite = mma_.saturate;
    } else {
      const auto a = factor_of(a_type), b = factor_of(b_type);
      if (!a || !b) return fail(Kind::internal, cat("has factors of ", mma_.a_dtype, " and ", mma_.b_dtype));
      p_.a_format = a->format, p_.b_format = b->format;
      // As many products at once as the instruction has along K (docs/facts.md).
      p_.unit = {static_cast<std::uint8_t>(dense), 25, p_.d_half ? num::DotResult::f16 : num::DotResult::f32,
                 static_cast<std::int16_t>(p_.d_half ? -21 : -133)};
    }
    if (mma_.sparse)
      p_.sparsity = kind_ == MmaWord::tf32  ? Sparsity::singles
                    : kind_ == MmaWord::f16 ? Sparsity::pairs
                    : is_packed(kind_)      ? Sparsity::nibble_pairs
                                            : Sparsity::byte_pairs;
    return true;
  }

  // How elements of a or b lie in shared memory (manual: "Packing formats of elements in Tensor and Shared memory").
  [[nodiscard]] Packing packing(int bits) const {
    return bits >= 8 || is_packed(kind_) ? Packing::whole(bits) : Packing{bits, 16};
  }

  std::optional<layout::SharedMatrix> descriptor(OperandAt at, std::string_view name, bool transposed, int bits) {
    const auto matrix = layout::read_tcgen05_descriptor(wide(at));
    if (!matrix) {
      fail(Kind::bad_descriptor, cat("reads matrix ", name, ": ", matrix.error().message));
      return std::nullopt;
    }
    std::string_view wrong;
    if (matrix->goes_on_elsewhere && (!mma_.k96 || matrix->width == 1)) {
      fail(Kind::not_executed,
           cat("reads matrix ", name, ", whose descriptor gives its leading dimension as an absolute address; ",
               "that is executed with K = 96 and a swizzle"));
      return std::nullopt;
    }
    if (transposed && bits < 8)
      wrong = "elements of 4 and 6 bits lie one behind the other along K";
    else if (transposed && (kind_ == MmaWord::tf32) != matrix->double_atoms)
      wrong = kind_ == MmaWord::tf32 ? "tf32 that is not K-major has the swizzle of 128 bytes with atoms of 32"
                                     : "the swizzle with atoms of 32 bytes is for tf32 alone";
    if (wrong.empty()) return *matrix;
    fail(Kind::bad_descriptor, cat("reads matrix ", name, ", transposed: ", wrong));
    return std::nullopt;
  }

  void negate(std::vector<std::uint32_t>& raws, int bits) {
    const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
    for (std::uint32_t& raw : raws) raw ^= sign;
  }

  bool read_a() {
    const int m = mma_.m, stored = p_.stored();
    room_.a.assign(index_of(m * stored), 0);
    room_.undefined_rows.assign(index_of(m), false);
    const auto element = [&](int row, int k) -> std::uint32_t& { return room_.a[index_of(row * stored + k)]; };
    if (flag(a_in_tensor_memory)) {
      if (!read_a_of_tensor_memory(element)) return false;
    } else {
      const auto from = descriptor(a_at, "a", mma_.a_transposed, a_bits_);
      if (!from) return false;
      for (int cta = 0; cta < group_; ++cta) {
        const int first = cta * rows_of_cta();
        SharedOperand read{warp_, step_, "a", lane_, *ctas_[index_of(cta)]};
        if (!read(
                *from, mma_.a_transposed, 0, rows_of_cta(), stored, packing(a_bits_),
                [&](int row, int k) -> std::uint32_t& { return element(first + row, k); },
                [&](int row) { room_.undefined_rows[index_of(first + row)] = true; }))
          return false;
      }
    }
    if (mma_.a_negated) negate(room_.a, a_bits_);
    return true;
  }

  // The word of all copies, which are to be the same; nothing: a fault was recorded. `mark` gets worse with what is unwritten.
  std::optional<std::uint32_t> read_copies(std::string_view name, int cta, int lane, int column, int copies, bool& written) {
    return read_copies(name, cta, lane, column, copies, layout::tensor_lanes / copies, written);
  }
  std::optional<std::uint32_t> read_copies(std::string_view name, int cta, int lane, int column, int copies, int apart,
                                           bool& written) {
    TensorMemory& cells = memory(cta);
    const std::uint32_t word = cells.cell(lane, column);
    for (int i = 0; i < copies; ++i) {
      const int at = lane + i * apart;
      if (cells.mark(at, column) != written_mark) {
        written = false;
        cells.note_undefined(say_unwritten_cell(cat("reads ", name, " from"), at, column, cells.mark(at, column)));
      } else if (cells.cell(at, column) != word) {
        fail(Kind::tensor_memory_misuse,
             cat("reads ", name, " from column ", column, " of tensor memory, which has 0x", hex(word), " in lane ", lane,
                 " and 0x", hex(cells.cell(at, column)), " in lane ", at, ": every part of the lanes has the same copy"));
        return std::nullopt;
      }
    }
    return word;
  }

  // That a matrix may begin at this lane, and its columns be reached.
  bool can_take(std::string_view name, layout::TensorAddress first, int columns, bool stores = false) {
    const bool half = layout::takes_half(path_);
    if (first.lane != 0 && (!half || first.lane != 16))
      return fail(Kind::tensor_memory_misuse,
                  cat("has ", name, " at lane ", first.lane, " of tensor memory; what fits is ", half ? "0 or 16" : "0"));
    for (int cta = 0; cta < group_; ++cta)
      if (!can_reach(warp_, step_, lane_, memory(cta), cat("has ", name, " in"), {0, first.column}, layout::tensor_lanes,
                     columns))
        return false;
    if (warp_.races != nullptr) note_access(first, columns, stores);
    return true;
  }
  // In both CTAs of a pair; of a matrix that takes half of the lanes, 16 of each 32.
  void note_access(layout::TensorAddress first, int columns, bool stores) {
    const int step = layout::takes_half(path_) ? 2 * races::TensorShadow::lanes : races::TensorShadow::lanes;
    for (int cta = 0; cta < group_; ++cta)
      for (int lane = first.lane; lane < layout::tensor_lanes; lane += step)
        warp_.races->access_tensor_memory(warp_, step_, Mask{1} << lane_, *ctas_[index_of(cta)], races::TensorUse::product,
                                          stores, {lane, races::TensorShadow::lanes, first.column, columns});
  }

  template <class Element>
  bool read_a_of_tensor_memory(Element element) {
    if (mma_.a_transposed) return fail(Kind::bad_descriptor, "transposes a, which lies in tensor memory, by rows");
    // Elements of 6 bits are the low ones of a byte, those of 4 bits the middle ones (docs/facts.md).
    const bool in_bytes = a_bits_ < 8 && !is_packed(kind_);
    const int width = in_bytes ? 8 : a_bits_, shift = in_bytes && a_bits_ == 4 ? 2 : 0;
    const std::uint32_t ones = ~std::uint32_t{0} >> (32 - a_bits_);
    const layout::TensorAddress first = address(a_at);
    const int per = 32 / width, words = p_.stored() / per;
    if (!can_take("a", first, words)) return false;
    for (int row = 0; row < mma_.m; ++row)
      for (int w = 0; w < words; ++w) {
        layout::DataPlace place = layout::place_of_a(path_, row, w, 0);
        if (flag(shifts_rows) && place.lane % 32 != 31) ++place.lane;  // as tcgen05.shift would have moved them (docs/facts.md)
        bool written = true;
        const auto word = read_copies("a", place.cta, first.lane + place.lane, first.column + place.column,
                                      layout::copies_of_a(path_), written);
        if (!word) return false;
        if (!written) room_.undefined_rows[index_of(row)] = true;
        each_element(*word, per, width, [&](int j, std::uint32_t raw) { element(row, w * per + j) = raw >> shift & ones; });
      }
    return true;
  }

  bool read_b() {
    const int n = mma_.n, shift = shift_of_columns();
    if (shift < 0) return false;
    room_.b.assign(index_of(p_.k * n), 0);
    room_.undefined_columns.assign(index_of(n), false);
    const auto from = descriptor(b_at, "b", mma_.b_transposed, b_bits_);
    if (!from) return false;
    std::uint32_t left_out = 0;  // where what lies before the first column goes, and behind the last of its piece
    const int piece = mma_.b_transposed && shift != 0 ? packing(b_bits_).per_piece : 1;
    for (int cta = 0; cta < group_; ++cta) {  // each has its part of the columns
      const int first = cta * (n / group_), count = (n / group_ + shift + piece - 1) / piece * piece;
      const auto is_used = [&](int column) { return column >= shift && column - shift < n / group_; };
      SharedOperand read{warp_, step_, "b", lane_, *ctas_[index_of(cta)]};
      if (!read(
              *from, mma_.b_transposed, 0, count, p_.k, packing(b_bits_),
              [&](int column, int k) -> std::uint32_t& {
                return is_used(column) ? room_.b[index_of(k * n + first + column - shift)] : left_out;
              },
              [&](int column) {
                if (is_used(column)) room_.undefined_columns[index_of(first + column - shift)] = true;
              }))
        return false;
    }
    if (mma_.b_negated) negate(room_.b, b_bits_);
    if (!flag(zeroes_columns)) return true;
    const std::uint64_t zeros = wide(zero_columns_at);
    for (int column = 0; column < n; ++column) {
      if (!layout::is_zero_column(zeros, mma_.m, column, n)) continue;
      room_.undefined_columns[index_of(column)] = false;
      for (int k = 0; k < p_.k; ++k) room_.b[index_of(k * n + column)] = 0;
    }
    return true;
  }
  // The column of b that column 0 of d is of; -1: a fault was recorded. The mask's zeros are of d's columns.
  int shift_of_columns() {
    if (!flag(zeroes_columns)) return 0;
    const int shift = static_cast<int>(wide(zero_columns_at) >> 56 & 0x3F);
    const int most = mma_.max_shift == 0 ? 0 : 4 << mma_.max_shift, fits = std::min(most, mma_.m == 32 ? 16 : 32);
    if (shift <= fits) return shift;
    fail(Kind::bad_descriptor,
         cat("shifts the columns of b by ", shift, " (bits 56 to 61 of the zero-column mask descriptor); what ",
             "fits is at most ", fits, most == fits ? ", the maximum shift in the instruction descriptor" : ""));
    return -1;
  }

  bool read_metadata() {
    room_.columns.clear();
    if (!mma_.sparse) return true;
    const bool selects = kind_ == MmaWord::f16 || kind_ == MmaWord::tf32;
    if (!selects && mma_.sparsity_selector != 0)
      return fail(Kind::bad_descriptor, cat("is given sparsity selector ", mma_.sparsity_selector, "; what fits is 0"));
    if (mma_.sparsity_selector > 1)
      return fail(Kind::not_executed, cat("has sparsity selector ", mma_.sparsity_selector,
                                          ", of which nobody has told the columns; what is executed is 0 and 1"));
    const int bits = is_packed(kind_) ? 4 : std::max(a_bits_ == 32 || a_bits_ == 16 ? a_bits_ : 8, 8), stored = p_.stored();
    layout::TensorAddress first = address(e_at);
    first.lane &= 0x3FFF;
    if (layout::takes_half(path_) && first.lane != address(d_at).lane)
      return fail(Kind::tensor_memory_misuse,
                  cat("has the metadata of a at lane ", first.lane, " of tensor memory, and d at lane ", address(d_at).lane,
                      ": they begin at the same lane"));
    const int kept = kind_ == MmaWord::tf32 ? 1 : is_packed(kind_) ? 4 : 2;  // elements of a group
    const int columns = layout::place_of_metadata(path_, bits, 0, stored / kept - 1).column + 1 + mma_.sparsity_selector;
    if (!can_take("the metadata of a", first, columns)) return false;
    room_.columns.resize(index_of(mma_.m * stored));
    const int copies = flag(weights_stationary) ? layout::tensor_lanes / mma_.m : 1;
    for (int row = 0; row < mma_.m; ++row)
      for (int s = 0; s < stored; ++s) {
        const auto place = layout::place_of_metadata(path_, bits, row % rows_of_cta(), s / kept);
        bool written = true;
        const auto word = read_copies("the metadata of a", row / rows_of_cta(), first.lane + place.lane,
                                      first.column + place.column + mma_.sparsity_selector, copies, written);
        if (!word) return false;
        if (!written) room_.undefined_rows[index_of(row)] = true;
        room_.columns[index_of(row * stored + s)] = static_cast<std::uint8_t>(column_of_indices(p_, *word >> place.bit & 15, s));
      }
    return true;
  }

  bool read_scales() {
    if (!is_scaled(kind_)) return true;
    room_.a_scales.clear(), room_.b_scales.clear();
    for (int cta = 0; cta < group_; ++cta)  // each has those of its rows of a, and all of b
      if (!read_scales("the scales of a", cta, a_scales_at, rows_of_cta(), mma_.a_scale_id, room_.a_scales, cta * rows_of_cta(),
                       room_.undefined_rows))
        return false;
    if (!read_scales("the scales of b", 0, b_scales_at, mma_.n, mma_.b_scale_id, room_.b_scales, 0, room_.undefined_columns))
      return false;
    if (group_ == 1) return true;
    const std::vector<std::uint8_t> of_first = std::exchange(room_.b_scales, {});
    if (!read_scales("the scales of b", 1, b_scales_at, mma_.n, mma_.b_scale_id, room_.b_scales, 0, room_.undefined_columns))
      return false;
    return of_first == room_.b_scales ||
           fail(Kind::tensor_memory_misuse, "has other scales of b in the one CTA of the pair than in the other");
  }
  // Those of one CTA, put behind the ones that are there.
  bool read_scales(std::string_view name, int cta, OperandAt at, int rows, int id, std::vector<std::uint8_t>& scales_of,
                   int first_row, std::vector<bool>& undefined) {
    const int each = scales(), aligned = !mma_.k96 ? each : each == 6 ? 2 : 1;
    if (id % aligned != 0)
      return fail(Kind::bad_descriptor, cat("takes ", name, " from byte ", id, " on; ", each, " of a row do not begin there"));
    layout::TensorAddress first = address(at);
    first.lane &= 0x3FFF;
    const bool in_halves = at == b_scales_at && path_ == layout::DataPath::b;
    const int further = layout::columns_to_further_scales(rows), last = id + each - 1;
    if (!can_take(name, first, (in_halves ? rows / 64 : (rows + 31) / 32) + last / 4 * further)) return false;
    for (int row = 0; row < rows; ++row) {
      const layout::TensorAddress place = in_halves ? layout::place_of_scales_in_halves(row, rows) : layout::place_of_scales(row);
      std::array<std::uint32_t, 2> words{};
      for (int w = 0; w <= last / 4; ++w) {
        bool written = true;
        const auto word =
            read_copies(name, cta, place.lane, first.column + place.column + w * further, in_halves ? 2 : 4, 32, written);
        if (!word) return false;
        if (!written) undefined[index_of(first_row + row)] = true;
        words[index_of(w)] = *word;
      }
      for (int i = id; i <= last; ++i) scales_of.push_back(static_cast<std::uint8_t>(words[index_of(i / 4)] >> 8 * (i % 4)));
    }
    return true;
  }

  // use(element, CTA, lane, column) for all of d.
  template <class Use>
  void each_d(Use use) {
    const layout::TensorAddress first = address(d_at);
    for (int row = 0; row < mma_.m; ++row)
      for (int column = 0; column < mma_.n; ++column) {
        const layout::DataPlace place = layout::place_of_d(path_, row, column, mma_.n);
        const int lane = first.lane + place.lane;
        use(index_of(row * mma_.n + column), place.cta, lane, first.column + place.column);
      }
  }

  bool read_d() {
    const int columns = layout::place_of_d(path_, 0, mma_.n / copies() - 1, mma_.n).column + 1;
    if (!can_take("d", address(d_at), columns, true)) return false;
    const bool adds = has_lane(warp_.pred(slots_[enable_at]) ^ slots_[enable_flip_at], lane_);
    room_.d.assign(index_of(mma_.m * mma_.n), 0);
    room_.d_marks.assign(room_.d.size(), written_mark);
    if (!adds) return true;
    each_d([&](std::size_t i, int cta, int lane, int column) {
      const std::uint8_t mark = memory(cta).mark(lane, column);
      room_.d[i] = memory(cta).cell(lane, column);
      if (mark == written_mark) return;
      room_.d_marks[i] = undefined_mark;
      memory(cta).note_undefined(say_unwritten_cell("adds to", lane, column, mark));
    });
    if (step_.x[3] == 0) return true;
    for (std::uint32_t& raw : room_.d) {  // d / 2^scale, as f32 also where d is f16
      const float value = p_.c_half ? num::from_f16(static_cast<std::uint16_t>(raw)) : std::bit_cast<float>(raw);
      raw = num::bits_of(num::canonical(std::ldexp(value, -static_cast<int>(step_.x[3]))));
    }
    p_.c_half = false;
    return true;
  }
  [[nodiscard]] int copies() const { return layout::copies_of_a(path_); }

  bool multiply_and_store() {
    if (is_scaled(kind_))
      multiply_scaled(p_, is_packed(kind_), mma_.scale_dtype == "ue4m3", scales(),
                      {room_.a, room_.b, nullptr, room_.d, room_.columns}, room_.a_scales, room_.b_scales);
    else
      multiply(p_, {room_.a, room_.b, nullptr, room_.d, room_.columns}, warp_.cta->launch->options.numerics);
    std::array<std::uint32_t, 8> disabled{};
    if (step_.x[4] != 0)
      for (std::size_t i = 0; i < index_of(4 * group_); ++i)
        disabled[i] = warp_.slot<std::uint32_t>(slots_[disabled_at + i])[lane_];
    each_d([&](std::size_t i, int cta, int lane, int column) {
      if ((disabled[index_of(4 * cta + lane / 32)] >> lane % 32 & 1) != 0) return;
      const auto n = static_cast<std::size_t>(mma_.n);
      const bool undefined = room_.undefined_rows[i / n] || room_.undefined_columns[i % n];
      memory(cta).cell(lane, column) = room_.d[i];
      memory(cta).mark(lane, column) = undefined ? undefined_mark : room_.d_marks[i];
    });
    for (Cta* cta : ctas_) ++cta->changes;
    if (warp_.observer != nullptr) warp_.observer->multiply(warp_, step_, {mma_.m, mma_.n, p_.k, a_bits_, group_});
    return true;
  }

  Warp& warp_;
  const Step& step_;
  int lane_;
  std::span<const std::uint32_t> slots_;
  MmaWord kind_;
  int group_;
  std::array<Cta*, 2> ctas_;
  layout::DecodedMma mma_;
  layout::DataPath path_{};
  Product p_;
  int a_bits_ = 16, b_bits_ = 16;
  static thread_local Room room_;
};
thread_local Room Issue::room_;

Outcome mma_in_tensor_memory(Warp& warp, const Step& step, Mask mask) {
  const bool was_traced = warp.traced;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const races::Performing performing(warp, [&] { return warp.races->begin_product(warp, step, left & (0 - left)); });
    if (!Issue(warp, step, lowest_lane(left)).run()) return Outcome::fault;
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

/// What the manual leaves open of a product, where that may matter for what its descriptors say when it runs (docs/facts.md).
std::string_view what_is_inferred(const Decoding& in, MmaWord kind) {
  if (in.wrote("ashift"))
    return "the rows of a are taken as others saw tcgen05.shift move them on a B200; of .ashift nobody has told";
  if (is_packed(kind) && isa::info(in.target()).base == 103)
    return "with K = 96, all products of an element are aligned at once, as the 64 of others are, which is inferred; else as the "
           "manual says; no GPU has been asked";
  if (in.given("e") && (kind == MmaWord::i8 || kind == MmaWord::f8f6f4 || kind == MmaWord::mxf8f6f4))
    return "with 64 rows of a CTA, metadata lies as that of 16 and 32 bits does, which is inferred; else as the manual says; no "
           "GPU "
           "has been asked";
  if (in.given("zero_columns"))
    return "a shift of columns beyond the maximum in the instruction descriptor is refused, which is inferred; else as the "
           "manual "
           "says; no GPU has been asked";
  return {};
}

std::optional<MmaWord> word_of_kind(std::string_view word) {
  constexpr std::string_view words[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  for (std::size_t i = 0; i < std::size(words); ++i)
    if (word.ends_with(words[i]) && word.size() == words[i].size() + word.rfind(':') + 1) return static_cast<MmaWord>(i);
  return std::nullopt;
}

}  // namespace

namespace op {

Handler tcgen05_mma(Decoding& in) {
  const auto kind = word_of_kind(in.chosen("kind"));
  if (!kind) return in.refuse("the executor does not know its kind");
  in.step.x[0] = static_cast<std::uint32_t>(*kind);
  in.is_product = *kind != MmaWord::i8 && !is_scaled(*kind);
  const bool in_tensor_memory = in.operand_type("a") != Type::u64;
  in.step.x[1] = (in_tensor_memory ? a_in_tensor_memory : 0) | (in.wrote("ws") ? weights_stationary : 0) |
                 (in.given("e") ? a_sparse : 0) | (in.given("zero_columns") ? zeroes_columns : 0) |
                 (in.wrote("ashift") ? shifts_rows : 0) | (isa::info(in.target()).base == 103 ? has_k96 : 0);
  const std::string_view size = in.chosen("scale_size");
  if (size.starts_with("scale_vec")) in.step.x[1] |= counts_scales;
  in.inferred = what_is_inferred(in, *kind);
  in.step.x[2] = *kind == MmaWord::mxf8f6f4 ? 1 : size == "block16" || size == "scale_vec::4X" ? 4 : 2;
  in.step.x[5] = in.wrote("cta_group::2") ? 2 : 1;
  in.step.x[3] = static_cast<std::uint32_t>(in.immediate("scale").value_or(0));
  const auto address = [&](std::string_view name) { return in.given(name) ? in.read_full_address(name) : zero_offset; };
  const Decoding::Pred enable = in.read_pred("enable");
  const std::uint32_t slots[] = {address("d"),
                                 in_tensor_memory ? address("a") : in.read("a", Type::b64),
                                 in.read("b", Type::b64),
                                 in.read("idesc", Type::b32),
                                 address("e"),
                                 address("scale_a"),
                                 address("scale_b"),
                                 in.given("zero_columns") ? in.read("zero_columns", Type::b64) : zero_offset,
                                 enable.offset,
                                 enable.flip};
  in.add_operands(slots);
  if (in.given("disable")) {
    in.step.x[4] = 1;
    in.add_operands(in.read_all("disable", Type::b32));
  }
  return &vgpu::mma_in_tensor_memory;
}

}  // namespace op
}  // namespace ptx::vgpu
