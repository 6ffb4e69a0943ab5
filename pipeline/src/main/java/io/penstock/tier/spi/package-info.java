/// What an implementer of a store, a device or a tier needs beside the port [io.penstock.tier.BlockTier]: the port
/// [BlockStore] with its blocks, health, figures and errors, and bases for tiers that wrap others.
@NullMarked
package io.penstock.tier.spi;

import org.jspecify.annotations.NullMarked;
