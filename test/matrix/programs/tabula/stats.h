// What each thread did.
#pragma once

namespace tabula {

class Output;

enum class Counter { Inserts, Lookups, Rows, Calls };
constexpr int numCounters = 4;

void count(Counter c);
long counted(Counter c);
/// Runs `work` in a thread of its own, whose counts are its own.
void inThread(void (*work)(Output &), Output &out);
void showCounts(Output &out);

} // namespace tabula
