#include "author.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

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

void set_package_folder(std::string_view folder) {
  package_folder() = folder;
  if (!folder.empty()) package_folder() += '/';
}

Where authors_line() {
  Where where;
  walk([&](PyFrameObject* frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::string_view file = file_of(code);
    const bool found = !is_ours(file);
    if (found) where = {intern_file(file), static_cast<std::uint32_t>(std::max(0, PyFrame_GetLineNumber(frame)))};
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

Where LineCache::authors_line() {
  Where where;
  walk([&](PyFrameObject* frame) {
    const Entry& entry = look_up(frame);
    if (!entry.ours) where = entry.where;
    return !entry.ours;
  });
  return where;
}

}  // namespace ptx::python
