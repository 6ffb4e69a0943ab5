package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// PUTs that end too early or whose bytes change on their way: what was not stored whole is not there, and no byte that
/// is read is wrong.
final class FaultsTest {
  private static final int KEYS = 16;

  @TempDir
  private Path folder;

  @Test
  @Timeout(120)
  void bodyOfAnotherSize_whoseChecksumIsWrong_leavesTheObjectThatWasThere() throws IOException {
    String wrong = "x-amz-checksum-crc32c: AAAAAQ==\r\n";
    byte[] old = new byte[1_000_000];
    new Random(1).nextBytes(old);
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/k", "", old).status()).isEqualTo(200);
      for (int length : new int[] {0, 100, 60_000, 1_000_001}) {
        assertThat(client.ask("PUT", "/b/k", wrong, new byte[length]).text()).contains("BadDigest");
        assertThat(client.get("/b/k").body()).as("after a body of " + length).isEqualTo(old);
      }
      assertThat(client.ask("PUT", "/b/k", "", new byte[0]).status()).isEqualTo(200);
      assertThat(client.get("/b/k").body()).isEmpty();
    }
  }

  @Test
  @Timeout(120)
  void faults_leaveNoWrongByte() throws IOException {
    run(225, 20_261_129);
  }

  @Test
  @Tag("proof")
  void aHundredThousandFaults_leaveNoWrongByte() throws IOException {
    run(100_000, 7);
  }

  /// @param most faults; there are as many objects that come whole as faults of each kind
  private void run(int most, long seed) throws IOException {
    Random random = new Random(seed);
    Map<Integer, byte[]> stored = new HashMap<>();
    int faults = 0;
    try (TestNode node = TestNode.start(folder, "dram: 16MiB\n")) {
      RawClient client = new RawClient(node.port());
      for (int round = 0; faults < most; round++) {
        int number = random.nextInt(KEYS);
        String target = "/faults/" + number;
        byte[] bytes = new byte[1 + random.nextInt(random.nextInt(10) == 0 ? 1_000_000 : 20_000)];
        random.nextBytes(bytes);
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        String sum = "x-amz-checksum-crc32c: " + Base64.getEncoder().encodeToString(
            ByteBuffer.allocate(4).putInt((int) crc.getValue()).array()) + "\r\n";
        int kind = random.nextInt(4);
        String where = "round " + round + " of seed " + seed;
        switch (kind) {
          case 0 -> { // whole
            assertThat(client.ask("PUT", target, sum, bytes).status()).as(where).isEqualTo(200);
            stored.put(number, bytes);
          }
          case 1 -> { // a bit flips
            byte[] other = bytes.clone();
            other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
            assertThat(client.ask("PUT", target, sum, other).text()).as(where).contains("BadDigest");
            faults++;
          }
          case 2 -> { // the connection ends in the middle
            client.send((client.head("PUT", target, "Content-Length: " + bytes.length + "\r\n" + sum)
                + new String(bytes, 0, random.nextInt(bytes.length), StandardCharsets.ISO_8859_1))
                .getBytes(StandardCharsets.ISO_8859_1));
            client.close();
            client = new RawClient(node.port());
            faults++;
          }
          default -> { // the body is another's
            byte[] other = new byte[bytes.length];
            random.nextBytes(other);
            assertThat(client.ask("PUT", target, sum, other).text()).as(where).contains("BadDigest");
            faults++;
          }
        }
        int asked = random.nextInt(KEYS);
        RawClient.Answer read = client.get("/faults/" + asked);
        if (read.status() == 200) {
          assertThat(read.body()).as("key %s, %s", asked, where).isEqualTo(stored.get(asked));
        } else {
          assertThat(read.status()).as(where).isEqualTo(404);
        }
      }
      for (int number = 0; number < KEYS; number++) { // nothing that failed is visible
        RawClient.Answer read = client.get("/faults/" + number);
        if (read.status() == 200) {
          assertThat(read.body()).isEqualTo(stored.get(number));
        }
      }
      client.close();
      assertThat(node.door().users().get(TestNode.USER).aborts()).isPositive();
    }
  }
}
