package io.penstock.storage.check;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import org.jspecify.annotations.Nullable;

/// A damaged range of a segment.
///
/// @param segment its number
/// @param offset of the range in the segment's file; 0 if `kind` is [DamageKind#CHECKPOINT]
/// @param length of the range in bytes: a whole record, wherever in it the damage is
/// @param kind of the damage
/// @param key of the block, in hexadecimal: space, then hash; null if it cannot be known, or the record is a removal
/// @param sequence of the record; 0 if it cannot be known
/// @param granule that differs first; -1 if `kind` is not [DamageKind#PAYLOAD]
/// @param live whether a live block is lost; true if unknown
/// @param reason in words
public record Damage(int segment, long offset, long length, DamageKind kind, @Nullable String key, long sequence,
    int granule, boolean live, String reason) {
  public Damage {
    requireNonNull(kind, "kind");
    requireNonNull(reason, "reason");
  }

  /// A range whose record is unknown.
  public static Damage unknown(int segment, long offset, long length, DamageKind kind, String reason) {
    return new Damage(segment, offset, length, kind, null, 0, -1, true, reason);
  }

  Damage withName(@Nullable BlockKey of, long number) {
    return new Damage(segment, offset, length, kind, of == null ? null : of.toString(), number, granule, live, reason);
  }

  Damage withLive(boolean isLive) {
    return new Damage(segment, offset, length, kind, key, sequence, granule, isLive, reason);
  }
}
