// docs/isa: one page for each opcode and an index, from the table and from where the tests name the opcode.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx/isa/gen/gen.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::isa::gen {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view manual_page = "https://docs.nvidia.com/cuda/parallel-thread-execution/index.html";

// ---- which tests name an opcode -------------------------------------------------------------------------------------

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// The opcodes of a golden: the first word of a line, behind a guard `@%p` or `@!%p` or a label.
void collect_from_golden(std::string_view line, std::set<std::string, std::less<>>& words) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at != std::string_view::npos && line[at] == '@') {
    at = line.find(' ', at);
    at = at == std::string_view::npos ? at : line.find_first_not_of(" \t", at);
  }
  if (at == std::string_view::npos) return;
  std::size_t end = at;
  while (end < line.size() && is_word(line[end])) ++end;
  if (end != at) words.emplace(line.substr(at, end - at));
}

// The opcodes that C++ or Python source names: behind a quote, or as a dot of `inst`.
void collect_from_source(std::string_view line, std::set<std::string, std::less<>>& words) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool quoted = line[at] == '"' || line[at] == '\'';
    const bool dotted = line.substr(at).starts_with("inst.");
    if (!quoted && !dotted) continue;
    const std::size_t begin = at + (quoted ? 1 : 5);
    std::size_t end = begin;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end == begin) continue;
    const std::string_view word = line.substr(begin, end - begin);
    const char next = end < line.size() ? line[end] : '\0';
    if (next == '.' || next == ' ' || next == ';' || next == '(' || next == line[at]) words.insert(word_of(word));
  }
}

struct Mentions {
  std::map<std::string, std::vector<std::string>, std::less<>> of;  // opcode -> files, sorted

  void scan(const fs::path& folder, std::string_view ending) {
    std::vector<fs::path> files;
    if (!fs::is_directory(folder))
      throw std::runtime_error(cat("no folder ", folder.generic_string(), " here; run isagen docs in the repository's root"));
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().generic_string().ends_with(ending)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      std::set<std::string, std::less<>> words;
      std::ifstream file(path, std::ios::binary);
      for (std::string line; std::getline(file, line);)
        path.extension() == ".golden" ? collect_from_golden(line, words) : collect_from_source(line, words);
      for (const std::string& word : words) of[word].push_back(path.generic_string());
    }
  }
  [[nodiscard]] const std::vector<std::string>& files(std::string_view opcode) const {
    static const std::vector<std::string> none;
    const auto it = of.find(opcode);
    return it == of.end() ? none : it->second;
  }
};

// ---- pages ----------------------------------------------------------------------------------------------------------

struct Page {
  std::string_view opcode;
  std::vector<const Form*> forms;
  [[nodiscard]] std::size_t executed() const {
    return static_cast<std::size_t>(
        std::count_if(forms.begin(), forms.end(), [](const Form* f) { return !f->row->exec.empty(); }));
  }
  [[nodiscard]] std::size_t unproven() const {
    return static_cast<std::size_t>(
        std::count_if(forms.begin(), forms.end(), [](const Form* f) { return !f->row->unproven.empty(); }));
  }
};

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) out += cat(out.empty() ? "" : separator, part);
  return out;
}

// A bar would end a table's cell.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string plural(std::size_t n, std::string_view word) { return cat(n, ' ', word, n == 1 ? "" : "s"); }

std::string manual_link(const Form& form) { return cat('[', manual(form), "](", manual_page, manual(form), ')'); }

std::string write_form(const Form& form) {
  const Row& row = *form.row;
  std::string text = cat("## `", form.syntax(), "`\n\n", row.doc, "\n\n");
  text += cat("- Available: ", available(form), "\n");
  const std::vector<std::string> effects = describe_effects(form);
  text += cat("- Effects: ", effects.empty() ? "none beyond its destination" : join(effects, ", "), "\n");
  text +=
      row.exec.empty() ? cat("- CPU executor: no, ", row.not_executed, "\n") : cat("- CPU executor: yes, `op::", row.exec, "`\n");
  text += row.unproven.empty() ? "- ptxas: proven by `./dev oracle`\n" : cat("- ptxas: unproven, ", row.unproven, "\n");
  if (!row.rule.empty()) text += cat("- Rule over several modifiers: `", row.rule, "`\n");
  text += cat("- Python and C++: `", spell_call(form), "`\n");
  text += cat("- Manual: ", manual_link(form), "\n");
  std::string table;
  for (const FormSlot& slot : form.slots) {
    if (slot.literal && !slot.optional) continue;
    table += cat("| `", slot.optional ? "{." : ".", slot.name, slot.optional ? "}` | " : "` | ",
                 slot.literal ? "may be left out" : list_words(slot), " |\n");
  }
  for (const OperandSpec& o : form.operands) table += cat("| ", o.name, " | ", cell(describe(form, o)), " |\n");
  if (!table.empty()) text += cat("\n| | |\n|---|---|\n", table);
  return text + '\n';
}

std::string write_page(const Page& page, const Mentions& mentions) {
  std::string text =
      cat("<!-- Written by `./dev docs` from ptx/isa/table. -->\n# `", page.opcode, "`\n\n", family(*page.forms.front()), " · ",
          plural(page.forms.size(), "form"), ", ", page.executed(), " executed on the CPU");
  if (page.unproven() != 0) text += cat(", ", page.unproven(), " unproven");
  text += " · [all opcodes](README.md)\n\n";
  const auto& files = mentions.files(page.opcode);
  std::vector<std::string> links;
  for (const std::string& file : files) links.push_back(cat("[", file, "](../../", file, ")"));
  text += cat("Named by the tests in ", links.empty() ? "none but the oracle's" : join(links, ", "), ".\n\n");
  for (const Form* form : page.forms) text += write_form(*form);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::string write_index(const std::vector<Page>& pages) {
  struct Family {
    std::string title;
    std::vector<const Page*> pages;
  };
  std::vector<Family> families;
  std::size_t forms = 0, executed = 0, unproven = 0;
  for (const Page& page : pages) {
    const std::string title = family(*page.forms.front());
    auto it = std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.title == title; });
    if (it == families.end()) it = families.insert(it, {title, {}});
    it->pages.push_back(&page);
    forms += page.forms.size();
    executed += page.executed();
    unproven += page.unproven();
  }
  std::string text = cat(
      "<!-- Written by `./dev docs` from ptx/isa/table. -->\n# The instruction table\n\n", plural(pages.size(), "opcode"), ", ",
      plural(forms, "form"), ": ", executed, " executed on the CPU, ", forms - executed, " not executed, ", unproven,
      " unproven.\n\n"
      "A form is one syntax line of PTX: `{…}` may be left out. *Executed*: the CPU executor runs it. *Unproven*: in the manual, "
      "but no "
      "ptxas at hand knows it; all others `./dev oracle` holds to ptxas. Availability: `sm_90` is that target or any newer one, "
      "`sm_100f` its family, `sm_90a` that target alone.\n\n"
      "On the command line: `ptxkit isa ld.global`, or `python -m pyptx isa ld.global`.\n");
  for (const Family& f : families) {
    text += cat("\n## ", f.title, "\n\n| opcode | forms | executed | unproven | |\n|---|---|---|---|---|\n");
    for (const Page* page : f.pages)
      text += cat("| [`", page->opcode, "`](", page->opcode, ".md) | ", page->forms.size(), " | ", page->executed(), " | ",
                  page->unproven(), " | ", cell(std::string(page->forms.front()->row->doc)), " |\n");
  }
  return text;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(cat("cannot write ", path.generic_string()));
}

}  // namespace

void write_docs(const std::string& folder) {
  Mentions mentions;
  mentions.scan("tests/golden", ".golden");
  mentions.scan("ptx/vgpu", "_test.cpp");
  mentions.scan("tests/gpu", ".py");
  std::vector<Page> pages;
  for (const Form& form : forms()) {
    auto it = std::find_if(pages.begin(), pages.end(), [&](const Page& page) { return page.opcode == form.opcode; });
    if (it == pages.end()) it = pages.insert(it, {form.opcode, {}});
    it->forms.push_back(&form);
  }
  fs::create_directories(folder);
  std::set<fs::path> written = {fs::path(folder) / "README.md"};
  write_file(fs::path(folder) / "README.md", write_index(pages));
  for (const Page& page : pages) {
    const fs::path path = fs::path(folder) / cat(page.opcode, ".md");
    write_file(path, write_page(page, mentions));
    written.insert(path);
  }
  for (const auto& entry : fs::directory_iterator(folder))  // opcodes that are gone
    if (entry.path().extension() == ".md" && !written.contains(entry.path())) fs::remove(entry.path());
}

}  // namespace ptx::isa::gen
