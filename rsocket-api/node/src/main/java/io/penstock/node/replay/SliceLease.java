package io.penstock.node.replay;

import io.penstock.block.LayerSlice;
import io.penstock.tier.Presence;
import reactor.core.publisher.Flux;

/// An answered lease and its stream.
///
/// @param hits keys that counted as hits
/// @param admitted keys that a prefill party must put
/// @param slices of every leased block, layer by layer, in offset order for each block; owned by the scope of the lease
record SliceLease(Presence hits, Presence admitted, Flux<LayerSlice> slices) {}
