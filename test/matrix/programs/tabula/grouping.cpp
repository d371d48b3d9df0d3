// The steps that need all rows before they give the first.
#include "errors.h"
#include "operators.h"
#include "sorting.h"

namespace tabula {

static size_t wanted(const Schema &schema, std::string_view name) {
  int index = schema.indexOf(name);
  if (index < 0)
    failName(name);
  return static_cast<size_t>(index);
}

namespace {

/// Keeps rows and gives them again.
class Kept : public Operator {
public:
  explicit Kept(Schema s) { schema = std::move(s); }
  ~Kept() override { rows.clear(); }
  bool next(Row &row) override {
    if (at == rows.size())
      return false;
    row = std::move(rows[at++]);
    return true;
  }

protected:
  std::vector<Row> rows;
  size_t at = 0;
};

class Order : public Kept {
public:
  Order(Step from, size_t column, bool isDescending) : Kept(from->schema) {
    for (Row row; from->next(row);)
      rows.push_back(row);
    if (isDescending)
      stableSort(rows, [column](const Row &a, const Row &b) { return compare(b[column], a[column]) < 0; });
    else
      stableSort(rows, [column](const Row &a, const Row &b) { return compare(a[column], b[column]) < 0; });
  }
  const char *name() const override { return "order"; }
};

class Groups : public Kept {
public:
  Groups(Step from, size_t column) : Kept({}) {
    schema.columns.push_back(from->schema.columns[column]);
    schema.add("count", integerType());
    HashMap<std::string, long> counts;
    HashMap<std::string, Value> values;
    for (Row row; from->next(row);) {
      std::string key = show(row[column]);
      ++counts[key];
      values[key] = row[column];
    }
    for (auto &[key, n] : counts)
      rows.push_back({values[key], Value(&integerType(), n)});
  }
  const char *name() const override { return "groups"; }
};

class Join : public Operator {
public:
  Join(Step f, Table &t, size_t k) : from(std::move(f)), table(t), key(k) {
    schema = from->schema;
    for (const Column &column : table.schema.columns)
      schema.add(table.name + "." + column.name, *column.type);
  }
  bool next(Row &row) override {
    while (!matches || at == matches->size()) {
      if (!from->next(left))
        return false;
      matches = table.lookUp(left[key]);
      at = 0;
    }
    row = left;
    const Row &right = table.rows[(*matches)[at++]];
    row.insert(row.end(), right.begin(), right.end());
    return true;
  }
  const char *name() const override { return "join"; }

private:
  Step from;
  Table &table;
  size_t key, at = 0;
  Row left;
  const std::vector<unsigned> *matches = nullptr;
};

} // namespace

Step order(Step from, std::string_view column, bool isDescending) {
  size_t index = wanted(from->schema, column);
  return std::make_unique<Order>(std::move(from), index, isDescending);
}

Step countGroups(Step from, std::string_view column) {
  size_t index = wanted(from->schema, column);
  return std::make_unique<Groups>(std::move(from), index);
}

Step join(Step from, Table &table, std::string_view leftKey, std::string_view rightKey) {
  if (wanted(table.schema, rightKey) != 0)
    throw Error("a join needs the first column of the other table");
  size_t index = wanted(from->schema, leftKey);
  return std::make_unique<Join>(std::move(from), table, index);
}

Step plan(Query q) {
  Step step = scan(catalog().get(q.table));
  if (!q.joined.empty())
    step = join(std::move(step), catalog().get(q.joined), q.leftKey, q.rightKey);
  if (q.where)
    step = filter(std::move(step), fold(std::move(q.where)));
  if (!q.groupBy.empty())
    step = countGroups(std::move(step), q.groupBy);
  if (!q.orderBy.empty())
    step = order(std::move(step), q.orderBy, q.isDescending);
  if (!q.columns.empty())
    step = project(std::move(step), std::move(q.columns), std::move(q.titles));
  if (q.limit >= 0)
    step = limit(std::move(step), q.limit);
  return step;
}

} // namespace tabula
