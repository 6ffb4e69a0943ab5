package io.penstock.block;

/// Verified rows of a granule whose other rows are still to come.
///
/// @param rows inside one granule
/// @param crc CRC32C of their bytes
record VerifiedRows(GranuleRange rows, int crc) {}
