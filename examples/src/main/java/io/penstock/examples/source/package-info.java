/// What an embedder may write for itself: a [io.penstock.tier.BlockTier] whose blocks are made when a reader asks for
/// them, and bytes that can be made again to be compared.
@NullMarked
package io.penstock.examples.source;

import org.jspecify.annotations.NullMarked;
