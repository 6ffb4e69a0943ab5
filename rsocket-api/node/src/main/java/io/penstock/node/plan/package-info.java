/// The command `penstock plan`: transfers between ranks when prefill and decode run with different parallelism.
@NullMarked
package io.penstock.node.plan;

import org.jspecify.annotations.NullMarked;
