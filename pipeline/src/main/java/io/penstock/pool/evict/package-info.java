/// Eviction orders, and the tables of keys and rows that they are built of. Each order cites its paper.
@NullMarked
package io.penstock.pool.evict;

import org.jspecify.annotations.NullMarked;
