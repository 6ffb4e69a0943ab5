package io.penstock.block;

/// Rows whose bytes are final and whose checksum is known while other rows of their granule are still to come.
///
/// @param rows inside one granule
/// @param crc CRC32C of their bytes
record VerifiedRows(GranuleRange rows, int crc) {}
