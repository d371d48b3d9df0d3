// The steps of a query: each gives rows to the next.
#pragma once
#include "query.h"
#include "schema.h"

namespace tabula {

class Operator {
public:
  virtual ~Operator();
  virtual bool next(Row &row) = 0;
  virtual const char *name() const = 0;
  Schema schema;
};
using Step = std::unique_ptr<Operator>;

Step scan(Table &table);
Step filter(Step from, Tree condition);
Step project(Step from, std::vector<Tree> columns, std::vector<std::string> titles);
Step limit(Step from, long rows);
Step join(Step from, Table &table, std::string_view leftKey, std::string_view rightKey);
Step order(Step from, std::string_view column, bool isDescending);
Step countGroups(Step from, std::string_view column);

/// The steps of a query.
Step plan(Query query);

} // namespace tabula
