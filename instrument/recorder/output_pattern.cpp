// Checks and expands the pattern of --output.
#include "output_pattern.h"

#include "diagnostics.h"
#include "format/frontload_trace.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

Expected<OutputPattern> OutputPattern::parse(StringRef text) {
  for (size_t i = text.find('%'); i != StringRef::npos; i = text.find('%', i + 2)) {
    StringRef letter = text.substr(i + 1, 1);
    if (letter != "p" && letter != "m" && letter != "%")
      return createStringError("--output=" + text + ": '%" + letter +
                               "' has no meaning; use %p (process id), %m (program name) or %%");
  }
  StringRef name = sys::path::filename(text);
  if (text.empty() || text.ends_with("/") || name == "." || name == "..")
    return createStringError("--output=" + text + ": not a file name; write it as in " +
                             (text.empty() ? "" : text.rtrim('/') + "/") + "%m.%p.fltrace");
  return OutputPattern(text);
}

std::string OutputPattern::expand(StringRef programPath, pid_t pid) const {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      path += text[i];
      continue;
    }
    switch (text[++i]) {
    case 'p':
      path += std::to_string(pid);
      break;
    case 'm':
      path += sys::path::filename(programPath);
      break;
    default:
      path += '%';
    }
  }
  return path;
}

std::string OutputPattern::absolute() const {
  SmallString<256> folder;
  if (sys::path::is_absolute(text) || sys::fs::current_path(folder))
    return text;
  std::string result;
  for (char c : folder)
    result += c == '%' ? std::string("%%") : std::string(1, c);
  return result + "/" + text;
}

Error OutputPattern::check(StringRef programPath) const {
  StringRef folderPattern = sys::path::parent_path(text);
  if (folderPattern.contains("%p") || folderPattern.contains("%m"))
    return Error::success();
  std::string path = expand(programPath, getpid());
  if (sys::fs::is_directory(path)) {
    errno = EISDIR;
    return systemError(path, "cannot be the trace");
  }
  StringRef folder = sys::path::parent_path(path);
  std::string folderName = folder.empty() ? "." : folder.str();
  auto failure = [&] { return systemError(folderName, "cannot write traces there"); };

  int probe = open(folderName.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe < 0) {
    // Some file systems have no unnamed files: there, only the permission can be checked.
    if (errno != EOPNOTSUPP && errno != EISDIR)
      return failure();
    if (!sys::fs::is_directory(folderName) || access(folderName.c_str(), W_OK | X_OK) != 0)
      return failure();
    return Error::success();
  }
  frontload_trace_header header = {};
  bool room = write(probe, &header, sizeof header) == sizeof header;
  Error result = room ? Error::success() : failure();
  close(probe);
  return result;
}
