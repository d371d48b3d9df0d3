// A query, as it was parsed.
#pragma once
#include "expression.h"

namespace tabula {

struct Query {
  std::vector<Tree> columns; ///< none: all
  std::vector<std::string> titles;
  std::string table, joined;
  std::string leftKey, rightKey;
  Tree where;
  std::string groupBy, orderBy;
  bool isDescending = false;
  long limit = -1;
};

Query parseQuery(std::string_view text);
/// Parses one expression.
Tree parseExpression(std::string_view text);

} // namespace tabula
