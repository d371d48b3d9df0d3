// The steps that handle a row at a time.
#include "operators.h"
#include "errors.h"
#include "stats.h"

namespace tabula {

Operator::~Operator() = default;

namespace {

class Scan : public Operator {
public:
  explicit Scan(Table &t) : table(t) { schema = t.schema; }
  bool next(Row &row) override {
    if (at == table.rows.size())
      return false;
    count(Counter::Rows);
    row = table.rows[at++];
    return true;
  }
  const char *name() const override { return "scan"; }

private:
  Table &table;
  size_t at = 0;
};

class Filter : public Operator {
public:
  Filter(Step f, Tree c) : from(std::move(f)), condition(std::move(c)) {
    schema = from->schema;
    bind(*condition, schema);
  }
  bool next(Row &row) override {
    while (from->next(row))
      if (evaluate(*condition, row).isTrue())
        return true;
    return false;
  }
  const char *name() const override { return "filter"; }

private:
  Step from;
  Tree condition;
};

class Project : public Operator {
public:
  Project(Step f, std::vector<Tree> c, std::vector<std::string> titles)
      : from(std::move(f)), columns(std::move(c)) {
    for (size_t i = 0; i < columns.size(); ++i) {
      bind(*columns[i], from->schema);
      auto *reference = dynamic_cast<ColumnReference *>(columns[i].get());
      int index = reference ? reference->index : -1;
      schema.add(index < 0 ? titles[i] : reference->name,
                 index < 0 ? textType() : *from->schema.columns[static_cast<size_t>(index)].type);
    }
  }
  bool next(Row &row) override {
    Row source;
    if (!from->next(source))
      return false;
    row.clear();
    for (Tree &column : columns)
      row.push_back(evaluate(*column, source));
    return true;
  }
  const char *name() const override { return "project"; }

private:
  Step from;
  std::vector<Tree> columns;
};

class Limit : public Operator {
public:
  Limit(Step f, long n) : from(std::move(f)), rest(n) { schema = from->schema; }
  bool next(Row &row) override { return rest-- > 0 && from->next(row); }
  const char *name() const override { return "limit"; }

private:
  Step from;
  long rest;
};

} // namespace

Step scan(Table &table) { return std::make_unique<Scan>(table); }
Step filter(Step from, Tree condition) {
  return std::make_unique<Filter>(std::move(from), std::move(condition));
}
Step project(Step from, std::vector<Tree> columns, std::vector<std::string> titles) {
  return std::make_unique<Project>(std::move(from), std::move(columns), std::move(titles));
}
Step limit(Step from, long rows) { return std::make_unique<Limit>(std::move(from), rows); }

} // namespace tabula
