// How tables find rows by their first column.
#include "schema.h"
#include "stats.h"

namespace tabula {

const std::vector<unsigned> *Table::lookUp(const Value &key) {
  count(Counter::Lookups);
  return key.text.empty() ? byNumber.find(key.number) : byText.find(key.text);
}

} // namespace tabula
