/// Types for authors of stores, devices and tiers, in addition to the port [io.penstock.tier.BlockTier]: the port
/// [BlockStore] with its blocks, health, figures and errors, and bases for tiers that wrap others.
@NullMarked
package io.penstock.tier.spi;

import org.jspecify.annotations.NullMarked;
