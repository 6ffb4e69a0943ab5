package io.penstock.block;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// CRC32C (Castagnoli, polynomial `0x1EDC6F41` reflected, as RFC 3720), the checksum of every granule.
public final class Checksum {
  /// Reflected polynomial.
  private static final int POLYNOMIAL = 0x82F63B78;

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

  /// CRC32C of the bytes of a followed by the bytes of b, from the CRC of each and the length of b, without reading either.
  ///
  /// Appending n zero bytes to a message is a linear map over GF(2); it is applied by repeated squaring, in O(log n).
  public static int combine(int crcA, int crcB, long bytesB) {
    int[] odd = new int[32];
    int[] even = new int[32];
    odd[0] = POLYNOMIAL;
    for (int i = 1; i < 32; i++) {
      odd[i] = 1 << (i - 1);
    }
    square(even, odd);
    square(odd, even);
    int crc = crcA;
    for (long left = bytesB; left != 0; left >>>= 1) {
      square(even, odd);
      if ((left & 1) != 0) {
        crc = times(even, crc);
      }
      int[] swap = odd;
      odd = even;
      even = swap;
    }
    return crc ^ crcB;
  }

  private static int times(int[] matrix, int vector) {
    int sum = 0;
    int rest = vector;
    for (int i = 0; rest != 0; rest >>>= 1, i++) {
      if ((rest & 1) != 0) {
        sum ^= matrix[i];
      }
    }
    return sum;
  }

  private static void square(int[] target, int[] matrix) {
    for (int i = 0; i < 32; i++) {
      target[i] = times(matrix, matrix[i]);
    }
  }
}
