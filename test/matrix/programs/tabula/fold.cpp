// Computes what is constant in an expression, and shows expressions.
#include "expression.h"
#include "text.h"

namespace tabula {

static bool isConstant(const Tree &tree) { return dynamic_cast<Literal *>(tree.get()); }

namespace {

class Folder : public Visitor {
public:
  void visit(Literal &) override {}
  void visit(ColumnReference &) override {}
  void visit(Unary &u) override { replace(u.operand); }
  void visit(Binary &b) override {
    replace(b.left);
    replace(b.right);
  }
  void visit(Call &c) override {
    for (Tree &argument : c.arguments)
      replace(argument);
  }

  void replace(Tree &tree) {
    tree->accept(*this);
    auto *binary = dynamic_cast<Binary *>(tree.get());
    auto *unary = dynamic_cast<Unary *>(tree.get());
    if ((binary && isConstant(binary->left) && isConstant(binary->right)) ||
        (unary && isConstant(unary->operand)))
      tree = std::make_unique<Literal>(evaluate(*tree, {}));
  }
};

class Writer : public Visitor {
public:
  void visit(Literal &l) override { text += tabula::show(l.value); }
  void visit(ColumnReference &c) override { text += c.name; }
  void visit(Unary &u) override {
    text += u.symbol + " ";
    u.operand->accept(*this);
  }
  void visit(Binary &b) override {
    text += "(";
    b.left->accept(*this);
    text += " " + b.symbol + " ";
    b.right->accept(*this);
    text += ")";
  }
  void visit(Call &c) override {
    text += c.name + "(";
    for (size_t i = 0; i < c.arguments.size(); ++i) {
      text += i ? ", " : "";
      c.arguments[i]->accept(*this);
    }
    text += ")";
  }

  std::string text;
};

} // namespace

Tree fold(Tree tree) {
  Folder().replace(tree);
  return tree;
}

std::string show(Expression &tree) {
  Writer writer;
  tree.accept(writer);
  return writer.text;
}

} // namespace tabula
