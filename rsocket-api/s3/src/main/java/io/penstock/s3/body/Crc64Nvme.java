package io.penstock.s3.body;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.Checksum;

/// The checksum CRC-64/NVME, reflected, eight bytes a step.
final class Crc64Nvme implements Checksum {
  private static final long POLYNOMIAL = 0x9A6C9329AC4BC9B5L; // of the catalogue's AD93D23594C93659, its bits reversed
  private static final int STEP = Long.BYTES;
  private static final long[][] TABLES = tables();

  private long state = -1;

  private static long[][] tables() {
    long[][] tables = new long[STEP][256];
    for (int i = 0; i < 256; i++) {
      long value = i;
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        value = (value & 1) == 0 ? value >>> 1 : value >>> 1 ^ POLYNOMIAL;
      }
      tables[0][i] = value;
    }
    for (int table = 1; table < STEP; table++) {
      for (int i = 0; i < 256; i++) {
        long before = tables[table - 1][i];
        tables[table][i] = before >>> Byte.SIZE ^ tables[0][(int) before & 0xFF];
      }
    }
    return tables;
  }

  @Override
  public void update(ByteBuffer bytes) {
    ByteBuffer from = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    long value = state;
    while (from.remaining() >= STEP) {
      long mixed = value ^ from.getLong();
      value = TABLES[7][(int) mixed & 0xFF] ^ TABLES[6][(int) (mixed >>> 8) & 0xFF]
          ^ TABLES[5][(int) (mixed >>> 16) & 0xFF] ^ TABLES[4][(int) (mixed >>> 24) & 0xFF]
          ^ TABLES[3][(int) (mixed >>> 32) & 0xFF] ^ TABLES[2][(int) (mixed >>> 40) & 0xFF]
          ^ TABLES[1][(int) (mixed >>> 48) & 0xFF] ^ TABLES[0][(int) (mixed >>> 56)];
    }
    state = value;
    while (from.hasRemaining()) {
      update(from.get());
    }
    bytes.position(bytes.limit());
  }

  @Override
  public void update(int one) {
    state = state >>> Byte.SIZE ^ TABLES[0][(int) (state ^ one) & 0xFF];
  }

  @Override
  public void update(byte[] bytes, int offset, int length) {
    update(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public long getValue() {
    return ~state;
  }

  @Override
  public void reset() {
    state = -1;
  }
}
