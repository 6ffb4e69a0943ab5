package io.penstock.check;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// CRC32C (Castagnoli, polynomial `0x1EDC6F41` reflected, as RFC 3720), the checksum of every granule.
public final class Checksum {
  /// Reflected polynomial.
  private static final int POLYNOMIAL = 0x82F63B78;
  private static final int[] POWERS = powers();

  private Checksum() {}

  /// CRC32C of the bytes of `segment`.
  public static int of(MemorySegment segment) {
    return of(segment.asByteBuffer());
  }

  /// CRC32C of the remaining bytes of `bytes`, which are consumed.
  public static int of(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /// CRC32C of the bytes of a followed by the bytes of b, from the CRC of each and the length of b, without reading
  /// either.
  ///
  /// Appending n bytes multiplies a checksum by x to the power of 8n, modulo the polynomial: one multiplication for
  /// every bit set in n.
  public static int combine(int crcA, int crcB, long bytesB) {
    int shifted = crcA;
    int power = 3; // of two: the exponent counts bits
    for (long left = bytesB; left != 0; left >>>= 1) {
      if ((left & 1) != 0) {
        shifted = times(POWERS[power], shifted);
      }
      power++;
    }
    return shifted ^ crcB;
  }

  /// x to the powers 1, 2, 4, 8, …
  private static int[] powers() {
    int[] powers = new int[Long.SIZE + 3];
    powers[0] = 1 << 30; // reflected: the highest bit is the coefficient of 1
    for (int i = 1; i < powers.length; i++) {
      powers[i] = times(powers[i - 1], powers[i - 1]);
    }
    return powers;
  }

  /// The product of two polynomials over GF(2), modulo the polynomial of CRC32C.
  private static int times(int a, int b) {
    int product = 0;
    int multiple = b;
    for (int rest = a; rest != 0; rest <<= 1) {
      product ^= multiple & (rest >> 31);
      multiple = (multiple >>> 1) ^ (POLYNOMIAL & -(multiple & 1));
    }
    return product;
  }
}
