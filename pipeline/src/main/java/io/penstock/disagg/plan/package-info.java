/// Plans transfers between ranks when prefill and decode run with different parallelism: pure functions from two
/// manifests and a request to a plan. Both sides compute the same plan, so they share no state. This package has no
/// bytes, threads or clocks.
@NullMarked
package io.penstock.disagg.plan;

import org.jspecify.annotations.NullMarked;
