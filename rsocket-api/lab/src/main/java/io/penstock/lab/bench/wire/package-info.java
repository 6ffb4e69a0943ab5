/// Benches over a connection: rate, latency, transfers into device memory, and the first seconds of a process.
@NullMarked
package io.penstock.lab.bench.wire;

import org.jspecify.annotations.NullMarked;
