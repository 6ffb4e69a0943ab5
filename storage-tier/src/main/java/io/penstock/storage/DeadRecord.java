package io.penstock.storage;

import io.penstock.block.BlockKey;

/// A record that nobody needs any more, and that lies in its segment until that goes.
///
/// @param key its block
/// @param sequence its own
/// @param segment where it lies
record DeadRecord(BlockKey key, long sequence, int segment) {}
