// Reads the log that valgrind's lackey writes with --trace-mem=yes. A line for each access:
//
//   I  04025310,3      an instruction of 3 bytes is executed at 0x4025310
//    L 1ffefff528,8    it loads 8 bytes
//    S 04a27a38,16     it stores 16 bytes
//    M 0421c7cc,4      it loads and stores 4 bytes
//
// A whole recording has tens of millions of lines, so this is one pass over the bytes. All other
// lines are messages: valgrind has its own in the same log.
#ifndef FRONTLOAD_LACKEY_ACCESS_LOG_H
#define FRONTLOAD_LACKEY_ACCESS_LOG_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>

namespace frontload {

/// Calls visitor.instruction(address), visitor.access(address, size) or visitor.message(line) for
/// each line. `lines` is made of whole lines.
template <class Visitor> void readAccessLog(llvm::StringRef lines, Visitor &visitor) {
  constexpr size_t longestAccess = 4096, mostDigits = 16;
  const char *end = lines.end();
  // No loop passes a line's end, which is neither a digit nor a comma.
  for (const char *line = lines.begin(); line != end;) {
    bool isInstruction = line[0] == 'I' && line[1] == ' ';
    bool isData = line[0] == ' ' && (line[1] == 'L' || line[1] == 'S' || line[1] == 'M');
    if ((isInstruction || isData) && line[2] == ' ') {
      const char *at = line + 3;
      uint64_t address = 0;
      for (unsigned digit; (digit = llvm::hexDigitValue(*at)) < 16; ++at)
        address = address << 4 | digit;
      size_t digits = at - (line + 3);
      if (digits != 0 && digits <= mostDigits && *at == ',') {
        size_t size = 0;
        for (++at; llvm::isDigit(*at) && size <= longestAccess; ++at)
          size = size * 10 + (*at - '0');
        if (*at == '\n' && size != 0 && size <= longestAccess) {
          if (isInstruction)
            visitor.instruction(address);
          else
            visitor.access(address, size);
          line = at + 1;
          continue;
        }
      }
    }
    const char *next = static_cast<const char *>(memchr(line, '\n', end - line));
    visitor.message(llvm::StringRef(line, next - line));
    line = next + 1;
  }
}

} // namespace frontload

#endif
