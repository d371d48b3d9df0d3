// Included before ../cc1/main.cpp, makes its main the one function that the library shows.
extern "C" int cc1_main(int argc, const char **argv);
#define main cc1_main
