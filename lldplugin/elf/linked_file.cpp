// A linked file by its addresses.
#include "elf/linked_file.h"
#include "elf/elf_file.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

uint64_t totalSize(ArrayRef<FileRange> ranges) {
  uint64_t total = 0;
  for (FileRange range : ranges)
    total += range.size();
  return total;
}

std::vector<FileRange> joined(std::vector<FileRange> ranges, function_ref<bool(uint64_t)> isRead) {
  llvm::sort(ranges, [](FileRange a, FileRange b) { return a.begin < b.begin; });
  std::vector<FileRange> result;
  for (FileRange range : ranges)
    if (!result.empty() &&
        (range.begin <= result.back().end || isRead(range.begin - result.back().end)))
      result.back().end = std::max(result.back().end, range.end);
    else
      result.push_back(range);
  return result;
}

template <class ELFT>
static Expected<std::vector<FileSegment>> segmentsOf(uint64_t fileSize, const ELFFile<ELFT> &file) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  std::vector<FileSegment> segments;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    FileSegment segment = {header.p_vaddr, header.p_offset, header.p_filesz, header.p_memsz,
                           (header.p_flags & ELF::PF_X) != 0};
    if (header.p_flags & ELF::PF_W)
      segment.written = segment.address;
    uint64_t end = segments.empty() ? 0 : segments.back().address + segments.back().memoryBytes;
    if (segment.offset > fileSize || segment.fileBytes > fileSize - segment.offset)
      return createStringError("a segment lies outside the file");
    if (segment.fileBytes > segment.memoryBytes || segment.address < end ||
        segment.address + segment.memoryBytes < segment.address)
      return createStringError("its segments overlap, or do not ascend");
    if (segment.fileBytes && (segment.address - segment.offset) % 4096)
      return createStringError("a segment's address does not fit its place in the file");
    segments.push_back(segment);
  }
  // PT_GNU_RELRO covers the beginning of a segment, or all of it.
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_GNU_RELRO)
      for (FileSegment &segment : segments)
        if (header.p_vaddr >= segment.address &&
            header.p_vaddr - segment.address < segment.memoryBytes)
          segment.written = header.p_vaddr + header.p_memsz;
  if (segments.empty())
    return createStringError("has no loadable segments: it is not a linked file");
  return segments;
}

Expected<std::vector<FileSegment>> readSegments(StringRef bytes) {
  return fromElfFile<std::vector<FileSegment>>(
      bytes, [&](const auto &file) { return segmentsOf(bytes.size(), file); });
}

const FileSegment *LinkedFile::segmentAt(uint64_t address) const {
  auto next = partition_point(
      segments, [&](const FileSegment &segment) { return segment.address <= address; });
  if (next == segments.begin())
    return nullptr;
  const FileSegment &segment = *std::prev(next);
  return address - segment.address < segment.fileBytes ? &segment : nullptr;
}

StringRef LinkedFile::at(uint64_t address) const {
  const FileSegment *segment = segmentAt(address);
  return segment ? bytes.substr(segment->offset, segment->fileBytes)
                       .drop_front(address - segment->address)
                 : StringRef();
}

} // namespace frontload
