// Plain C as libraries are written: tables, structures, loops, arithmetic of all kinds.
typedef unsigned long size_t;
void *malloc(size_t);
void free(void *);
int printf(const char *, ...);

enum kind { NUMBER, SUM, PRODUCT, QUOTIENT, NEGATION };

struct node {
  enum kind kind;
  double value;
  struct node *left, *right;
};

static const char *const names[] = {"number", "sum", "product", "quotient", "negation"};

static struct node *make(enum kind kind, double value, struct node *left, struct node *right) {
  struct node *node = malloc(sizeof *node);
  node->kind = kind;
  node->value = value;
  node->left = left;
  node->right = right;
  return node;
}

static double evaluate(const struct node *node) {
  switch (node->kind) {
  case NUMBER:
    return node->value;
  case SUM:
    return evaluate(node->left) + evaluate(node->right);
  case PRODUCT:
    return evaluate(node->left) * evaluate(node->right);
  case QUOTIENT:
    return evaluate(node->left) / evaluate(node->right);
  case NEGATION:
    return -evaluate(node->left);
  }
  return 0;
}

static void release(struct node *node) {
  if (!node)
    return;
  release(node->left);
  release(node->right);
  free(node);
}

static unsigned hash(const unsigned char *text, int length) {
  unsigned h = 2166136261u;
  for (int i = 0; i < length; ++i)
    h = (h ^ text[i]) * 16777619u;
  return h;
}

static void sort(int *values, int count) {
  for (int gap = count / 2; gap > 0; gap /= 2)
    for (int i = gap; i < count; ++i) {
      int value = values[i], j = i;
      for (; j >= gap && values[j - gap] > value; j -= gap)
        values[j] = values[j - gap];
      values[j] = value;
    }
}

static float dot(const float *restrict a, const float *restrict b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

int main(int argc, char **argv) {
  struct node *tree = make(SUM, 0, make(NUMBER, 2, 0, 0),
                           make(QUOTIENT, 0, make(NUMBER, argc, 0, 0), make(NUMBER, 4, 0, 0)));
  int values[64];
  float a[256], b[256];
  for (int i = 0; i < 256; ++i)
    a[i] = (float)i, b[i] = 1.0f / (float)(i + 1);
  for (int i = 0; i < 64; ++i)
    values[i] = (int)(hash((const unsigned char *)argv[0], i & 7) % 1000u);
  sort(values, 64);
  printf("%s %g %d %g\n", names[tree->kind], evaluate(tree), values[32], dot(a, b, 256));
  release(tree);
  return values[0] > values[63];
}
