// Notes accesses in the shadow of memory, and holds each against those that were made before.
#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu::races {
namespace {

constexpr std::size_t most_loads = 64;   // of a granule that are remembered: one for each warp that loads it
constexpr std::size_t most_beside = 16;  // strong stores that nothing orders

// The bytes of the granule at `at` that belong to an access of `bytes` bytes there, and how many those are.
std::uint8_t bytes_in_granule(const std::byte* at, std::uint64_t bytes, std::uint64_t& taken) {
  const std::size_t first = reinterpret_cast<std::uintptr_t>(at) % granule_bytes;
  taken = std::min<std::uint64_t>(granule_bytes - first, bytes);
  return static_cast<std::uint8_t>(((1u << taken) - 1) << first);
}

// How lanes in order lie in the line that begins at `line`.
Spread spread_over(const std::byte* line, const std::byte* first, std::uint32_t bytes) {
  return {.first_lane = static_cast<std::int32_t>((line - first) / static_cast<std::ptrdiff_t>(bytes)),
          .shift = static_cast<std::uint8_t>(std::countr_zero(bytes / static_cast<std::uint32_t>(granule_bytes))),
          .flip = 0,
          .by_lane = true};
}

}  // namespace

bool Detector::stands_for(const Judge& judge, const Access& now, const Access& other) {
  if (other.agent == now.agent && other.lanes == now.lanes) return true;
  if (judge.warp != nullptr && other.agent == now.agent) return other.clock < judge.warp->together;
  return !other.through_async_proxy && !now.through_async_proxy && reaches(judge, other, &Knowledge::happened);
}

// Of strong stores that nothing orders the later one does not stand for the earlier one: an ordinary load behind the one need not
// be behind the other. An atomic operation has observed what it follows (manual: "Observation Order").
bool Detector::stays_beside(const Judge& judge, const Access& now, const Access& before) {
  return now.strong && !now.updates && before.strong && is_last_word(before) && !(before.agent == now.agent) &&
         !reaches(judge, before, &Knowledge::happened);
}

// ---- lines

void Detector::touch(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* at,
                     std::uint64_t bytes, const InOrder& in_order) {
  stores_ += access.is_store ? 1 : 0;
  const Cta* const block = block_at(warp, at);
  const bool shared = block != nullptr;
  if (shared && block != warp.cta && judge.warp != nullptr) note_reach(*block, access);
  while (bytes != 0) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % line_bytes;
    const std::uint64_t taken = std::min<std::uint64_t>(line_bytes - offset, bytes);
    Line& line = line_at(at, access, shared);
    // Lanes that share 4 bytes, or lie across a line's end, are told one by one.
    const bool whole = offset % granule_bytes == 0 && taken % granule_bytes == 0;
    const bool by_lane = in_order.bytes != 0;
    const bool divides = by_lane && !(std::has_single_bit(in_order.bytes) && in_order.bytes >= granule_bytes &&
                                      reinterpret_cast<std::uintptr_t>(in_order.first) % in_order.bytes == 0);
    const Spread spread = by_lane && !divides ? spread_over(at - offset, in_order.first, in_order.bytes) : Spread{};
    const std::uint32_t where = taken == line_bytes ? ~0u : ((1u << (taken / granule_bytes)) - 1) << (offset / granule_bytes);
    bool noted = false;
    if (whole && !divides && line.granules == 0) noted = touch_as_piece(warp, judge, line, {access, where, spread});
    if (!noted) {
      if (line.granules == 0) divide(line);
      if (divides) {
        Access one = access;
        for (const std::byte* next = at; next != at + taken;) {
          const auto lane = static_cast<std::uint64_t>(next - in_order.first) / in_order.bytes;
          const std::byte* const end = std::min(in_order.first + (lane + 1) * in_order.bytes, at + taken);
          one.lanes = Mask{1} << lane;
          by_judge_of(warp, judge, one.lanes, [&](const Judge& its) {
            touch_granules(warp, step, its, one, line, next, static_cast<std::uint64_t>(end - next), {});
          });
          next = end;
        }
      } else {
        touch_granules(warp, step, judge, access, line, at, taken, spread);
      }
      if (whole && !divides && is_last_word(access) && where == ~0u) {  // nothing else is left of the line
        shadow_.give_back_granules(std::exchange(line.granules, 0));
        line.pieces.push_back({access, where, spread});
      }
    }
    at += taken, bytes -= taken;
  }
}

// Whole granules of a line that all lanes load, or an operation stores, or each of some lanes by itself.
void Detector::touch_line(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* begin,
                          std::uint32_t where, const Spread& spread) {
  stores_ += access.is_store ? 1 : 0;
  // (the line may begin before the block's memory does)
  const std::byte* const first = begin + granule_bytes * static_cast<std::size_t>(std::countr_zero(where));
  Line& line = line_at(begin, access, is_shared(warp, first));
  if (line.granules == 0 && touch_as_piece(warp, judge, line, {access, where, spread})) return;
  if (line.granules == 0) divide(line);
  for (std::uint32_t left = where; left != 0; left &= left - 1) {
    const std::byte* const at = begin + granule_bytes * static_cast<std::size_t>(std::countr_zero(left));
    touch_granules(warp, step, judge, access, line, at, granule_bytes, spread);
  }
  if (is_last_word(access) && where == ~0u) {  // nothing else is left of the line
    shadow_.give_back_granules(std::exchange(line.granules, 0));
    line.pieces.push_back({access, where, spread});
  }
}

bool Detector::is_wrong(Warp& warp, const Judge& judge, const Access& before, const Access& now) {
  if (!before.is_store && !now.is_store) return false;
  if (judge.warp != nullptr || now.of_tensor_map || before.item == now.item) return wrong(warp, judge, before, now).has_value();
  // Which instruction it is of does not matter: those of one group are done together.
  const auto is_known = [&](const Access& one) {
    return one.clock == before.clock && one.agent == before.agent && one.lanes == before.lanes &&
           one.is_store == before.is_store && one.through_async_proxy == before.through_async_proxy &&
           one.strong == before.strong && one.of_what_is_there == before.of_what_is_there &&
           one.of_mbarrier == before.of_mbarrier && one.bytes == (now.is_store ? 1 : 0);
  };
  const auto known = static_cast<std::ptrdiff_t>(std::min(seen_in_order_, in_order_.size()));
  if (std::any_of(in_order_.begin(), in_order_.begin() + known, is_known)) return false;
  if (wrong(warp, judge, before, now)) return true;
  Access& place = in_order_[seen_in_order_++ % in_order_.size()];
  place = before;
  place.bytes = now.is_store ? 1 : 0;
  return false;
}

namespace {

// How granules that one lane has accessed lie among those of other lanes which do the same one behind the other.
std::optional<Spread> spread_of_lane(const Piece& piece) {
  const int count = std::popcount(piece.where), first = std::countr_zero(piece.where);
  const bool is_run = std::has_single_bit(static_cast<unsigned>(count)) && count < static_cast<int>(line_granules) &&
                      first % count == 0 && piece.where == ((1u << count) - 1) << first;
  if (piece.spread.by_lane || !std::has_single_bit(piece.access.lanes) || !is_run) return std::nullopt;
  const int shift = std::countr_zero(static_cast<unsigned>(count));
  return Spread{lowest_lane(piece.access.lanes) - (first >> shift), static_cast<std::uint8_t>(shift), 0, true};
}

// Of one instruction's operations, one a lane, those that lie behind each other are one piece. False: they do not.
bool join_lanes(Piece& piece, const Piece& now) {
  if (!same_instruction(piece.access, now.access)) return false;
  const auto spread = spread_of_lane(now);
  if (!spread || !(piece.spread.by_lane ? piece.spread == *spread : spread_of_lane(piece) == spread)) return false;
  piece.spread = *spread;
  piece.access.lanes |= now.access.lanes;
  piece.where |= now.where;
  return true;
}

}  // namespace

// False, and nothing is changed, where it takes a look at each granule.
bool Detector::touch_as_piece(Warp& warp, const Judge& judge, Line& line, const Piece& now) {
  const auto alike = [&](const Piece& piece) { return piece.spread == now.spread && piece.access.lanes == now.access.lanes; };
  const auto of_agent = [&](const Piece& piece) { return judge.warp != nullptr && piece.access.agent == now.access.agent; };
  const auto is_replaced = [&](const Piece& piece) {
    if (is_last_word(now.access)) return line.pieces.size() >= most_beside || !stays_beside(judge, now.access, piece.access);
    if (now.access.is_store) return piece.access.of_what_is_there && stands_for(judge, now.access, piece.access);
    if (piece.access.is_store) return false;
    if (of_agent(piece) && !alike(piece)) return piece.access.clock < judge.warp->together;
    return stands_for(judge, now.access, piece.access);
  };
  // Of so many loads one more is not remembered.
  const auto is_full = [&] {
    return !now.access.is_store && line.pieces.size() == Line::most_pieces &&
           std::all_of(line.pieces.begin(), line.pieces.end(),
                       [&](const Piece& piece) { return (piece.where & now.where) == now.where && !piece.access.is_store; });
  };
  if (is_full()) return true;
  Piece* joins = nullptr;
  std::size_t left = 0;  // pieces of which something is left
  std::uint64_t gone = 0;
  for (std::size_t i = 0; i < line.pieces.size(); ++i) {
    Piece& piece = line.pieces[i];
    const std::uint32_t both = piece.where & now.where;
    if (both != 0) {
      // in the order of its own
      const bool of_each_lane = of_agent(piece) && now.spread.by_lane && alike(piece) && !now.access.by_read_only_cache;
      if (!of_each_lane && is_wrong(warp, judge, piece.access, now.access)) return false;
      if (is_replaced(piece)) {
        gone |= std::uint64_t{1} << i;
        if ((piece.where & ~both) == 0) continue;
      }
    }
    ++left;
    if (same_instruction(piece.access, now.access) && alike(piece)) joins = &piece;
  }
  if (joins == nullptr && left == Line::most_pieces) return false;
  if (joins != nullptr) {
    const auto at = static_cast<std::uint32_t>(joins - line.pieces.data());
    gone &= ~(std::uint64_t{1} << at);
    joins->where |= now.where;
  }
  if (gone != 0) {
    for (std::uint64_t rest = gone; rest != 0; rest &= rest - 1)
      line.pieces[static_cast<std::size_t>(std::countr_zero(rest))].where &= ~now.where;
    std::erase_if(line.pieces, [](const Piece& piece) { return piece.where == 0; });
  }
  const bool of_operation = judge.warp == nullptr && joins == nullptr && !line.pieces.empty();
  if (of_operation && join_lanes(line.pieces.back(), now)) return true;
  if (joins == nullptr) line.pieces.push_back(now);
  return true;
}

// What its pieces say, said of each granule.
void Detector::divide(Line& line) {
  line.granules = shadow_.take_granules();
  Shadow::Granules& granules = shadow_.granules(line.granules);
  for (const Piece& piece : line.pieces)
    for (std::uint32_t left = piece.where; left != 0; left &= left - 1) {
      const auto g = static_cast<std::size_t>(std::countr_zero(left));
      const Access access = piece.of_granule(g);
      Granule& granule = granules[g];
      Access& place = access.is_store ? granule.store : granule.load;
      if (place.bytes == 0 && !access.of_what_is_there) {
        place = access;
        continue;
      }
      if (granule.more == 0) granule.more = shadow_.lists.take();
      shadow_.lists[granule.more].push_back(access);
    }
  line.pieces.clear();
}

// The line that is accessed, without what is old: in shared memory what a cluster before did, in global memory a run before.
Line& Detector::line_at(const std::byte* at, const Access& access, bool shared) {
  Shadow::Page& page = shadow_.page_of(at);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % Shadow::page_bytes;
  const std::size_t sheet = offset / sheet_bytes;
  if (page.sheets[sheet].blanket != 0) take_off(page.sheets[sheet].blanket);
  if (!page.sheets[sheet].pieces.empty()) spread_out(page, sheet);
  Line& line = page.lines[offset / line_bytes];
  const std::uint32_t first_cluster = shared ? access.agent.cluster : first_cluster_;
  if (line.newest_cluster < first_cluster && line.newest_cluster != 0) {
    empty(line);
    line.newest_cluster = 0;
  }
  line.newest_cluster = std::max(line.newest_cluster, access.agent.cluster);
  return line;
}

void Detector::empty(Line& line) {
  if (line.granules != 0) shadow_.give_back_granules(std::exchange(line.granules, 0));
  line.pieces.clear();
}

// ---- sheets

// What is said of all lines of a sheet, said of each.
void Detector::spread_out(Shadow::Page& page, std::size_t which) {
  Sheet& sheet = page.sheets[which];
  for (std::size_t i = 0; i < sheet_lines; ++i) {
    Line& line = page.lines[which * sheet_lines + i];
    line.newest_cluster = sheet.newest_cluster;
    for (const Sheet::Piece& piece : sheet.pieces)
      if (piece.where[i] != 0) line.pieces.push_back({piece.access, piece.where[i], {}});
  }
  sheet.pieces.clear();
}

// And the other way round, where an operation has just stored all of it.
void Detector::gather(const std::byte* begin, const Access& stored) {
  Shadow::Page& page = shadow_.page_of(begin);
  const std::size_t which = reinterpret_cast<std::uintptr_t>(begin) % Shadow::page_bytes / sheet_bytes;
  const std::span lines(&page.lines[which * sheet_lines], sheet_lines);
  const auto is_stored = [&](const Line& line) {
    return line.granules == 0 && line.pieces.size() == 1 && line.pieces.front().where == ~0u &&
           same_instruction(line.pieces.front().access, stored);
  };
  if (!std::all_of(lines.begin(), lines.end(), is_stored)) return;
  for (Line& line : lines) line.pieces.clear();
  Sheet& sheet = page.sheets[which];
  sheet.newest_cluster = stored.agent.cluster;
  sheet.pieces.push_back({stored, whole_sheet});
}

// An operation accesses part of a sheet of shared memory. False, and nothing is changed, where it takes a look at each line.
bool Detector::touch_as_sheet(Warp& warp, const Judge& judge, const Access& now, const std::byte* begin, const SheetPart& where) {
  stores_ += now.is_store ? 1 : 0;
  Shadow::Page& page = shadow_.page_of(begin);
  Sheet& sheet = page.sheets[reinterpret_cast<std::uintptr_t>(begin) % Shadow::page_bytes / sheet_bytes];
  if (sheet.blanket != 0) take_off(sheet.blanket);
  if (sheet.newest_cluster < now.agent.cluster) sheet.pieces.clear();
  if (sheet.pieces.empty()) return false;
  Sheet::Piece* joins = nullptr;
  std::uint32_t overlapping = 0;
  for (std::size_t p = 0; p < sheet.pieces.size(); ++p) {
    Sheet::Piece& piece = sheet.pieces[p];
    if (overlap(piece.where, where)) {
      if (is_wrong(warp, judge, piece.access, now)) return false;
      if (piece.access.is_store && finds_stores_ != nullptr) note_found(piece.access);
      overlapping |= 1u << p;
    }
    if (same_instruction(piece.access, now) && piece.access.lanes == now.lanes) joins = &piece;
  }
  if (joins == nullptr && sheet.pieces.size() >= Sheet::most_pieces) return false;
  bool gone = false;
  for (; overlapping != 0; overlapping &= overlapping - 1) {
    Sheet::Piece& piece = sheet.pieces[static_cast<std::size_t>(std::countr_zero(overlapping))];
    const bool is_replaced =
        is_last_word(now) || (!piece.access.is_store && !now.is_store && stands_for(judge, now, piece.access));
    if (&piece == joins || !is_replaced) continue;
    for (std::size_t i = 0; i < sheet_lines; ++i) piece.where[i] &= ~where[i];
    gone = gone || piece.where == SheetPart{};
  }
  if (joins != nullptr)
    for (std::size_t i = 0; i < sheet_lines; ++i) joins->where[i] |= where[i];
  if (gone) std::erase_if(sheet.pieces, [](const Sheet::Piece& piece) { return piece.where == SheetPart{}; });
  if (joins == nullptr) sheet.pieces.push_back({now, where});
  return true;
}

// What the sheets that are being read hold, as far as it is worth to be remembered.
void Detector::note_found(const Access& store) {
  constexpr std::size_t most = 4;
  const bool is_known = std::any_of(finds_stores_->begin(), finds_stores_->end(), [&](const Access& one) {
    return same_instruction(one, store) && one.lanes == store.lanes && one.warp == store.warp;
  });
  if (is_known) return;
  if (finds_stores_->size() == most)
    finds_stores_ = nullptr;
  else
    finds_stores_->push_back(store);
}

void Detector::touch_sheet(Warp& warp, const Step& step, const Judge& judge, const Access& now, const std::byte* begin,
                           const SheetPart& where) {
  if (touch_as_sheet(warp, judge, now, begin, where)) return;
  finds_stores_ = nullptr;  // it takes a look at lines
  for (std::size_t i = 0; i < sheet_lines; ++i)
    if (where[i] != 0) touch_line(warp, step, judge, now, begin + i * line_bytes, where[i]);
  if (is_last_word(now) && where == whole_sheet) gather(begin, now);
}

// ---- blankets

// What a blanket says, said of each sheet.
void Detector::take_off(std::uint32_t which) {
  Blanket& blanket = shadow_.blankets[which];
  for (std::size_t i = 0; i < blanket.sheets; ++i) {
    Sheet& sheet = sheet_at(blanket.begin + i * sheet_bytes);
    sheet.blanket = 0;
    sheet.newest_cluster = blanket.newest_cluster;
    sheet.pieces.assign(1, {blanket.stored, whole_sheet});
  }
  for (const Blanket::Reader& reader : blanket.readers)
    for (const PartOfSheet& part : *reader.parts)
      if (const std::byte* const at = reader.pattern + part.sheet * sheet_bytes; at >= blanket.begin && at < blanket.end())
        sheet_at(at).pieces.push_back({reader.access, part.where});
  blanket.readers.clear();
  shadow_.blankets.give_back(which);
}

// An operation stores all of some sheets. False, and nothing is changed, where it takes a look at each sheet.
bool Detector::store_as_blanket(Warp& warp, const Judge& judge, const Access& now, const std::byte* begin, std::size_t sheets) {
  const std::uint32_t which = sheet_at(begin).blanket;
  if (which == 0) return false;
  Blanket& blanket = shadow_.blankets[which];
  if (blanket.begin != begin || blanket.sheets != sheets) return false;
  if (blanket.newest_cluster == now.agent.cluster) {
    if (is_wrong(warp, judge, blanket.stored, now)) return false;
    for (const Blanket::Reader& reader : blanket.readers)
      if (is_wrong(warp, judge, reader.access, now)) return false;
  }
  ++stores_;
  blanket.newest_cluster = now.agent.cluster;
  blanket.stored = now;
  blanket.readers.clear();
  return true;
}

void Detector::store_sheets(Warp& warp, const Step& step, const Judge& judge, const Access& now, const std::byte* begin,
                            std::size_t sheets) {
  if (store_as_blanket(warp, judge, now, begin, sheets)) return;
  for (std::size_t i = 0; i < sheets; ++i) touch_sheet(warp, step, judge, now, begin + i * sheet_bytes, whole_sheet);
  spread_blanket(begin, sheets, now);
}

// Where an operation has just stored all of these sheets they are one.
void Detector::spread_blanket(const std::byte* begin, std::size_t sheets, const Access& stored) {
  const auto sheet = [&](std::size_t i) -> Sheet& { return sheet_at(begin + i * sheet_bytes); };
  for (std::size_t i = 0; i < sheets; ++i) {
    const Sheet& one = sheet(i);
    if (one.blanket != 0 || one.pieces.size() != 1 || one.pieces.front().where != whole_sheet ||
        !same_instruction(one.pieces.front().access, stored))
      return;
  }
  const std::uint32_t which = shadow_.blankets.take();
  Blanket& blanket = shadow_.blankets[which];
  blanket.begin = begin, blanket.sheets = sheets, blanket.newest_cluster = stored.agent.cluster, blanket.stored = stored;
  for (std::size_t i = 0; i < sheets; ++i) sheet(i).pieces.clear(), sheet(i).blanket = which;
}

// Places that a matrix has, kept for as long as the run lasts; null: there are too many.
const std::vector<PartOfSheet>* Detector::kept_parts(std::span<const PartOfSheet> parts, std::uint64_t number) {
  constexpr std::size_t most = 4096;
  const auto found = parts_.find(number);
  if (found != parts_.end()) return &found->second;
  if (parts_.size() == most) return nullptr;
  return &parts_.emplace(number, std::vector<PartOfSheet>(parts.begin(), parts.end())).first->second;
}

// An operation reads parts of sheets, of which the first ones lie in a blanket: how many do; 0, and nothing is changed, where it
// takes a look at the first one's sheet. `all`: the parts with those before.
std::size_t Detector::read_as_blanket(Warp& warp, const Judge& judge, const Access& now, const std::byte* pattern,
                                      std::span<const PartOfSheet> parts, const std::vector<PartOfSheet>* all) {
  const std::uint32_t which = sheet_at(pattern + parts.front().sheet * sheet_bytes).blanket;
  if (which == 0 || all == nullptr) return 0;
  Blanket& blanket = shadow_.blankets[which];
  if (blanket.newest_cluster != now.agent.cluster || is_wrong(warp, judge, blanket.stored, now)) return 0;
  const auto behind = std::find_if(parts.begin(), parts.end(), [&](const PartOfSheet& part) {
    const std::byte* const at = pattern + part.sheet * sheet_bytes;
    return at < blanket.begin || at >= blanket.end();
  });
  const auto taken = static_cast<std::size_t>(behind - parts.begin());
  Blanket::Reader* later = nullptr;
  for (Blanket::Reader& reader : blanket.readers) {
    if (reader.pattern != pattern || reader.parts != all) continue;
    const bool same = same_instruction(reader.access, now) && reader.access.lanes == now.lanes;
    if (!same && !stands_for(judge, now, reader.access)) continue;
    later = &reader;
    break;
  }
  if (later == nullptr && blanket.readers.size() == Blanket::most_readers) return 0;
  if (finds_stores_ != nullptr) note_found(blanket.stored);
  if (later != nullptr)
    later->access = now;
  else
    blanket.readers.push_back({now, pattern, all});
  return taken;
}

// ---- granules

void Detector::touch_granules(Warp& warp, const Step& step, const Judge& judge, Access access, Line& line, const std::byte* at,
                              std::uint64_t bytes, const Spread& spread) {
  Shadow::Granules& granules = shadow_.granules(line.granules);
  for (std::uint64_t taken = 0; bytes != 0; at += taken, bytes -= taken) {
    access.bytes = bytes_in_granule(at, bytes, taken);
    const std::size_t g = reinterpret_cast<std::uintptr_t>(at) % line_bytes / granule_bytes;
    if (spread.by_lane) {
      access.lanes = spread.lanes_of(g);
      by_judge_of(warp, judge, access.lanes, [&](const Judge& its) { touch_granule(warp, step, its, access, granules[g], at); });
    } else {
      touch_granule(warp, step, judge, access, granules[g], at);
    }
  }
}

void Detector::touch_granule(Warp& warp, const Step& step, const Judge& judge, const Access& now, Granule& granule,
                             const std::byte* at) {
  Access& store = granule.store;
  Access& load = granule.load;
  if (store.bytes != 0) hold_against(warp, step, judge, store, now, at);
  if (load.bytes != 0 && now.is_store) hold_against(warp, step, judge, load, now, at);
  if (granule.more != 0)
    for (const Access& other : shadow_.lists[granule.more])
      if (now.is_store || other.is_store) hold_against(warp, step, judge, other, now, at);

  const auto add = [&] {
    if (granule.more == 0) granule.more = shadow_.lists.take();
    std::vector<Access>& list = shadow_.lists[granule.more];
    if (list.size() < most_loads) list.push_back(now);
  };
  if (now.of_what_is_there) {
    if (granule.more != 0)
      for (Access& other : shadow_.lists[granule.more])
        if (other.of_what_is_there && (other.bytes & ~now.bytes) == 0 && stands_for(judge, now, other)) {
          other = now;
          return;
        }
    add();
    return;
  }
  if (now.is_store) {
    const auto rest = static_cast<std::uint8_t>(~now.bytes);
    const auto merges = [&](const Access& other) { return same_instruction(other, now) && (other.bytes & now.bytes) == 0; };
    const bool joins = store.bytes != 0 && merges(store);
    const bool stays = !joins && (store.bytes & now.bytes) != 0 && stays_beside(judge, now, store);
    const Access before = store;
    if (!joins) store.bytes &= rest;
    load.bytes &= rest;
    if (stays && granule.more == 0) granule.more = shadow_.lists.take();
    if (granule.more != 0) {
      std::vector<Access>& list = shadow_.lists[granule.more];
      const bool is_full = list.size() >= most_beside;
      for (Access& other : list)
        if (is_full || !stays_beside(judge, now, other)) other.bytes &= rest;
      if (stays && !is_full) list.push_back(before);
      std::erase_if(list, [](const Access& other) { return other.bytes == 0; });
      if (list.empty()) shadow_.lists.give_back(std::exchange(granule.more, 0));
    }
    if (joins) {
      store.lanes |= now.lanes;
      store.bytes |= now.bytes;
      store.of_parts = true;
    } else if (store.bytes == 0) {
      store = now;
    } else {
      add();
    }
    return;
  }
  // A later load stands for an earlier one that it is known to follow.
  const auto replaces = [&](Access& other) {
    return !other.is_store && (other.bytes & ~now.bytes) == 0 && stands_for(judge, now, other);
  };
  const auto joins = [&](Access& other) {
    if (!same_instruction(other, now)) return false;
    other.of_parts = other.of_parts || other.bytes != now.bytes;
    other.lanes |= now.lanes;
    other.bytes |= now.bytes;
    return true;
  };
  if (load.bytes == 0 || replaces(load)) {
    load = now;
  } else if (!joins(load)) {
    if (granule.more != 0) {
      std::vector<Access>& list = shadow_.lists[granule.more];
      const bool is_full = list.size() >= most_loads;  // then who has no place in it gets none
      for (Access& other : list) {
        if (joins(other)) return;
        if ((is_full && !(other.agent == now.agent)) || !replaces(other)) continue;
        other = now;
        return;
      }
    }
    add();
  }
}

}  // namespace ptx::vgpu::races
