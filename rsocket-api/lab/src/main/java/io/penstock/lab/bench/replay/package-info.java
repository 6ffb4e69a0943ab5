/// The bench of a replay: its rate over a given number of rounds, without a report of the trace.
@NullMarked
package io.penstock.lab.bench.replay;

import org.jspecify.annotations.NullMarked;
