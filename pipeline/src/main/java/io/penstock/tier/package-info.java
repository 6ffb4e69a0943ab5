/// The storage of blocks: the port `BlockTier`, its receipts, leases and events, and the `Mono` face of the byte
/// budget.
@NullMarked
package io.penstock.tier;

import org.jspecify.annotations.NullMarked;
