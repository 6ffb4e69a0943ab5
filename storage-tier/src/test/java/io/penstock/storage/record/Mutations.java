package io.penstock.storage.record;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;

/// Seeded damage: flipped bits, hostile numbers, runs of zeros and of other bytes, cut and longer ends.
public final class Mutations {
  private static final int[] HOSTILE =
      {0, 1, -1, 7, 8, 76, 80, 1 << 30, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x3FFFFFFF, 0x40000000, 0xC0000000};

  private Mutations() {}

  static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /// Makes the CRC of a head and the commit mark fit its bytes, as an attacker would.
  static void forge(byte[] record) {
    if (record.length < 24) {
      return;
    }
    int head = buffer(record).getInt(12);
    if (head < 8 || head > record.length - 8) {
      return;
    }
    CRC32C crc = new CRC32C();
    crc.update(record, 0, head - 4);
    buffer(record).putInt(head - 4, (int) crc.getValue());
    buffer(record).putInt(record.length - 8, (int) crc.getValue()).putInt(record.length - 4, ~(int) crc.getValue());
  }

  /// One to three changes of `original`.
  public static byte[] mutate(byte[] original, Random random) {
    byte[] bytes = original.clone();
    for (int changes = 1 + random.nextInt(3); changes > 0 && bytes.length > 8; changes--) {
      bytes = change(bytes, random);
    }
    return bytes;
  }

  private static byte[] change(byte[] bytes, Random random) {
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(7)) {
      case 0, 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 2 -> buffer(bytes).putInt(Math.min(at & -4, bytes.length - 4), HOSTILE[random.nextInt(HOSTILE.length)]);
      case 3 -> Arrays.fill(bytes, at, Math.min(bytes.length, at + random.nextInt(64)), (byte) 0);
      case 4 -> {
        int from = random.nextInt(bytes.length);
        System.arraycopy(bytes, from, bytes, at, Math.min(16, bytes.length - Math.max(at, from)));
      }
      case 5 -> {
        return Arrays.copyOf(bytes, at);
      }
      default -> {
        return Arrays.copyOf(bytes, bytes.length + random.nextInt(64));
      }
    }
    return bytes;
  }
}
