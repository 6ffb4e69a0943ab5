package io.penstock.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ChecksumTest {
  /// RFC 3720, appendix B.4, read as big-endian numbers of the bytes that it lists in wire order.
  @ParameterizedTest
  @CsvSource({"00, 32, 0, 8a9136aa", "ff, 32, 0, 62a8ab43", "00, 32, 1, 46dd794e", "1f, 32, -1, 113fdb5c"})
  void of_theVectorsOfRfc3720(String first, int length, int step, String crc) {
    byte[] bytes = new byte[length];
    int value = HexFormat.fromHexDigits(first);
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (value + i * step);
    }
    assertThat(Checksum.of(ByteBuffer.wrap(bytes))).isEqualTo(HexFormat.fromHexDigits(crc));
  }

  @Test
  void of_anIscsiReadCommand_isTheVectorOfRfc3720() {
    byte[] pdu = HexFormat.of().parseHex(
        "01c00000000000000000000000000000140000000000040000000014000000182800000000000000" + "0200000000000000");
    assertThat(Checksum.of(ByteBuffer.wrap(pdu))).isEqualTo(0xd9963a56);
  }

  @Test
  void of_theCheckString_onHeapAndOffHeapAndReadOnly() {
    byte[] check = "123456789".getBytes(StandardCharsets.US_ASCII);
    assertThat(Checksum.of(ByteBuffer.wrap(check))).isEqualTo(0xe3069283);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(check.length).copyFrom(MemorySegment.ofArray(check));
      assertThat(Checksum.of(memory)).isEqualTo(0xe3069283);
      assertThat(Checksum.of(memory.asReadOnly())).isEqualTo(0xe3069283);
    }
    assertThat(Checksum.of(ByteBuffer.allocate(0))).isZero();
  }

  @Test
  void combine_equalsTheChecksumOfBothTogether() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      byte[] all = new byte[random.nextInt(1 << random.nextInt(14))];
      random.nextBytes(all);
      int cut = random.nextInt(all.length + 1);
      int a = Checksum.of(ByteBuffer.wrap(all, 0, cut));
      int b = Checksum.of(ByteBuffer.wrap(all, cut, all.length - cut));
      assertThat(Checksum.combine(a, b, all.length - cut)).as("seed %d, cut %d", seed, cut)
          .isEqualTo(Checksum.of(ByteBuffer.wrap(all)));
    }
  }

  @Test
  void combine_overMoreBytesThanAnInt_isAssociative() {
    long five = 5L << 30;
    int zeros = Checksum.combine(0x12345678, 0, five);
    int halves = Checksum.combine(Checksum.combine(0x12345678, 0, five / 2), 0, five / 2);
    assertThat(zeros).isEqualTo(halves).isNotEqualTo(0x12345678);
  }
}
