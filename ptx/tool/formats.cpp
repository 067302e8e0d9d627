#include "ptx/tool/formats.hpp"

#include <algorithm>

#include "ptx/tool/json.hpp"
#include "ptx/tool/style.hpp"
#include "ptx/version.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {
namespace {

std::size_t count_all(std::span<const Checked> all, Severity severity) {
  std::size_t n = 0;
  for (const Checked& c : all) n += c.count(severity);
  return n;
}

std::string whole_message(const Diagnostic& d) {
  std::string out = d.message;
  for (const std::string& note : notes_of(d)) out += cat('\n', note);
  return out;
}

// A path as a URI reference: relative where the path is.
std::string uri_of(std::string_view path) {
  constexpr std::string_view plain = "-._~/";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter || plain.find(c) != std::string_view::npos)
      out += c;
    else
      out += cat('%', hex_upper(byte, 2));
  }
  return out;
}

// In characters, from 1: a Where counts bytes.
struct Columns {
  std::size_t begin = 0, end = 0;  // of the word at the place; 0: not known
};
Columns columns_of(const SourceLocation& where, const SourceLines& source) {
  if (where.column == 0) return {};
  const std::string_view line = source[where.line];
  const std::size_t before = where.column - 1u;
  const std::size_t begin = before > line.size() ? where.column : width(line.substr(0, before)) + 1;
  return {begin, begin + (before >= line.size() ? 1 : width(line.substr(before, word_end(line, before) - before)))};
}

void add_place(Json& json, std::string_view file, const SourceLocation& where, const SourceLines& source) {
  json.key("physicalLocation").open('{').key("artifactLocation").open('{').key("uri").value(uri_of(file)).close('}');
  if (where.known()) {
    json.key("region").open('{').key("startLine").value(where.line);
    if (const Columns word = columns_of(where, source); word.begin != 0)
      json.key("startColumn").value(word.begin).key("endColumn").value(word.end);
    json.close('}');
  }
  json.close('}');
}

// GitHub's escapes: in a message, and in a property, which also ends at `,` and `:`.
std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\n' || c == '\r' || (is_property && (c == ':' || c == ',')))
      out += cat('%', hex_upper(static_cast<unsigned char>(c), 2));
    else
      out += c;
  }
  return out;
}

}  // namespace

std::size_t Checked::count(Severity severity) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Diagnostic& d) { return d.severity == severity; }));
}

std::string to_text(const Checked& checked, std::size_t most, bool colour) {
  std::string out;
  const std::size_t shown = most == 0 ? checked.findings.size() : std::min(most, checked.findings.size());
  const SourceLines source(checked.read.text);
  for (std::size_t i = 0; i < shown; ++i) out += cat(render(checked.findings[i], source, colour), '\n');
  if (shown < checked.findings.size())
    out +=
        cat("… and ", plural(checked.findings.size() - shown, "more finding"), " in ", checked.file, "; --max 0 shows all\n\n");
  return out;
}

std::string to_json(std::span<const Checked> all) {
  Json json;
  json.open('{').key("files").open('[');
  for (const Checked& c : all) {
    json.open('{').key("file").value(c.file);
    json.key("errors").value(c.count(Severity::error)).key("warnings").value(c.count(Severity::warning));
    if (!c.read.failure.empty()) json.key("unreadable").value(c.read.failure);
    json.close('}');
  }
  json.close(']').key("findings").open('[');
  for (const Checked& c : all)
    for (const Diagnostic& d : c.findings) {
      json.open('{').key("kind").value(name(d.kind)).key("severity").value(name(d.severity));
      json.key("message").value(d.message).key("file").value(c.file);
      json.key("line").value(d.where.line).key("column").value(d.where.column).key("notes").open('[');
      for (const std::string& note : notes_of(d)) json.value(note);
      json.close(']').key("places").open('[');
      for (const Note& note : d.notes)
        if (note.kind == NoteKind::place) {
          json.open('{').key("role").value(note.text).key("file").value(note.where.file);
          json.key("line").value(note.where.line).key("column").value(note.where.column).close('}');
        }
      json.close(']').close('}');
    }
  json.close(']').key("counts").open('{').key("files").value(all.size());
  json.key("errors").value(count_all(all, Severity::error)).key("warnings").value(count_all(all, Severity::warning));
  return std::move(json.close('}').close('}')).finish();
}

std::string to_sarif(std::span<const Checked> all) {
  std::vector<std::pair<std::string, std::string_view>> rules;  // those that are broken, in the order of the findings
  const auto id_of = [](const Diagnostic& d) {
    const bool has_rule = !d.execution.empty() && !d.execution.front().rule.empty();
    return has_rule ? d.execution.front().rule : std::string(name(d.kind));
  };
  const auto rule_of = [&](const Diagnostic& d) {
    const std::string id = id_of(d);
    const auto at = std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return rule.first == id; });
    if (at != rules.end()) return static_cast<std::size_t>(at - rules.begin());
    const auto known = vgpu::rule_from_id(id);
    rules.emplace_back(id, known ? vgpu::row(*known).summary : summary(d.kind));
    return rules.size() - 1;
  };
  for (const Checked& c : all)
    for (const Diagnostic& d : c.findings) rule_of(d);
  Json json;
  json.open('{').key("$schema").value("https://json.schemastore.org/sarif-2.1.0.json").key("version").value("2.1.0");
  json.key("runs").open('[').open('{').key("tool").open('{').key("driver").open('{').key("name").value("ptxkit");
  json.key("version").value(version).key("rules").open('[');
  for (const auto& [id, says] : rules) {
    json.open('{').key("id").value(id).key("shortDescription").open('{').key("text").value(says).close('}');
    if (const auto known = vgpu::rule_from_id(id)) {
      if (const std::string address = vgpu::page_address(*known); !address.empty()) json.key("helpUri").value(address);
      json.key("help").open('{').key("text").value(vgpu::explain(*known)).close('}');
    }
    json.close('}');
  }
  json.close(']').close('}').close('}').key("columnKind").value("unicodeCodePoints").key("results").open('[');
  const SourceLines elsewhere("");
  for (const Checked& c : all) {
    const SourceLines source(c.read.text);
    for (const Diagnostic& d : c.findings) {
      json.open('{').key("ruleId").value(id_of(d)).key("ruleIndex").value(rule_of(d));
      json.key("level").value(name(d.severity));
      json.key("message").open('{').key("text").value(whole_message(d)).close('}').key("locations").open('[').open('{');
      add_place(json, c.file, d.where, source);
      json.close('}').close(']');
      const auto is_place = [](const Note& note) { return note.kind == NoteKind::place; };
      if (std::any_of(d.notes.begin(), d.notes.end(), is_place)) {
        json.key("relatedLocations").open('[');
        for (const Note& note : d.notes)
          if (is_place(note)) {
            json.open('{').key("message").open('{').key("text").value(note.text).close('}');
            add_place(json, note.where.file, note.where, c.file == note.where.file ? source : elsewhere);
            json.close('}');
          }
        json.close(']');
      }
      json.close('}');
    }
  }
  json.close(']').close('}').close(']');
  return std::move(json.close('}')).finish();
}

std::string to_github(std::span<const Checked> all) {
  std::string out;
  for (const Checked& c : all) {
    const SourceLines source(c.read.text);
    for (const Diagnostic& d : c.findings) {
      // GitHub has our words, but for the third
      out += cat("::", d.severity == Severity::note ? "notice" : name(d.severity), " file=", escaped(c.file, true));
      if (d.where.known()) out += cat(",line=", d.where.line);
      if (const Columns word = columns_of(d.where, source); word.begin != 0) out += cat(",col=", word.begin);
      out += cat(",title=", escaped(name(d.kind), true), "::", escaped(whole_message(d), false), '\n');
    }
  }
  return out;
}

}  // namespace ptx::tool
