// A kernel written in C++: the twin of Python's @kernel. Declarations return typed handles, `k << inst…` appends instructions,
// and errors are kept, with the author's line, until module() hands over the IR or the first of them.
//
//   Kernel k({.name = "scale", .in_specs = {{"X", {n}, f32}}, .out_specs = {{"Y", {n}, f32}}, .grid = n / 128, .block = 128});
//   auto [px, py] = k.global_ptrs("X", "Y");
//   auto i = k.from_<u32>(ctaid_x) * 128 + k.from_<u32>(tid_x);
//   auto v = k.scalar<f32>();
//   k << inst.ld.global_.f32(v, addr(px + i * 4));
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/base/brief.hpp"
#include "ptx/ir/brief.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/tile/brief.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/door/copies.hpp"
#include "ptx/write/door/matrix.hpp"
#include "ptx/write/door/scalar.hpp"
#include "ptx/write/door/smem.hpp"
#include "ptx/write/door/sync.hpp"
#include "ptx/write/door/tcgen05.hpp"
#include "ptx/write/door/wgmma.hpp"
#include "ptx/write/idiom/warp.hpp"
#include "ptx/write/instruction.hpp"
#include "ptx/write/registers.hpp"
#include "ptx/write/typed_let.hpp"

namespace ptx {

/// A tensor of the kernel's boundary: its parameter's name, shape, element type and layout. `{"X", {"M", 512}, f32}`.
struct TensorSpec {
  std::string name{};
  std::vector<tile::Dim> shape{};
  Type dtype = Type::none;
  Layout layout = Layout::row;
  // Of its TMA descriptor, as in Tile (ptx/tile/tile.hpp); an empty box is Tile's default.
  std::vector<tile::Dim> tma_box = {};
  int tma_rank = 2;
  bool tma_padding = false;
};

/// A scalar parameter, behind the tensors: `{"n", u32}`.
struct ScalarSpec {
  std::string name{};
  Type type = Type::none;
};

/// The TMA descriptor of a tensor where the one made of its tile does not do: a map, or a function of the dimensions' sizes.
struct TensorMapSpec {
  std::string tensor{};
  layout::TensorMap map{};
  Function<Expected<layout::TensorMap>(const Sizes&)> of_sizes{};  ///< in place of `map`, when there is one
};

/// An output that is written where an input lies, which the kernel changes; each counted from 0.
struct AliasSpec {
  std::uint32_t input = 0, output = 0;
};

/// What a kernel is besides its body.
struct KernelSpec {
  // Every field has an initialiser, so that `{.name = …}` leaves none that a compiler warns of.
  std::string name{};
  std::vector<TensorSpec> in_specs{}, out_specs{};  ///< inputs, then outputs: the entry's first parameters, all pointers
  std::vector<ScalarSpec> raw_params{};             ///< the entry's further parameters
  /// Blocks, threads, blocks; sizes may be open: `dim("N") / 128`. What is compiled for a launch has a grid.
  Extent grid{}, block{}, cluster{};
  std::uint32_t smem = 0;        ///< bytes of dynamic shared memory; above 48 KiB, what `smem` allocates is a part of it
  std::string extern_smem = {};  ///< name of an `.extern .shared .align 128 .b8 name[];` of the author's; empty: none
  Target arch = Target::sm_90a;
  std::optional<Version> version{};             ///< nothing: write::default_version(arch)
  std::vector<ir::Directive> raw_directives{};  ///< `.maxntid` and the like
  // The launch attributes, a field for each line there: `bool cooperative = false;` and its like.
#define PTX_LAUNCH_ATTRIBUTE(name, number, says, guide) bool name = false;
#include "ptx/tile/launch_attributes.inc"
  bool tma_by_value = false;  ///< TMA descriptors are parameters themselves, not addresses
  std::vector<TensorMapSpec> tensor_maps{};
  std::vector<AliasSpec> input_output_aliases{};
  std::vector<std::uint32_t> inputs_apart{};  ///< inputs that no output may be: those read again when parts of it are written
};

class Tile;       // ptx/tile/tile.hpp
struct Boundary;  // ptx/write/boundary.hpp

class Module;
class Func;
namespace write {
class ModuleBuilder;
struct Held;

/// A function where it is called, with the author's line.
struct CallOf {
  const Func& function;
  SourceLocation at;
  CallOf(const Func& f, SourceLocation where = SourceLocation::current())
      : function(f), at(where) {}  // NOLINT(google-explicit-constructor)
};
std::vector<Reg> write_call(Builder& builder, const CallOf& function, std::span<const Value> arguments);
}  // namespace write

/// What is written into: the body of a kernel or of a device function.
class Body : public write::Scalar<Body>, public write::Sync<Body> {
 public:
  // -- registers
  /// One register; named ones are declared by themselves.
  template <Type T>
  Reg<T> reg(std::string_view name = {}, SourceLocation at = SourceLocation::current()) {
    return write::fresh_value<T>(*builder_, {}, [&] { return builder_->reg(T, name, at); });
  }
  /// One register without a value.
  template <Type T>
  Reg<T> scalar(SourceLocation at = SourceLocation::current()) {
    return reg<T>({}, at);
  }
  /// One register and `mov.<T> r, init`.
  template <Type T>
  Reg<T> scalar(const write::Source& init) {
    return write::fresh_value<T>(*builder_, {init.value}, [&] { return write::scalar(*builder_, T, init.value, {}, init.at); });
  }
  /// A fresh register and `mov.<T> r, source`.
  template <Type T>
  Reg<T> from_(const write::Source& source) {
    return write::fresh_value<T>(*builder_, {source.value},
                                 [&] { return write::move_to_fresh(*builder_, T, source.value, source.at); });
  }
  /// A fresh register and `mov.<T> r, name`: the address of a variable in its state space.
  template <Type T>
  Reg<T> address_of(const write::Name& name) {
    return write::fresh_value<T>(*builder_, {},
                                 [&] { return write::move_to_fresh(*builder_, T, write::Value::of_symbol(name.text), name.at); });
  }
  /// `count` registers.
  template <Type T, write::Number Count>
  RegArray<T> array(Count count, std::string_view name = {}, SourceLocation at = SourceLocation::current()) {
    return {*builder_, registers(T, static_cast<std::int64_t>(count), name, at)};
  }
  /// The registers of one thread for an m x n accumulator of a warpgroup: m * n / 128 in a row. What does not divide among its
  /// threads is an error of the kernel, of kind bad_declaration.
  template <Type T, write::Number M, write::Number N>
  RegArray<T> wgmma_frag(M m, N n, std::string_view name = {}, SourceLocation at = SourceLocation::current()) {
    return {*builder_, fragment(T, static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), name, at)};
  }
  /// N registers in a row, for instructions that take a vector.
  template <Type T, std::size_t N>
  RegVec<T, N> vec(std::string_view name = {}, SourceLocation at = SourceLocation::current()) {
    return array<T>(N, name, at).template vec<N>({0, at});
  }

  // -- variables
  /// `.shared .align <align> .<type> name[elements];`; align 0 leaves it out. Returns its address in .shared.
  Addr<Type::none> shared(const write::Name& name, Type type, std::uint64_t elements, std::uint32_t align = 0);

  // -- instructions and labels
  Body& operator<<(const Inst& instruction) {
    instruction.emit_into(*builder_);
    return *this;
  }
  /// One instruction into a fresh register of its row's type, which it gives (a RegVec for a vector, a pair for `d|p`):
  /// `auto x = k.let(inst.fma.rn.f32, a, b, c);` `k.let<u32>(inst.ld.global_.u8, addr(p))` names another type that fits. `on(p)`
  /// behind the sources is its guard, and `on(p).other(0)` what the register has in threads that it keeps out.
  template <Type D = Type::none, class Node>
  auto let(const Node& node, SourceLocation at = SourceLocation::current()) {
    return let_at<D>(node, at);
  }
  template <Type D = Type::none, class Node, class A>
  auto let(const Node& node, A a, SourceLocation at = SourceLocation::current()) {
    return let_at<D>(node, at, std::move(a));
  }
  template <Type D = Type::none, class Node, class A, class B>
  auto let(const Node& node, A a, B b, SourceLocation at = SourceLocation::current()) {
    return let_at<D>(node, at, std::move(a), std::move(b));
  }
  template <Type D = Type::none, class Node, class A, class B, class C>
  auto let(const Node& node, A a, B b, C c, SourceLocation at = SourceLocation::current()) {
    return let_at<D>(node, at, std::move(a), std::move(b), std::move(c));
  }
  template <Type D = Type::none, class Node, class A, class B, class C, class E>
  auto let(const Node& node, A a, B b, C c, E e, SourceLocation at = SourceLocation::current()) {
    return let_at<D>(node, at, std::move(a), std::move(b), std::move(c), std::move(e));
  }
  template <Type D = Type::none, class Node, class A, class B, class C, class E, class F>
  auto let(const Node& node, A a, B b, C c, E e, F f, SourceLocation at = SourceLocation::current()) {
    return let_at<D>(node, at, std::move(a), std::move(b), std::move(c), std::move(e), std::move(f));
  }
  /// `call (r), function, (arguments…);` of a function of the same module; its result, in a fresh register.
  template <Type R, std::convertible_to<write::Source>... A>
  Reg<R> call(const write::CallOf& function, const A&... arguments) {
    const std::vector<write::Reg> results = call_with(function, arguments...);
    return {*builder_, one_result(function, results, R)};
  }
  /// The same of one without a result.
  template <std::convertible_to<write::Source>... A>
  void call(const write::CallOf& function, const A&... arguments) {
    call_with(function, arguments...);
  }
  /// Defines the label here.
  Body& operator<<(const write::Definition& label) {
    keep(builder_->label(label.name, label.at));
    return *this;
  }

  // -- control flow (write/control.hpp says which instructions)
  template <std::invocable Then>
  void if_(const Reg<Type::pred>& p, Then then, SourceLocation at = SourceLocation::current()) {
    branch(write::Value::of(p.untyped()), then, at);
  }
  template <std::invocable Then>
  void if_(const NegatedPred& p, Then then, SourceLocation at = SourceLocation::current()) {
    branch(negated(p), then, at);
  }
  template <std::invocable Then, std::invocable Else>
  void if_(const Reg<Type::pred>& p, Then then, Else otherwise, SourceLocation at = SourceLocation::current()) {
    branch(write::Value::of(p.untyped()), then, at);
    branch_else(otherwise, at);
  }
  template <std::invocable Then, std::invocable Else>
  void if_(const NegatedPred& p, Then then, Else otherwise, SourceLocation at = SourceLocation::current()) {
    branch(negated(p), then, at);
    branch_else(otherwise, at);
  }
  /// The first block whose condition is true, tested in their order; a condition is a function, which writes its comparison where
  /// it is tested: `k.if_else({{[&] { return r == 0; }, [&] { … }}, {[&] { return r == 1; }, [&] { … }}}, [&] { … });`
  struct Case {
    Function<Reg<Type::pred>()> condition;
    Function<void()> then;
  };
  void if_else(const std::vector<Case>& cases, const Function<void()>& otherwise = {},
               SourceLocation at = SourceLocation::current());
  /// Runs the body as long as the condition, which is tested before each pass, is true.
  template <std::invocable Condition, std::invocable Then>
    requires(std::same_as<std::invoke_result_t<Condition>, Reg<Type::pred>>)
  void while_(Condition condition, Then then, SourceLocation at = SourceLocation::current()) {
    auto open = write::begin_while(*builder_, at);
    if (!open) return builder_->fail(std::move(open).error());
    {
      const write::RunningBody running(*builder_, "while_", at);
      keep(write::test_while(*builder_, *open, write::Value::of(condition().untyped()), at));
      then();
    }
    keep(write::end_while(*builder_, *open, at));
  }
  /// Runs the body while the predicate that it returns is true, once at least.
  template <std::invocable Body>
    requires(std::same_as<std::invoke_result_t<Body>, Reg<Type::pred>>)
  void loop(const write::Name& label, Body body) {
    keep(write::begin_loop(*builder_, label.text, label.at));
    const Reg<Type::pred> again = run("loop", body, label.at);
    keep(write::end_loop(*builder_, label.text, {again.untyped(), false}, label.at));
  }
  /// Runs the body for ever: it leaves by a branch.
  template <std::invocable Body>
    requires(std::is_void_v<std::invoke_result_t<Body>>)
  void loop(const write::Name& label, Body body) {
    keep(write::begin_loop(*builder_, label.text, label.at));
    run("loop", body, label.at);
    keep(write::end_loop(*builder_, label.text, {}, label.at));
  }
  /// body(counter) for counter = start, start + step, … below stop; the bounds may be registers. The body is written once.
  template <std::invocable<Reg<Type::s32>> Body>
  void range_(const write::Source& start, const write::Source& stop, const write::Source& step, Body body) {
    auto open = write::begin_range(*builder_, start.value, stop.value, step.value, start.at);
    if (!open) return builder_->fail(std::move(open).error());
    run("range_", [&] { body(Reg<Type::s32>(*builder_, open->counter)); }, start.at);
    keep(write::end_range(*builder_, *open, start.at));
  }
  /// A block `{ … }` with registers and labels of its own.
  template <std::invocable Body>
  void scope(Body body, SourceLocation at = SourceLocation::current()) {
    builder_->open_block(at);
    run("scope", body, at);
    keep(builder_->close_block(at));
  }

  /// While the result lives, what is written lies in `function`, a helper that was called at `at`: profilers show both lines.
  ///     void load_tile(Kernel& k, …, Where at = SourceLocation::current()) { const auto in = k.helper("load_tile", at); … }
  [[nodiscard]] write::Helper helper(std::string_view function, SourceLocation at) { return {*builder_, function, at}; }

  [[nodiscard]] write::Builder& builder() { return *builder_; }

  Body(Body&&) noexcept = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  Body& operator=(Body&&) = delete;
  ~Body() = default;

 protected:
  explicit Body(Owned<write::Held> held);
  template <Type T>
  Reg<T> typed(Expected<write::Reg> reg) {
    return {*builder_, write::keep_error(*builder_, std::move(reg), T)};
  }
  /// body(), of such a construct
  template <class Body>
  auto run(std::string_view construct, Body&& body, SourceLocation at) {
    const write::RunningBody running(*builder_, construct, at);
    return body();
  }
  template <class Body>
  void branch(const write::Value& predicate, Body& body, SourceLocation at) {
    auto open = write::begin_if(*builder_, predicate, at);
    if (!open) return builder_->fail(std::move(open).error());
    run("if_", body, at);
    keep(write::end_if(*builder_, *open, at));
  }
  template <class Body>
  void branch_else(Body& body, SourceLocation at) {
    auto open = write::begin_else(*builder_, at);
    if (!open) return builder_->fail(std::move(open).error());
    run("if_", body, at);
    keep(write::end_else(*builder_, *open, at));
  }
  static write::Value negated(const NegatedPred& p) {
    write::Value value = write::Value::of(p.reg.untyped());
    value.negated = true;
    return value;
  }
  template <Type D, class Node, class... X>
  auto let_at(const Node& node, SourceLocation at, X... sources) {
    if constexpr ((write::is_on<X> || ...)) {
      return let_on<D>(node, at, std::make_index_sequence<sizeof...(X) - 1>(), std::tuple(std::move(sources)...));
    } else {
      return let_of<D>(node, at, nullptr, std::move(sources)...);
    }
  }
  template <Type D, class Node, std::size_t... I, class All>
  auto let_on(const Node& node, SourceLocation at, std::index_sequence<I...> /*sources*/, All all) {
    static_assert(write::is_on<std::tuple_element_t<sizeof...(I), All>>, "`on(p)` stands behind the sources of `let`, once");
    return let_of<D>(node, at, &std::get<sizeof...(I)>(all), std::move(std::get<I>(all))...);
  }
  template <Type D, class Node, class... X>
  auto let_of(const Node& node, SourceLocation at, const write::On* mask, X... sources) {
    constexpr dots::LetShape shape = dots::let_shape<D, Node, X...>();
    static_assert(shape.exists, "this instruction has no result that a fresh register could take; write it with `k << inst…`");
    std::array<write::Value, sizeof...(X) + 2> values = {write::operand_value(sources)...};
    if (mask != nullptr) values[sizeof...(X)] = mask->predicate.value();
    if (mask != nullptr && mask->instead) values.back() = mask->instead->value;
    const write::Builder::Mark begin = builder_->begin_value(values);
    auto fresh = dots::make_fresh<shape>(*builder_, at);
    if (mask != nullptr && mask->instead) write::preset(*builder_, dots::untyped_of(fresh), *mask->instead);
    const auto put = [&](const auto& destination) {
      Inst written = node(destination, std::move(sources)..., at);
      if (mask == nullptr)
        written.emit_into(*builder_);
      else if (mask->negated)
        std::move(written).unless(mask->predicate).emit_into(*builder_);
      else
        std::move(written).on(mask->predicate).emit_into(*builder_);
    };
    if constexpr (dots::is_pair<shape>) {
      put(fresh.first | fresh.second);
      return fresh;
    } else {
      put(fresh);
      if constexpr (requires { fresh.untyped().id; }) {
        builder_->end_value(begin, fresh.untyped());
        return decltype(fresh)(*builder_, fresh.untyped(), write::Fresh(true));
      } else {
        return fresh;
      }
    }
  }
  template <class... A>
  std::vector<write::Reg> call_with(const write::CallOf& function, const A&... arguments) {
    const std::array<write::Value, sizeof...(A)> values = {write::Source(arguments).value...};
    return write::write_call(*builder_, function, values);
  }
  write::Reg one_result(const write::CallOf& function, const std::vector<write::Reg>& results, Type type);
  write::RegArray registers(Type type, std::int64_t count, std::string_view name, SourceLocation at);
  write::RegArray fragment(Type type, std::int64_t m, std::int64_t n, std::string_view name, SourceLocation at);
  void keep(Expected<void> done) {
    if (!done) builder_->fail(std::move(done).error());
  }

  Owned<write::Held> held_;
  write::Builder* builder_;  // in held_; registers point at it: it stays where it is when the body moves

 public:
  // -- groups of helpers (write/door)
  write::Smem smem{*builder_};
  write::Mbarrier mbarrier{*builder_};
  write::Fence fence{*builder_};
  write::Cluster cluster{*builder_};
  write::Bar bar{*builder_};
  write::Cp cp{*builder_};
  write::Tma tma{*builder_};
  write::Ldmatrix ldmatrix{*builder_};
  write::Stmatrix stmatrix{*builder_};
  write::StmatrixX4TransF32Bf16 stmatrix_x4_trans_f32_bf16{*builder_};
  write::Mma mma{*builder_};
  write::Wgmma wgmma{*builder_};
  write::Tcgen05 tcgen05{*builder_};
};

class Kernel : public Body {
 public:
  /// What is no launch or no tensor is an error of the kernel, at this line: an extent of 0, a dimension in an extent that no
  /// tensor has, a tensor map or an alias of a tensor that is not there.
  explicit Kernel(KernelSpec spec, SourceLocation at = SourceLocation::current());
  /// A kernel of a module, whose target and version it has; what the module declares is in its text, in front of it.
  Kernel(Module& module, KernelSpec spec, SourceLocation at = SourceLocation::current());

  // -- parameters
  /// Per name `ld.param.u64 r, [name]; cvta.to.global.u64 r, r;`
  template <std::convertible_to<std::string_view>... More>
  std::array<Reg<Type::b64>, 1 + sizeof...(More)> global_ptrs(const write::Name& first, const More&... more) {
    return {global_ptr(first), global_ptr({std::string_view(more), first.at})...};
  }
  /// The address of a tensor's TMA descriptor, loaded at the kernel's start: `ld.param.u64 r, [<tensor>_tma_desc]`. Kind
  /// undefined_symbol: the kernel has tensors, and no such one.
  Reg<Type::u64> tma_desc(const write::Name& tensor) { return typed<Type::u64>(descriptor_of(tensor)); }
  /// `ld.param.<T> r, [name]`: a scalar parameter.
  template <Type T>
  Reg<T> param(const write::Name& name) {
    return write::fresh_value<T>(*builder_, {}, [&] { return write::load_param(*builder_, T, name.text, name.at); });
  }

  // -- the end
  /// The module, or the first error of its writing. The kernel is spent.
  [[nodiscard]] Expected<ir::Module> module();
  /// The tensors and the launch, as declared (ptx/write/boundary.hpp).
  [[nodiscard]] const Boundary& boundary() const { return *boundary_; }

 private:
  friend class Module;
  [[nodiscard]] Expected<write::Reg> descriptor_of(const write::Name& tensor);
  void declare(const TensorSpec& spec, std::span<const TensorMapSpec> maps, std::vector<Tile>& tiles, SourceLocation at);
  void launch(KernelSpec& spec, SourceLocation at);
  Expected<ir::Module> finish();
  Reg<Type::b64> global_ptr(const write::Name& name) {
    return typed<Type::b64>(write::global_ptr(*builder_, name.text, name.at));
  }
  Kernel(KernelSpec&& spec, Module* module, SourceLocation at);

  Owned<Boundary> boundary_;
};

/// Warp-wide idioms (write/idiom/warp.hpp): in place, over groups of `width` lanes.
namespace warp {
template <Type T>
  requires(isa::bits(T) == 32 && isa::kind(T) != isa::TypeKind::packed)
void reduce(write::idiom::Reduction op, const Reg<T>& value, int width, SourceLocation at) {
  if (auto done = write::idiom::warp_reduce(value.builder(), op, value.untyped(), width, at); !done)
    value.builder().fail(std::move(done).error());
}
template <Type T>
void reduce_sum(const Reg<T>& value, int width = 32, SourceLocation at = SourceLocation::current()) {
  reduce(write::idiom::Reduction::sum, value, width, at);
}
template <Type T>
void reduce_max(const Reg<T>& value, int width = 32, SourceLocation at = SourceLocation::current()) {
  reduce(write::idiom::Reduction::max, value, width, at);
}
template <Type T>
void reduce_min(const Reg<T>& value, int width = 32, SourceLocation at = SourceLocation::current()) {
  reduce(write::idiom::Reduction::min, value, width, at);
}
}  // namespace warp

}  // namespace ptx
