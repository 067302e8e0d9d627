#include <set>

#include "ptx/isa/gen/gen.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::isa::gen {

std::string generate_ops() {
  std::string words, forms_of_words;
  std::set<std::string_view> seen;
  for (const Form& form : forms()) {
    const std::string_view word = form.row->exec;
    if (word.empty()) continue;
    if (seen.insert(word).second) words += cat("PTX_OP(", word, ")\n");
    forms_of_words += cat("PTX_FORM_OP(", form.id, ", ", word, ")  // ", form.syntax(), '\n');
  }
  return cat("// Written by isagen from ptx/isa/table.\n#ifdef PTX_OP\n", words, "#endif\n#ifdef PTX_FORM_OP\n", forms_of_words,
             "#endif\n");
}

}  // namespace ptx::isa::gen
