package io.penstock.storage.index;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.engine.Location;

/// Wrong checksum of a record: a [BlockCorruptException] without the key.
public record CrcMismatch(String boundary, int granule, int expected, int actual) {
  /// The damage of the record at `at`, whose head names `key`.
  public Damage damage(Location at, BlockKey key, long sequence) {
    return new Damage(at.segment(), at.offset(), at.length(), DamageKind.PAYLOAD, key.toString(), sequence, granule,
        true, reason());
  }

  public String reason() {
    return "crc must be %08x (was %08x)".formatted(expected, actual);
  }

  public BlockCorruptException of(BlockKey key) {
    return new BlockCorruptException(boundary, key, granule, expected, actual);
  }
}
