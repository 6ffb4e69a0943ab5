/// Prefill and decode on different ranks, with different parallelism: a transformer whose answer must not change.
@NullMarked
package io.penstock.examples.disaggregated;

import org.jspecify.annotations.NullMarked;
