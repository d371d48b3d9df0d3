//===- link_log.cpp - writes down which links a build does -----------------===//

#include "cc/link_log.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace frontload {

static void appendString(std::string &line, StringRef text) {
  line += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      (line += '\\') += c;
    else if (static_cast<unsigned char>(c) < ' ')
      ((line += "\\u00") += hexdigit(c >> 4)) += hexdigit(c & 15);
    else
      line += c;
  }
  line += '"';
}

std::string linkLogLine(StringRef directory, ArrayRef<const char *> arguments, StringRef output) {
  std::string line = "{\"directory\": ";
  appendString(line, directory);
  line += ", \"arguments\": [";
  for (auto [i, argument] : enumerate(arguments)) {
    line += i ? ", " : "";
    appendString(line, argument);
  }
  line += "], \"output\": ";
  appendString(line, output);
  return line + "}\n";
}

Error appendLine(const std::string &path, StringRef line) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  auto failed = [] { return errorCodeToError(std::error_code(errno, std::generic_category())); };
  if (file < 0)
    return failed();
  scope_exit closeFile([&] { close(file); });
  // One call: two might have another process's line between them.
  ssize_t written = write(file, line.data(), line.size());
  if (written < 0)
    return failed();
  if (static_cast<size_t>(written) < line.size())
    return errorCodeToError(make_error_code(std::errc::no_space_on_device));
  return Error::success();
}

} // namespace frontload
