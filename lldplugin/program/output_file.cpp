//===- output_file.cpp - files that are written beside the linked one ------===//

#include "program/output_file.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

using namespace llvm;

namespace frontload {

std::string nameBeside(StringRef path, StringRef infix) {
  // Without the path, in which '%' would be replaced as well.
  SmallString<16> digits;
  sys::fs::createUniquePath("%%%%%%%%", digits, /*MakeAbsolute=*/false);
  return (path + infix + digits).str();
}

static std::error_code writeInto(StringRef path, sys::fs::CreationDisposition disposition,
                                 function_ref<void(raw_ostream &)> write) {
  std::error_code error;
  raw_fd_ostream os(path, error, disposition, sys::fs::FA_Write, sys::fs::OF_None);
  if (error)
    return error;
  write(os);
  os.flush();
  error = os.error();
  os.clear_error();
  return error;
}

Error writeOutputFile(StringRef path, function_ref<void(raw_ostream &)> write) {
  if (path == "-") {
    write(outs());
    outs().flush();
    return Error::success();
  }
  sys::fs::file_status status;
  if (!sys::fs::status(path, status, /*follow=*/false) &&
      status.type() != sys::fs::file_type::regular_file)
    return errorCodeToError(writeInto(path, sys::fs::CD_CreateAlways, write));
  std::string temporary = nameBeside(path, "-");
  sys::RemoveFileOnSignal(temporary);
  std::error_code error = writeInto(temporary, sys::fs::CD_CreateNew, write);
  if (!error)
    error = sys::fs::rename(temporary, path);
  if (error)
    sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  return errorCodeToError(error);
}

} // namespace frontload
