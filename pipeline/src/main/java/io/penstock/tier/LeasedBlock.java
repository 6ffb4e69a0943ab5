package io.penstock.tier;

import io.penstock.block.Block;

/// A block of a lease and the index of its key in the request.
public record LeasedBlock(int position, Block block) {}
