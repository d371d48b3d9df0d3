/* What the parts of abacus offer each other. */
#ifndef ABACUS_H
#define ABACUS_H

/* The value of an expression; *error is set to what is wrong with it, or left as it was. */
double evaluate(const char *text, const char **error);

/* The value of a function of one number; NULL in *error if there is none of that name. */
double call(const char *name, int length, double argument, const char **error);

void print_help(void);
int test_yourself(void);

#endif
