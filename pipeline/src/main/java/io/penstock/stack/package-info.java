/// Device memory, host memory and disk as one tier: the stack, and how its parts are put together.
///
/// The rooms below, each of which knows only those before it: `shape` (levels and options), `decision` (the lock, and
/// what a decision changes), `ledger` (which block is on which level), `move` (copies between levels), `hold` (leases,
/// pins and groups), `read` and `write` (streams to readers, reservations of writers), which do not know each other.
@NullMarked
package io.penstock.stack;

import org.jspecify.annotations.NullMarked;
