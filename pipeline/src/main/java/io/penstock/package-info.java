/// The front door of Penstock's kernel, with the errors that all its packages share.
///
/// For users:
///
/// | Package | Room |
/// |---|---|
/// | `block` | the words: keys, layouts, memory, ownership; JDK only |
/// | `tier` | where blocks are kept: the [io.penstock.tier.BlockTier] port, and stacks of levels |
/// | `stage` | one verb each: functions from `Flux` to `Flux` |
/// | `flow` | recipes that people embed: loading and offloading, as pipelines of stages |
///
/// For authors of stores and tiers: `tier.spi`. Shared among the modules of this project, and not exported to others:
///
/// | Package | Room |
/// |---|---|
/// | `pool` | which blocks are worth keeping: ledger and policy |
/// | `tier.slice` | how a window is cut into slices, and where slices land |
/// | `operator` | building blocks of operators that Reactor lacks |
/// | `check` | checks of arguments and of bytes; JDK only |
/// | `system` | native memory and files: the one binding of the C library |
/// | `meter` | the catalogue of meters |
///
/// Arrows (may import): `flow → stage → tier → pool → block → system → check`, and `tier → operator`. Every package may
/// import this one. A newcomer's walk: [io.penstock.block.Block], [io.penstock.tier.BlockTier],
/// [io.penstock.stage.Stage], [io.penstock.flow.LoadPrefix].
@NullMarked
package io.penstock;

import org.jspecify.annotations.NullMarked;
