/// Which blocks are worth keeping: an index and an eviction policy, without blocks, threads or clocks.
@NullMarked
package io.penstock.pool;

import org.jspecify.annotations.NullMarked;
