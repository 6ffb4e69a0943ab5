/// `penstock replay`: streams a trace of real requests through a node and checks the result, byte by byte.
///
/// A *decode* party leases the blocks of each request and regenerates every byte that it receives; a *prefill* party
/// produces the blocks that the node admitted. Both know a block's bytes from its key alone, so neither has to trust
/// the other, nor the node.
@NullMarked
package io.penstock.node.replay;

import org.jspecify.annotations.NullMarked;
