// The nodes of expressions, and what binds their columns.
#include "expression.h"
#include "errors.h"
#include "schema.h"

namespace tabula {

Visitor::~Visitor() = default;
Expression::~Expression() = default;

Literal::Literal(Value v) : value(std::move(v)) {}
Literal::~Literal() = default;
void Literal::accept(Visitor &v) { v.visit(*this); }

ColumnReference::ColumnReference(std::string_view n) : name(n) {}
ColumnReference::~ColumnReference() = default;
void ColumnReference::accept(Visitor &v) { v.visit(*this); }

Unary::Unary(std::string_view s, Tree o) : symbol(s), operand(std::move(o)) {}
Unary::~Unary() = default;
void Unary::accept(Visitor &v) { v.visit(*this); }

Binary::Binary(std::string_view s, Tree l, Tree r)
    : symbol(s), left(std::move(l)), right(std::move(r)) {}
Binary::~Binary() = default;
void Binary::accept(Visitor &v) { v.visit(*this); }

Call::Call(std::string_view n, std::vector<Tree> a) : name(n), arguments(std::move(a)) {}
Call::~Call() = default;
void Call::accept(Visitor &v) { v.visit(*this); }

namespace {

class Binder : public Visitor {
public:
  explicit Binder(const Schema &s) : schema(s) {}
  void visit(Literal &) override {}
  void visit(ColumnReference &c) override {
    c.index = schema.indexOf(c.name);
    if (c.index < 0)
      failName(c.name);
  }
  void visit(Unary &u) override { u.operand->accept(*this); }
  void visit(Binary &b) override {
    b.left->accept(*this);
    b.right->accept(*this);
  }
  void visit(Call &c) override {
    for (Tree &argument : c.arguments)
      argument->accept(*this);
  }

private:
  const Schema &schema;
};

} // namespace

void bind(Expression &tree, const Schema &schema) {
  Binder binder(schema);
  tree.accept(binder);
}

} // namespace tabula
