/// What a cluster of nodes shows: hits of a trace, nodes that are killed, drained and started again, small blocks, a
/// network that splits. The nodes are processes of their own, and every byte that is read is compared.
@NullMarked
package io.penstock.lab.bench.cluster;

import org.jspecify.annotations.NullMarked;
