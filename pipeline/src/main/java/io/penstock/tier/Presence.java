package io.penstock.tier;

import java.util.BitSet;

/// Yes or no for each key of a request, in the order of the keys. Immutable.
public final class Presence {
  private final int size;
  private final BitSet bits;

  private Presence(int size, BitSet bits) {
    this.size = size;
    this.bits = bits;
  }

  /// @param size number of keys
  /// @param bits set for the keys that are present; copied
  /// @throws IllegalArgumentException if a bit beyond `size` is set
  public static Presence of(int size, BitSet bits) {
    return checked(size, (BitSet) bits.clone());
  }

  /// @param bits as of [BitSet#valueOf(byte[])]
  /// @throws IllegalArgumentException if a bit beyond `size` is set
  public static Presence of(int size, byte[] bits) {
    return checked(size, BitSet.valueOf(bits));
  }

  private static Presence checked(int size, BitSet bits) {
    if (bits.length() > size) {
      throw new IllegalArgumentException("bits must end before size " + size + " (was " + bits.length() + ")");
    }
    return new Presence(size, bits);
  }

  /// The bits as [BitSet#toByteArray()] writes them.
  public byte[] toByteArray() {
    return bits.toByteArray();
  }

  /// Number of keys asked for.
  public int size() {
    return size;
  }

  /// Whether the key at `position` is present; false beyond the last.
  public boolean get(int position) {
    return bits.get(position);
  }

  /// Number of present keys.
  public int count() {
    return bits.cardinality();
  }

  /// Length of the run of present keys at the start: the longest prefix.
  public int prefix() {
    return Math.min(size, bits.nextClearBit(0));
  }

  /// A copy as a bit set.
  public BitSet bits() {
    return (BitSet) bits.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Presence that && that.size == size && that.bits.equals(bits);
  }

  @Override
  public int hashCode() {
    return 31 * size + bits.hashCode();
  }

  @Override
  public String toString() {
    return count() + " of " + size;
  }
}
