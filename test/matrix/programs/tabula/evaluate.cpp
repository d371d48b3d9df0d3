// Evaluates expressions.
#include "errors.h"
#include "expression.h"
#include "functions.h"
#include "text.h"

namespace tabula {

static Value make(bool b) { return Value(&boolType(), long{b}); }

namespace {

using Operation = Value (*)(const Value &, const Value &);

long divided(long a, long b) {
  if (!b)
    throw Error("division by zero");
  return a / b;
}

Value arithmetic(const Value &a, const Value &b, long (*f)(long, long)) {
  if (a.type != &integerType() || b.type != &integerType())
    failType("integer", show(a.type == &integerType() ? b : a));
  return Value(&integerType(), f(a.number, b.number));
}

/// The operations, by symbol.
Operation operation(std::string_view symbol) {
  static const struct {
    const char *symbol;
    Operation operation;
  } table[] = {
      {"+", [](const Value &a, const Value &b) { return arithmetic(a, b, [](long x, long y) { return x + y; }); }},
      {"-", [](const Value &a, const Value &b) { return arithmetic(a, b, [](long x, long y) { return x - y; }); }},
      {"*", [](const Value &a, const Value &b) { return arithmetic(a, b, [](long x, long y) { return x * y; }); }},
      {"/", [](const Value &a, const Value &b) { return arithmetic(a, b, divided); }},
      {"%", [](const Value &a, const Value &b) { return arithmetic(a, b, [](long x, long y) { return x - divided(x, y) * y; }); }},
      {"||", [](const Value &a, const Value &b) { return Value(&textType(), show(a) + show(b)); }},
      {"=", [](const Value &a, const Value &b) { return make(compare(a, b) == 0); }},
      {"<>", [](const Value &a, const Value &b) { return make(compare(a, b) != 0); }},
      {"<", [](const Value &a, const Value &b) { return make(compare(a, b) < 0); }},
      {">", [](const Value &a, const Value &b) { return make(compare(a, b) > 0); }},
      {"<=", [](const Value &a, const Value &b) { return make(compare(a, b) <= 0); }},
      {">=", [](const Value &a, const Value &b) { return make(compare(a, b) >= 0); }},
  };
  for (const auto &entry : table)
    if (symbol == entry.symbol)
      return entry.operation;
  failName(symbol);
}

class Evaluator : public Visitor {
public:
  explicit Evaluator(const Row &r) : row(r) {}

  Value value(Expression &tree) {
    tree.accept(*this);
    return std::move(result);
  }

  void visit(Literal &l) override { result = l.value; }
  void visit(ColumnReference &c) override {
    if (c.index < 0)
      failName(c.name);
    result = row[static_cast<size_t>(c.index)];
  }
  void visit(Unary &u) override {
    Value operand = value(*u.operand);
    result = u.symbol == "not" ? make(!operand.isTrue())
                               : arithmetic(Value(&integerType(), 0L), operand,
                                            [](long x, long y) { return x - y; });
  }
  void visit(Binary &b) override {
    Value left = value(*b.left);
    if (b.symbol == "and" || b.symbol == "or") {
      result = left.isTrue() == (b.symbol == "or") ? make(left.isTrue())
                                                   : make(value(*b.right).isTrue());
      return;
    }
    Value right = value(*b.right);
    result = operation(b.symbol)(left, right);
  }
  void visit(Call &c) override {
    Row arguments;
    for (Tree &argument : c.arguments)
      arguments.push_back(value(*argument));
    result = callFunction(c.name, arguments);
  }

private:
  const Row &row;
  Value result;
};

} // namespace

Value evaluate(Expression &tree, const Row &row) { return Evaluator(row).value(tree); }

} // namespace tabula
