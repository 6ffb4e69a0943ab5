package io.penstock.wire.slice;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/// What a bad link, a buggy peer or an attacker does to the bytes of a message.
public final class Mutation {
  private static final int[] HOSTILE =
      {0, 1, -1, 2, 0x7F, 0xFF, 0xFFFF, 0x10000, 1 << 24, Integer.MAX_VALUE, Integer.MIN_VALUE,
        Integer.MAX_VALUE - 3, 0x40000000, 0x55555555};

  private Mutation() {}

  /// `bytes` with one to three faults.
  public static byte[] of(byte[] bytes, SplittableRandom random) {
    byte[] mutated = bytes.clone();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      mutated = once(mutated, random);
    }
    return mutated;
  }

  private static byte[] once(byte[] bytes, SplittableRandom random) {
    if (bytes.length < 8) {
      return garbage(random);
    }
    return switch (random.nextInt(8)) {
      case 0, 1 -> flipped(bytes, random);
      case 2 -> Arrays.copyOf(bytes, random.nextInt(bytes.length));
      case 3 -> Arrays.copyOf(bytes, bytes.length + random.nextInt(1, 64));
      case 4 -> swapped(bytes, random);
      case 5, 6 -> hostile(bytes, random);
      default -> random.nextInt(4) == 0 ? garbage(random) : flipped(bytes, random);
    };
  }

  private static byte[] flipped(byte[] bytes, SplittableRandom random) {
    for (int i = random.nextInt(1, 9); i > 0; i--) {
      bytes[near(bytes, random, 1)] ^= (byte) (1 << random.nextInt(8));
    }
    return bytes;
  }

  /// Exchanges two fields of four bytes.
  private static byte[] swapped(byte[] bytes, SplittableRandom random) {
    ByteBuffer fields = ByteBuffer.wrap(bytes);
    int one = near(bytes, random, 4);
    int other = near(bytes, random, 4);
    int kept = fields.getInt(one);
    fields.putInt(one, fields.getInt(other)).putInt(other, kept);
    return bytes;
  }

  private static byte[] hostile(byte[] bytes, SplittableRandom random) {
    ByteBuffer.wrap(bytes).order(random.nextBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN)
        .putInt(near(bytes, random, 4), HOSTILE[random.nextInt(HOSTILE.length)]);
    return bytes;
  }

  private static byte[] garbage(SplittableRandom random) {
    byte[] bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    return bytes;
  }

  /// A place, more often among the first hundred bytes, where the fields are, and then on their boundaries.
  private static int near(byte[] bytes, SplittableRandom random, int size) {
    int bound = bytes.length - size + 1;
    int place = random.nextInt(3) == 0 ? random.nextInt(bound) : random.nextInt(Math.min(bound, 100));
    return size == 4 ? place & ~3 : place;
  }

  /// Gives a slice a header CRC that holds, so that what comes after it is reached.
  public static byte[] withHeaderChecksum(byte[] slice) {
    if (slice.length >= SliceHeader.TABLES_OFFSET) {
      ByteBuffer fields = ByteBuffer.wrap(slice).order(ByteOrder.LITTLE_ENDIAN);
      int told = fields.getInt(SliceHeader.HEADER_BYTES_OFFSET);
      int length = told >= SliceHeader.TABLES_OFFSET && told <= slice.length ? told : SliceHeader.TABLES_OFFSET;
      fields.putInt(SliceHeader.HEADER_CRC_OFFSET, 0);
      CRC32C crc = new CRC32C();
      crc.update(slice, 0, length);
      fields.putInt(SliceHeader.HEADER_CRC_OFFSET, (int) crc.getValue());
    }
    return slice;
  }
}
