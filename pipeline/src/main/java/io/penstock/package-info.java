/// The front door of Penstock's kernel: what can go wrong, said once for every room.
///
/// | Package | Room |
/// |---|---|
/// | `block` | the words: keys, layouts, memory, ownership; JDK only |
/// | `tier` | where blocks are kept: the [io.penstock.tier.BlockTier] port, and stacks of levels |
/// | `pool` | which blocks are worth keeping: ledger and policy |
/// | `stage` | one verb each: functions from `Flux` to `Flux` |
/// | `flow` | recipes that people embed: loading and offloading, as pipelines of stages |
/// | `system` | native memory and files: the one binding of the C library |
/// | `meter` | the catalogue of meters |
///
/// Arrows (may import): `flow → stage → tier → pool → block → system`. Every package may import this one.
/// A newcomer's walk: [io.penstock.block.Block], [io.penstock.tier.BlockTier], [io.penstock.stage.Stage],
/// [io.penstock.flow.LoadPrefix].
@NullMarked
package io.penstock;

import org.jspecify.annotations.NullMarked;
