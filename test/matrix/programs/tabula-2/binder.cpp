// Binds the columns of expressions.
#include "errors.h"
#include "expression.h"
#include "schema.h"

namespace tabula {

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
