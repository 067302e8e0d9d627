#include <algorithm>
#include <map>
#include <vector>

#include "ptx/isa/gen/gen.hpp"
#include "ptx/isa/gen/states.hpp"

namespace ptx::isa::gen {
namespace {

// The operands in front that `let` makes fresh registers for (write::destinations_of).
std::size_t destinations(const Form& f) {
  const auto is_fresh = [](const OperandSpec& o) { return is_result(o) && !o.type.empty(); };
  return static_cast<std::size_t>(std::find_if_not(f.operands.begin(), f.operands.end(), is_fresh) - f.operands.begin());
}

// The classes of `ptx.inst`, or those of `ptx.let`, whose calls take the sources alone and give the destination.
class Stubs {
 public:
  explicit Stubs(bool lets) : lets_(lets) {}

  // The attributes of the root, one for each opcode.
  std::string write() {
    std::map<std::string_view, State> by_opcode;
    std::vector<std::string_view> opcodes;
    for (const Form& f : forms()) {
      if (lets_ && destinations(f) == 0) continue;
      State& state = by_opcode[f.opcode];
      if (state.empty()) opcodes.push_back(f.opcode);
      state.push_back({f.id, 0});
    }
    std::string root;
    for (const std::string_view opcode : opcodes) {
      const State& state = by_opcode[opcode];
      const Form& first = form(state.front().form);
      root += cat("    ", identifier(opcode), ": ", class_of(state), "\n    \"\"\"`", opcode, "`: ", first.row->doc,
                  " Manual: ", manual(first), "\"\"\"\n");
    }
    return root;
  }
  [[nodiscard]] const std::string& classes() const { return classes_; }

 private:
  // The class of a state, written when first asked for: classes stand behind those they use, which a stub may refer to in any
  // order.
  const std::string& class_of(const State& state) {
    if (const auto it = names_.find(state); it != names_.end()) return it->second;
    const std::string opcode(form(state.front().form).opcode);
    const std::string& name = names_[state] = cat('_', identifier(opcode), lets_ ? "_let_" : "_", ++count_[opcode]);
    std::string body;
    for (const Next& next : next_of(state, lets_)) {
      body += cat("    ", identifier(next.word), ": ", class_of(next.state), '\n');
      if (!lets_) body += cat("    \"\"\"", describe(next), "\"\"\"\n");  // `ptx.inst` says it: half a megabyte
    }
    body += calls(state);
    classes_ += cat("class ", name, ":\n", body, '\n');
    return name;
  }

  // What a dot leads to and what it needs: "`fma.rnd{.ftz}{.sat}.f32 d, a, b, c`, PTX 2.0, `sm_20` or newer".
  static std::string describe(const Next& next) {
    const Form& first = form(next.state.front().form);
    const std::size_t more = next.state.size() - 1;
    const Version since = std::max(next.choice->since, first.row->since);
    return cat('`', first.syntax(), '`', more == 0 ? std::string() : cat(" and ", more, " more"), ", ",
               availability(since, next.choice->on != 0 ? next.choice->on : first.row->on));
  }

  // What stands at a place of a call, as bits: an operand that is left out lets those behind it move up.
  static constexpr unsigned value = 1, address = 2;
  static std::string_view type_of(unsigned kinds) {
    return kinds == value ? "ValueOperand" : kinds == address ? "AddressOperand" : "Operand";
  }

  // How many operands a form takes, and its parameters as Python names them.
  struct Call {
    std::size_t least = 0, most = 0;
    std::vector<std::string> parameters;
    std::vector<unsigned> kinds;  // of each place
    bool returns_first = false;
    std::string given;        // what `let` gives
    bool or_another = false;  // where `dtype` may choose a later form, which gives something else
    std::string doc;
  };

  Call call_of(const Place& place) const {
    const Form& f = form(place.form);
    Call call;
    std::size_t absent = 0;  // operands so far that may be
    const std::size_t fresh = lets_ ? destinations(f) : 0;
    for (std::size_t i = 0; i < f.operands.size(); ++i) {
      const OperandSpec& o = f.operands[i];
      if (o.piped || i < fresh) continue;  // `d | p` is one Python value
      const bool may_be_absent = o.optional || o.conditional;
      call.least += !may_be_absent;
      call.parameters.push_back(identifier(o.name));
      call.kinds.push_back(0);
      const unsigned kind = o.role == Role::address || o.role == Role::tensor ? address : value;
      for (std::size_t at = call.kinds.size() - 1 - absent; at < call.kinds.size(); ++at) call.kinds[at] |= kind;
      absent += may_be_absent;
    }
    call.most = call.parameters.size();
    call.returns_first = !lets_ && call.most > 0 && f.operands.front().access != Access::read;
    call.given = given_by(place, fresh);
    call.doc = cat("        ", f.syntax(), "\n\n        ", f.row->doc, '\n', "        ", availability(f.row->since, f.row->on),
                   ". Manual: ", manual(f), '\n');
    return call;
  }

  // What a call of `let` gives: a register, a list of a vector's, a tuple of two destinations.
  static std::string given_by(const Place& place, std::size_t fresh) {
    const Form& f = form(place.form);
    std::string all;
    for (std::size_t i = 0; i < fresh; ++i) {
      const std::string_view count = f.operands[i].count;
      const bool vector = !count.empty() && (f.slot(count) < 0 || place.vector);
      all += cat(i == 0 ? "" : ", ", vector ? "list[Reg]" : "Reg");
    }
    return fresh > 1 ? cat("tuple[", all, ']') : all;
  }

  // One __call__ for each number of operands; forms that the number does not tell apart share one.
  [[nodiscard]] std::string calls(const State& state) const {
    std::vector<Call> all;
    for (const Place& place : state) {
      if (!is_complete(place)) continue;
      Call call = call_of(place);
      for (auto it = all.begin(); it != all.end();) {
        if (it->least > call.most || call.least > it->most) {
          ++it;
          continue;
        }
        if (it->parameters.size() >= call.parameters.size()) call.parameters = it->parameters;
        call.kinds.resize(call.parameters.size());
        for (std::size_t i = 0; i < it->kinds.size(); ++i) call.kinds[i] |= it->kinds[i];
        call.least = std::min(call.least, it->least);
        call.most = std::max(call.most, it->most);
        call.returns_first = call.returns_first && it->returns_first;
        call.or_another = call.or_another || it->or_another || call.given != it->given;
        call.given = it->given;
        if (it->doc.find(call.doc) == std::string::npos)
          call.doc = cat(it->doc, '\n', call.doc);
        else
          call.doc = it->doc;
        it = all.erase(it);
      }
      all.push_back(std::move(call));
    }
    std::string out;
    const bool overloaded = all.size() > 1 || (!all.empty() && all.front().or_another);
    for (const Call& call : all) {
      std::string parameters;
      for (std::size_t i = 0; i < call.most; ++i)
        parameters += cat(", ", call.parameters[i], ": ", i == 0 && call.returns_first ? "D" : type_of(call.kinds[i]),
                          i >= call.least ? " = ..." : "");
      const auto add = [&](std::string_view dtype, std::string_view given) {
        out += cat(overloaded ? "    @overload\n" : "", "    def __call__(self", parameters, parameters.empty() ? "" : ", /",
                   ", *, ", dtype, "pred: Reg | NegPred | None = ...", lets_ ? ", other: ValueOperand | None = ..." : "", ") -> ",
                   given, ":\n        \"\"\"\n", call.doc, "        \"\"\"\n");
      };
      if (!lets_) {
        add("", call.returns_first ? "D" : "None");
      } else if (call.or_another) {
        add("", call.given);
        add("dtype: PtxType, ", "Any");
      } else {
        add("dtype: PtxType | None = ..., ", call.given);
      }
    }
    return out;
  }

  bool lets_;
  std::map<State, std::string> names_;
  std::map<std::string, int> count_;
  std::string classes_;
};

}  // namespace

std::string generate_pyi() {
  Stubs inst(false), let(true);
  const std::string inst_root = inst.write(), let_root = let.write();
  return cat(
      "# Written by isagen from ptx/isa/table.\n"
      "\"\"\"The dots of `ptx.inst` and `ptx.let`: every PTX instruction, in PTX's own spelling.\"\"\"\n\n"
      "from collections.abc import Sequence\n"
      "from typing import Any, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, overload\n\n"
      "from . import ir\n"
      "from ._ptx import (\n",
      "    Address,\n    BarrierSlot,\n    MbarrierArray,\n    MbarrierRef,\n    NegPred,\n    PipeRef,\n    PtxType,\n    Reg,\n"
      "    RegArray,\n    SharedAlloc,\n    SharedSlice,\n    TensorSpec,\n    TmaDescriptorHandle,\n)\n\n"
      "ValueOperand: TypeAlias = (\n    Reg\n    | SupportsIndex\n    | SupportsFloat\n    | str\n    | RegArray\n"
      "    | Sequence[\"ValueOperand\"]\n    | NegPred\n    | PipeRef\n    | SharedAlloc\n    | SharedSlice\n"
      "    | MbarrierArray\n    | MbarrierRef\n    | BarrierSlot\n    | TensorSpec\n    | TmaDescriptorHandle\n"
      "    | ir.Operand\n)\n"
      "\"\"\"A register, a number, the name of a symbol or label, or a list of them (a vector).\"\"\"\n"
      "AddressOperand: TypeAlias = Address | ir.Operand\n\"\"\"What `ptx.addr` gives: `[…]`.\"\"\"\n"
      "Operand: TypeAlias = ValueOperand | AddressOperand\n\"\"\"Where some forms have an address, and others a value.\"\"\"\n"
      "D = TypeVar(\"D\", bound=Reg | RegArray | list[Any] | tuple[Any, ...] | PipeRef | str | ir.Operand)\n\n",
      inst.classes(), let.classes(),
      "class Inst:\n    \"\"\"`ptx.inst.<opcode>.<modifier>…(operands)` writes one instruction.\"\"\"\n\n"
      "    def _raw_emit(self, text: str, /) -> None:\n        \"\"\"Writes a statement as text, as it is.\"\"\"\n\n",
      inst_root,
      "\nclass Let:\n    \"\"\"`ptx.let.<opcode>.<modifier>…(sources)` writes one instruction into a fresh register, which it "
      "gives.\n\n    A vector is a list of registers, two destinations are a tuple. `dtype` is the type of the destination, "
      "where\n    "
      "another one fits than the row's; `other` is what threads have whose `pred` is false.\n    \"\"\"\n\n",
      let_root, "\ninst: Inst\nlet: Let\n");
}

}  // namespace ptx::isa::gen
