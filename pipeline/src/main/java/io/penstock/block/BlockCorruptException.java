package io.penstock.block;

import io.penstock.TransientKvException;

/// The bytes of a granule differ from the checksum they were produced with. They were not handed on.
///
/// Transient: the holder quarantines the block, so the same call answers another copy, or a miss.
public final class BlockCorruptException extends TransientKvException {
  private final String boundary;
  private final BlockKey key;
  private final int granule;
  private final int expected;
  private final int actual;

  public BlockCorruptException(String boundary, BlockKey key, int granule, int expected, int actual) {
    super("block %s at %s: CRC32C of granule %d must be %08x (was %08x)".formatted(key, boundary, granule, expected,
        actual));
    this.boundary = boundary;
    this.key = key;
    this.granule = granule;
    this.expected = expected;
    this.actual = actual;
  }

  /// Place where the bytes were checked.
  public String boundary() {
    return boundary;
  }

  public BlockKey key() {
    return key;
  }

  /// `layer × planes + plane`.
  public int granule() {
    return granule;
  }

  /// CRC32C as it was when the bytes were produced.
  public int expected() {
    return expected;
  }

  /// CRC32C of the bytes that were found.
  public int actual() {
    return actual;
  }
}
