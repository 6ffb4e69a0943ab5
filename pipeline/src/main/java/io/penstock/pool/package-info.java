/// Chooses the blocks that are worth keeping: an index and eviction policies, without blocks, threads or clocks.
@NullMarked
package io.penstock.pool;

import org.jspecify.annotations.NullMarked;
