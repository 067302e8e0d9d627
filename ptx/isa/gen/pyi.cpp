#include <algorithm>
#include <map>
#include <vector>

#include "ptx/isa/gen/gen.hpp"
#include "ptx/isa/gen/states.hpp"

namespace ptx::isa::gen {
namespace {

class Stubs {
 public:
  std::string write() {
    std::map<std::string_view, State> by_opcode;
    std::vector<std::string_view> opcodes;
    for (const Form& f : forms()) {
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
    return cat(
        "# Written by isagen from ptx/isa/table.\n"
        "\"\"\"The dots of `ptx.inst`: every PTX instruction, in PTX's own spelling.\"\"\"\n\n"
        "from collections.abc import Sequence\n"
        "from typing import Any, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, overload\n\n"
        "from . import ir\n"
        "from ._ptx import (\n",
        "    Address,\n    BarrierSlot,\n    MbarrierArray,\n    MbarrierRef,\n    NegPred,\n    PipeRef,\n    Reg,\n"
        "    RegArray,\n    SharedAlloc,\n    SharedSlice,\n    TensorSpec,\n    TmaDescriptorHandle,\n)\n\n"
        "ValueOperand: TypeAlias = (\n    Reg\n    | SupportsIndex\n    | SupportsFloat\n    | str\n    | RegArray\n"
        "    | Sequence[\"ValueOperand\"]\n    | NegPred\n    | PipeRef\n    | SharedAlloc\n    | SharedSlice\n"
        "    | MbarrierArray\n    | MbarrierRef\n    | BarrierSlot\n    | TensorSpec\n    | TmaDescriptorHandle\n"
        "    | ir.Operand\n)\n"
        "\"\"\"A register, a number, the name of a symbol or label, or a list of them (a vector).\"\"\"\n"
        "AddressOperand: TypeAlias = Address | ir.Operand\n\"\"\"What `ptx.addr` gives: `[…]`.\"\"\"\n"
        "Operand: TypeAlias = ValueOperand | AddressOperand\n\"\"\"Where some forms have an address, and others a value.\"\"\"\n"
        "D = TypeVar(\"D\", bound=Reg | RegArray | list[Any] | tuple[Any, ...] | PipeRef | str | ir.Operand)\n\n",
        classes_,
        "class Inst:\n    \"\"\"`ptx.inst.<opcode>.<modifier>…(operands)` writes one instruction.\"\"\"\n\n"
        "    def _raw_emit(self, text: str, /) -> None:\n        \"\"\"Writes a statement as text, as it is.\"\"\"\n\n",
        root, "\ninst: Inst\n");
  }

 private:
  // The class of a state, written when first asked for: classes stand behind those they use, which a stub may refer to in any
  // order.
  const std::string& class_of(const State& state) {
    if (const auto it = names_.find(state); it != names_.end()) return it->second;
    const std::string opcode(form(state.front().form).opcode);
    const std::string& name = names_[state] = cat('_', identifier(opcode), '_', ++count_[opcode]);
    std::string body;
    for (const Next& next : next_of(state)) {
      body += cat("    ", identifier(next.word), ": ", class_of(next.state), "\n    \"\"\"", describe(next), "\"\"\"\n");
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
    std::string doc;
  };

  static Call call_of(const Form& f) {
    Call call;
    std::size_t absent = 0;  // operands so far that may be
    for (const OperandSpec& o : f.operands) {
      if (o.piped) continue;  // `d | p` is one Python value
      const bool may_be_absent = o.optional || o.conditional;
      call.least += !may_be_absent;
      call.parameters.push_back(identifier(o.name));
      call.kinds.push_back(0);
      const unsigned kind = o.role == Role::address || o.role == Role::tensor ? address : value;
      for (std::size_t place = call.kinds.size() - 1 - absent; place < call.kinds.size(); ++place) call.kinds[place] |= kind;
      absent += may_be_absent;
    }
    call.most = call.parameters.size();
    call.returns_first = call.most > 0 && f.operands.front().access != Access::read;
    call.doc = cat("        ", f.syntax(), "\n\n        ", f.row->doc, '\n', "        ", availability(f.row->since, f.row->on),
                   ". Manual: ", manual(f), '\n');
    return call;
  }

  // One __call__ for each number of operands; forms that the number does not tell apart share one.
  static std::string calls(const State& state) {
    std::vector<Call> all;
    for (const Place& place : state) {
      if (!is_complete(place)) continue;
      Call call = call_of(form(place.form));
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
        if (it->doc.find(call.doc) == std::string::npos)
          call.doc = cat(it->doc, '\n', call.doc);
        else
          call.doc = it->doc;
        it = all.erase(it);
      }
      all.push_back(std::move(call));
    }
    std::string out;
    for (const Call& call : all) {
      std::string parameters;
      for (std::size_t i = 0; i < call.most; ++i)
        parameters += cat(", ", call.parameters[i], ": ", i == 0 && call.returns_first ? "D" : type_of(call.kinds[i]),
                          i >= call.least ? " = ..." : "");
      out += cat(all.size() > 1 ? "    @overload\n" : "", "    def __call__(self", parameters, parameters.empty() ? "" : ", /",
                 ", *, pred: Reg | NegPred | None = ...) -> ", call.returns_first ? "D" : "None", ":\n        \"\"\"\n", call.doc,
                 "        \"\"\"\n");
    }
    return out;
  }

  std::map<State, std::string> names_;
  std::map<std::string, int> count_;
  std::string classes_;
};

}  // namespace

std::string generate_pyi() { return Stubs().write(); }

}  // namespace ptx::isa::gen
