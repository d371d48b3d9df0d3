// The cost of a start with all of its files.
#include "predict/whole_start.h"
#include "frontload_or_empty.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

static constexpr uint64_t pageBytes = 4096;
/// The model keeps a record of each page.
static constexpr uint64_t maxFile = uint64_t(1) << 36;

static FileSegment wholeFile(uint64_t size) { return {0, 0, size, size, false}; }

/// The segments of the ELF file at a path; one for the whole file if it is no ELF file, missing, or
/// of another size now, whose segments would lie outside of the meant file.
static std::vector<FileSegment> segmentsOf(StringRef path, uint64_t size) {
  auto buffer = MemoryBuffer::getFile(path, false, /*RequiresNullTerminator=*/false);
  if (buffer && (*buffer)->getBufferSize() == size)
    if (auto segments = orEmpty(readSegments((*buffer)->getBuffer())); !segments.empty())
      return segments;
  return {wholeFile(size)};
}

static bool fromJSON(const json::Value &value, FileOfStart &file, json::Path path) {
  json::ObjectMapper map(value, path);
  bool isMapped;
  std::vector<std::vector<uint64_t>> touched;
  if (!map || !map.map("path", file.path) || !map.map("size", file.size) ||
      !map.map("is_mapped", isMapped) || !map.map("touched", touched))
    return false;
  if (file.size > maxFile) {
    path.field("size").report("too large");
    return false;
  }
  uint64_t pages = divideCeil(file.size, pageBytes);
  for (const std::vector<uint64_t> &each : touched) {
    if (each.size() != 3 || each[0] > pages || !each[1] || each[1] > pages - each[0]) {
      path.field("touched").report("pages that the file does not have");
      return false;
    }
    file.touched.push_back({each[0], each[1], each[2] != 0});
  }
  file.segments =
      isMapped ? segmentsOf(file.path, file.size) : std::vector<FileSegment>{wholeFile(file.size)};
  return true;
}

Expected<std::vector<FileOfStart>> readWholeStart(StringRef text) {
  auto value = json::parse(text);
  if (!value)
    return value.takeError();
  json::Path::Root root("whole start");
  json::ObjectMapper map(*value, root);
  std::string schema;
  std::vector<FileOfStart> files;
  if (!map || !map.map("schema", schema) || schema != "frontload-whole-start/1")
    return createStringError("is no \"frontload-whole-start/1\"");
  if (!map.map("files", files))
    return root.getError();
  return files;
}

std::vector<FileRange> rangesOf(ArrayRef<TouchedPages> touched, const DeviceProfile &device) {
  std::vector<FileRange> ranges;
  for (const TouchedPages &each : touched)
    ranges.push_back({each.page * pageBytes, (each.page + each.count) * pageBytes});
  return joined(std::move(ranges), [&](uint64_t gap) { return gap <= device.maxGap; });
}

/// The address at which a page is mapped; nothing if no segment has it.
static std::optional<uint64_t> addressOf(ArrayRef<FileSegment> segments, uint64_t page) {
  uint64_t offset = page * pageBytes;
  for (const FileSegment &segment : segments) {
    uint64_t first = alignDown(segment.offset, pageBytes);
    if (segment.fileBytes && offset >= first && offset < segment.offset + segment.fileBytes)
      return alignDown(segment.address, pageBytes) + (offset - first);
  }
  return std::nullopt;
}

FileCost costOf(const FileOfStart &file, const DeviceProfile &device, bool isListed) {
  StartModel model(device, file.size, file.segments);
  std::vector<FileRange> asked;
  if (isListed) {
    asked = rangesOf(file.touched, device);
    model.askFor(asked, pagesSideBySide);
  }
  for (const TouchedPages &each : file.touched) {
    if (each.isRead) {
      model.readFile(each.page, each.count);
      continue;
    }
    for (uint64_t page = each.page; page < each.page + each.count; ++page)
      if (std::optional<uint64_t> address = addressOf(file.segments, page))
        model.use(*address);
      else
        model.readFile(page, 1);
  }
  return {model.counts(), asked.size()};
}

FileOfStart withFront(const FileOfStart &file) {
  uint64_t pages = 0;
  for (const TouchedPages &each : file.touched)
    pages += each.count;
  uint64_t size = pages * pageBytes;
  return {file.path, size, {{0, pages, false}}, {wholeFile(size)}};
}

static void printCost(json::OStream &out, StringRef name, const FileCost &cost) {
  out.attributeObject(name, [&] {
    out.attribute("major_faults", cost.counts.majorFaults);
    out.attribute("requests", cost.counts.requests);
    out.attribute("queued_requests", cost.counts.queuedRequests);
    out.attribute("asked_ranges", cost.asked);
    out.attribute("read_bytes", cost.counts.bytesRead);
  });
}

void printWholeStart(ArrayRef<FileOfStart> files, ArrayRef<DeviceProfile> devices) {
  json::OStream out(outs());
  out.object([&] {
    out.attribute("schema", "frontload-whole-start/1");
    out.attributeArray("files", [&] {
      for (const FileOfStart &file : files)
        out.object([&] {
          FileOfStart front = withFront(file);
          for (const DeviceProfile &device : devices)
            out.attributeObject(device.name, [&] {
              printCost(out, "as_it_is", costOf(file, device, false));
              printCost(out, "list", costOf(file, device, true));
              printCost(out, "front", costOf(front, device, false));
              printCost(out, "front_and_list", costOf(front, device, true));
            });
        });
    });
  });
  outs() << '\n';
}

} // namespace frontload
