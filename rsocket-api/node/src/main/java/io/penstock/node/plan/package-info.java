/// The command `penstock plan`: transfers between ranks when prefill and decode run with different parallelism, and a
/// check of the rules against recorded cases of an engine.
@NullMarked
package io.penstock.node.plan;

import org.jspecify.annotations.NullMarked;
