#include "python/binding/base/author.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "python/binding/base/errors.hpp"
#include "python/binding/base/frames.hpp"

namespace ptx::python {
namespace {

std::string& package_folder() {
  static std::string& folder = *new std::string;  // never destroyed: frames may be looked at while the interpreter ends
  return folder;
}

std::string_view file_of(PyCodeObject* code) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {text, static_cast<std::size_t>(size)};
}

std::vector<std::string>& passed_over() {
  static std::vector<std::string>& folders = *new std::vector<std::string>;
  return folders;
}

bool is_passed_over(std::string_view file) {
  const auto& all = passed_over();
  return std::any_of(all.begin(), all.end(), [&](const std::string& folder) { return file.starts_with(folder); });
}

bool is_ours(std::string_view file) { return !package_folder().empty() && file.starts_with(package_folder()); }

// Walks outwards from the frame that called into C until `see` says that it has found the author's.
template <class See>
void walk(See see) {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  Py_XINCREF(frame);
  while (frame != nullptr && !see(frame)) {
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
}

}  // namespace

bool is_our_file(std::string_view file) { return is_ours(file); }

void set_package_folder(std::string_view folder) {
  package_folder() = folder;
  if (!folder.empty()) package_folder() += '/';
}

void pass_over(std::string_view library) {
  std::string path = library.ends_with(".py") ? std::string(library) : cat(library, '/');
  auto& all = passed_over();
  if (!library.empty() && std::find(all.begin(), all.end(), path) == all.end()) all.push_back(std::move(path));
}

SourceLocation authors_line() {
  SourceLocation where;  // of the nearest frame that is not ours, while no better one is found
  walk([&](PyFrameObject* frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::string_view file = file_of(code);
    const bool theirs = is_passed_over(file);
    if (!is_ours(file) && (!theirs || !where.known()))
      where = {intern_file(file), static_cast<std::uint32_t>(std::max(0, PyFrame_GetLineNumber(frame)))};
    const bool found = where.known() && !theirs && !is_ours(file);
    Py_DECREF(code);
    return found;
  });
  return where;
}

LineCache::~LineCache() {
  for (PyCodeObject* code : codes_) Py_DECREF(code);
}

const LineCache::Entry& LineCache::look_up(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const int inst = PyFrame_GetLasti(frame);
  Entry& entry = entries_[(reinterpret_cast<std::uintptr_t>(code) / alignof(PyCodeObject) + static_cast<unsigned>(inst) / 2) %
                          entries_.size()];
  if (entry.code != code || entry.inst != inst) {
    const std::string_view file = file_of(code);
    entry = {code, inst, is_ours(file), {}};
    if (!entry.ours) entry.where = {intern_file(file), static_cast<std::uint32_t>(std::max(0, PyFrame_GetLineNumber(frame)))};
    if (std::find(codes_.begin(), codes_.end(), code) == codes_.end()) {
      codes_.push_back(code);
      return entry;  // codes_ took over the reference
    }
  }
  Py_DECREF(code);
  return entry;
}

const CallSite* LineCache::call_site(const SourceLocation& at, PyCodeObject* called) {
  const auto number = reinterpret_cast<std::uintptr_t>(called) / alignof(PyCodeObject) + at.line;
  Call& call = calls_[number % calls_.size()];
  if (call.called != called || !(call.site->at == at)) {
    Py_ssize_t size = 0;
    const char* name = PyUnicode_AsUTF8AndSize(called->co_qualname, &size);
    if (name == nullptr) PyErr_Clear();
    call = {called, intern_call(at, name != nullptr ? std::string_view(name, static_cast<std::size_t>(size)) : "?")};
  }
  return call.site;
}

void LineCache::begin() {
  outermost_ = PyEval_GetFrame();
  outermost_is_ours_ = outermost_ != nullptr && look_up(outermost_).ours;
}

SourceLocation LineCache::authors_line() {
  constexpr std::size_t most = 16;  // levels of helpers; of more, the outermost are one
  frames_.clear();
  bool is_in_kernel = false;
  walk([&](PyFrameObject* frame) {
    is_in_kernel = frame == outermost_;
    if (is_in_kernel && outermost_is_ours_) return true;
    const Entry& entry = look_up(frame);
    if (!entry.ours) {
      if (frames_.size() == most) frames_.pop_back();
      frames_.push_back({entry.where, entry.code});
    }
    return is_in_kernel || (outermost_ == nullptr && !frames_.empty());
  });
  if (frames_.empty()) return {};
  const CallSite* site = nullptr;
  for (std::size_t i = is_in_kernel ? frames_.size() - 1 : 0; i > 0; --i) {
    frames_[i].where.from = site;
    site = call_site(frames_[i].where, frames_[i - 1].code);
  }
  frames_[0].where.from = site;
  return frames_[0].where;
}

void raise_here(Diagnostic error) {
  if (PyErr_Occurred() != nullptr) throw nanobind::python_error();
  if (!error.where.known()) error.where = authors_line();
  raise(error);
}

}  // namespace ptx::python
