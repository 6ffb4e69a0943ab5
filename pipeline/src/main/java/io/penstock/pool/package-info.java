/// Which blocks are worth keeping: index and eviction policy as pure, injectable bookkeeping.
@NullMarked
package io.penstock.pool;

import org.jspecify.annotations.NullMarked;
