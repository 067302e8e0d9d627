// Searches the built site as its search page does, from files alone: node search.js SITE WORD… prints each word and its hits.
const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, ...words] = process.argv.slice(2);

const nothing = () => {};
const element = () => ({
  style: {}, dataset: {}, classList: {add: nothing, remove: nothing},
  appendChild: element, addEventListener: nothing, setAttribute: nothing, remove: nothing, querySelectorAll: () => [],
});
const page = {
  console, SPHINX_HIGHLIGHT_ENABLED: false, URL, URLSearchParams, setTimeout, _ready: nothing, _: (text) => text,
  DOCUMENTATION_OPTIONS: {URL_ROOT: "", FILE_SUFFIX: ".html", LINK_SUFFIX: ".html", BUILDER: "html", SHOW_SEARCH_SUMMARY: false},
  Documentation: {gettext: (text) => text, ngettext: (text) => text},
  localStorage: {getItem: nothing, setItem: nothing},
  document: {
    readyState: "loading", body: element(), documentElement: {dataset: {content_root: "./"}}, addEventListener: nothing,
    createElement: element, getElementById: () => null, querySelector: () => null, querySelectorAll: () => [],
  },
};
Object.assign(page, {window: page, location: {search: ""}, addEventListener: nothing});
vm.createContext(page);
const load = (file) => vm.runInContext(fs.readFileSync(path.join(site, file), "utf8").replace(/^const (\w+) = /gm, "var $1 = ")
  .replace(/^class (\w+)/gm, "var $1 = class $1"), page, {filename: file});
["_static/searchtools.js", "_static/language_data.js", "searchindex.js"].forEach(load);
for (const word of words) {
  const hits = vm.runInContext(`Search._performSearch(...Search._parseQuery(${JSON.stringify(word)}))`, page);
  console.log(word, hits.length, hits.slice(-3).map((hit) => hit[0]).join(" "));
}
