// The name that units and fuzz targets have in diagnostics: each program defines its own.
#include "program/diagnostics.h"

const llvm::StringLiteral frontload::programName = "frontload-test";
