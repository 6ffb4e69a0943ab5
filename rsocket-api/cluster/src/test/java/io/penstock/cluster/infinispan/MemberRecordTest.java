package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class MemberRecordTest {
  private static final MemberRecord RECORD = new MemberRecord(new UUID(1, 2), new Member("n1", 3,
      List.of("10.0.0.1:7733", "unix:/run/n1"), "zone1", Member.State.UP, new Figures(5, 6, 7, 12)), 8,
      new long[] {9, 10},
      11);
  /// The first release: nothing behind the rounds.
  private static final String FIRST = "01" + "0000000000000001" + "0000000000000002" + "00026e31" + "0000000000000003"
      + "00000002" + "000d31302e302e302e313a37373333" + "000c756e69783a2f72756e2f6e31" + "00057a6f6e6531" + "00"
      + "0000000000000005" + "0000000000000006" + "0000000000000007" + "00000008" + "00000002" + "0000000000000009"
      + "000000000000000a";

  private static byte[] hex(String text) {
    return HexFormat.of().parseHex(text);
  }

  private static void assertSame(MemberRecord read, int tellings, long idleMillis) {
    assertThat(read.member()).isEqualTo(RECORD.member().withIdle(idleMillis));
    assertThat(read.address()).isEqualTo(RECORD.address());
    assertThat(read.reunions()).isEqualTo(8);
    assertThat(read.rounds()).containsExactly(9, 10);
    assertThat(read.tellings()).isEqualTo(tellings);
  }

  @Test
  void record_survivesPassage() {
    assertSame(MemberRecord.read(RECORD.bytes()), 11, 12);
  }

  @Test
  void recordOfTheFirstRelease_isReadWithDefaults() {
    assertSame(MemberRecord.read(hex(FIRST)), 0, 0);
  }

  @Test
  void record_beginsAsThatOfTheFirstRelease_whichIgnoresTheRest() throws IOException {
    byte[] bytes = RECORD.bytes();

    assertThat(HexFormat.of().formatHex(bytes)).startsWith(FIRST);
    assertThat(readByTheFirstRelease(bytes)).isEqualTo("n1, 2 rounds, the last 10");
  }

  /// The reader of the first release, in short.
  private static String readByTheFirstRelease(byte[] bytes) throws IOException {
    DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes));
    assertThat(from.readUnsignedByte()).isEqualTo(1);
    from.skipNBytes(2 * Long.BYTES);
    String name = from.readUTF();
    from.skipNBytes(Long.BYTES);
    for (int left = from.readInt(); left > 0; left--) {
      from.readUTF();
    }
    from.readUTF();
    from.skipNBytes(1 + 3 * Long.BYTES + Integer.BYTES);
    int rounds = from.readInt();
    from.skipNBytes((rounds - 1L) * Long.BYTES);
    return name + ", " + rounds + " rounds, the last " + from.readLong();
  }

  @Test
  void fieldsOfALaterRelease_areSkipped() throws IOException {
    byte[] later = LaterRelease.bytes(RECORD, "gpu");

    assertThat(later).hasSizeGreaterThan(RECORD.bytes().length);
    assertSame(MemberRecord.read(later), 11, 12);
  }

  @Test
  void versionThatCannotBeRead_isRefusedByItsNumber() {
    byte[] bytes = RECORD.bytes();
    bytes[0] = 2;

    assertThatThrownBy(() -> MemberRecord.read(bytes)).isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("version of the record must be 1 for this release (was 2)");
  }

  @Test
  void anyBytes_areARecordOrRefused() {
    byte[] good = RECORD.bytes();
    Random random = new Random(34);
    for (int i = 0; i < 5_000; i++) {
      byte[] bytes = Arrays.copyOf(good, random.nextInt(good.length + 8));
      for (int j = random.nextInt(4); j > 0 && bytes.length > 0; j--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      try {
        assertThat(MemberRecord.read(bytes).rounds()).hasSizeLessThanOrEqualTo(bytes.length / Long.BYTES);
      } catch (UncheckedIOException | IllegalArgumentException e) {
        assertThat(e.getMessage()).as("%d", i).isNotNull();
      }
    }
  }

  /// What a later release might tell: the same, with fields behind it.
  static final class LaterRelease {
    private LaterRelease() {}

    static byte[] bytes(MemberRecord record, String more) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (DataOutputStream to = new DataOutputStream(bytes)) {
        to.write(record.bytes());
        to.writeByte(200);
        to.writeUTF(more);
        to.writeByte(201);
        to.writeShort(0);
      }
      return bytes.toByteArray();
    }
  }
}
