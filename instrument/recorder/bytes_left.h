// How much of a file may still be read, which bounds the time that a damaged file takes.
#ifndef FRONTLOAD_RECORDER_BYTES_LEFT_H
#define FRONTLOAD_RECORDER_BYTES_LEFT_H

#include <cstdint>

namespace frontload {

/// Counts the parts of one kind in a file. In an honest file these do not overlap; a damaged file
/// may claim that each is as large as the file.
class BytesLeft {
public:
  explicit BytesLeft(uint64_t fileSize) : bytes(fileSize) {}
  uint64_t count() const { return bytes; }
  bool take(uint64_t size) {
    if (size > bytes)
      return false;
    bytes -= size;
    return true;
  }

private:
  uint64_t bytes;
};

} // namespace frontload

#endif
