package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.PooledByteBufAllocator;
import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/// What users of other stores complain of, at this door.
@Timeout(180)
final class PainsTest {
  private static final byte[] NONE = new byte[0];

  @TempDir
  private Path folder;

  private static byte[] bytes(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static DoorUses.Figures figures(TestNode node) {
    return node.door().users().get(TestNode.USER);
  }

  private static long known(TestNode node) {
    return node.door().names().values().stream().mapToLong(DoorValues.Names::known).sum();
  }

  @Test
  void writesOfManyTimesTheMemory_areTaken_andOldOnesGo() throws IOException {
    try (TestNode node = TestNode.start(folder, "dram: 16MiB\n"); RawClient client = new RawClient(node.port())) {
      for (int i = 0; i < 100; i++) {
        assertThat(client.ask("PUT", "/b/" + i, "", bytes(i, 1_000_000)).status()).isEqualTo(200);
      }
      assertThat(client.get("/b/99").body()).isEqualTo(bytes(99, 1_000_000));
      assertThat(client.ask("HEAD", "/b/0", "", NONE).status()).isEqualTo(404);
      assertThat(client.get("/b/0").status()).isEqualTo(404);
      DoorUses.Figures now = figures(node);
      assertThat(now.writes() + now.drops()).isEqualTo(100);
      assertThat(now.writes()).isGreaterThan(50);
      assertThat(now.bytesIn()).isPositive();
    }
  }

  @Test
  void questionsWithoutEnd_keepNothingFromBeingStored() throws IOException {
    try (TestNode node = TestNode.start(folder, "dram: 16MiB\n"); RawClient client = new RawClient(node.port())) {
      for (int i = 0; i < 12; i++) {
        client.ask("PUT", "/b/" + i, "", bytes(i, 1_000_000));
      }
      for (int i = 0; i < 200; i++) {
        client.ask("HEAD", "/b/" + (i % 24), "", NONE);
      }
      assertThat(client.ask("PUT", "/b/new", "", bytes(77, 3_000_000)).status()).isEqualTo(200);
      assertThat(client.get("/b/new").body()).isEqualTo(bytes(77, 3_000_000));
    }
  }

  @Test
  void aReaderThatTakesAByteAtATime_getsTheRightBytes_orAnEnd_whileThePoolTurnsOver() throws IOException {
    try (TestNode node = TestNode.start(folder, "dram: 16MiB\n");
        RawClient slow = new RawClient(node.port());
        RawClient client = new RawClient(node.port())) {
      client.ask("PUT", "/b/slow", "", bytes(5, 6_000_000));
      slow.send(slow.head("GET", "/b/slow", ""));
      assertThat(slow.answer(true).status()).isEqualTo(200);
      byte[] wanted = bytes(5, 6_000_000);
      byte[] others = bytes(159, 1_000_000);
      for (int i = 0; i < 160; i++) {
        assertThat(slow.read(1)[0]).isEqualTo(wanted[i]);
        assertThat(client.ask("PUT", "/b/" + i, "", others).status()).isEqualTo(200);
      }
      byte[] rest = slow.read(wanted.length - 160); // all, or what came before the connection ended
      assertThat(Arrays.equals(rest, Arrays.copyOfRange(wanted, 160, 160 + rest.length))).isTrue();
      assertThat(figures(node).writes()).as("objects stored beside the reader").isGreaterThan(80);
      assertThat(client.get("/b/159").body()).isEqualTo(others);
    }
  }

  @Test
  void readersThatStop_holdTheirObjectAlone_whileOthersGoOn_andAreCutOff() throws IOException {
    byte[] wanted = bytes(6, 9_000_000); // most of the parts that there are
    int turn = 20;
    List<RawClient> stopped = new ArrayList<>();
    try (TestNode node = TestNode.start(folder, "dram: 16MiB\nstall.timeout: 1s\ns3.part.bytes: \"262656\"\n");
        RawClient client = new RawClient(node.port())) {
      for (int i = 0; i < 2 * turn; i++) { // buffers of the sockets are there
        storeAndRead(client, i);
      }
      assertThat(client.ask("PUT", "/b/stopped", "", wanted).status()).isEqualTo(200);
      assertThat(client.ask("HEAD", "/b/stopped", "", NONE).status()).isEqualTo(200);
      long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
      for (int i = 0; i < 4; i++) {
        RawClient reader = RawClient.withSmallWindow(node.port());
        stopped.add(reader);
        reader.send(reader.head("GET", "/b/stopped", ""));
        assertThat(reader.answer(true).status()).isEqualTo(200);
      }
      long most = 0;
      for (int i = 0; node.door().connections() > 1; i++) {
        storeAndRead(client, i);
        most = Math.max(most, PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before);
      }
      assertThat(most).as("memory beside that of the object").isLessThan(wanted.length);
      for (RawClient reader : stopped) {
        byte[] rest = reader.read(wanted.length);
        assertThat(rest.length).as("the reader is cut off").isLessThan(wanted.length);
        assertThat(rest).isEqualTo(Arrays.copyOf(wanted, rest.length));
        reader.close();
      }
      for (int i = 0; i < 2 * turn; i++) {
        storeAndRead(client, i);
      }
      assertThat(client.get("/b/stopped").status()).as("the object, which is held no more").isEqualTo(404);
      assertThat(figures(node).drops()).isZero();
    }
  }

  private static void storeAndRead(RawClient client, int number) throws IOException {
    byte[] object = bytes(number, 1_000_000);
    assertThat(client.ask("PUT", "/b/" + number, "", object).status()).isEqualTo(200);
    assertThat(client.get("/b/" + number).body()).isEqualTo(object);
  }

  @Test
  void bodiesWhoseConnectionsEnd_areNeverThere() throws IOException {
    endInTheMiddle(300, 21);
  }

  @Test
  @Tag("proof")
  @Timeout(1800)
  void aHundredThousandBodiesWhoseConnectionsEnd_areNeverThere() throws IOException {
    endInTheMiddle(100_000, 22);
  }

  private void endInTheMiddle(int times, long seed) throws IOException {
    Random random = new Random(seed);
    int[] lengths = {1, 100, 4_541, 66_000};
    byte[][] whole = new byte[lengths.length][];
    try (TestNode node = TestNode.start(folder, "dram: 16MiB\n")) {
      int[] heads = new int[lengths.length];
      for (int i = 0; i < lengths.length; i++) {
        byte[] head;
        try (RawClient client = new RawClient(node.port())) {
          head = client.head("PUT", "/b/gone" + i, "Content-Length: " + lengths[i] + "\r\n")
              .getBytes(StandardCharsets.ISO_8859_1);
        }
        heads[i] = head.length;
        whole[i] = Arrays.copyOf(head, head.length + lengths[i]);
      }
      int aborted = 0;
      for (int i = 0; i < times; i++) {
        int which = random.nextInt(lengths.length);
        int cut = 1 + random.nextInt(whole[which].length - 1);
        aborted += cut >= heads[which] ? 1 : 0;
        try (RawClient client = new RawClient(node.port())) {
          client.send(Arrays.copyOf(whole[which], cut));
          if (i % 2 == 0) {
            client.reset();
          }
        }
      }
      int least = aborted / 2; // a connection that is reset takes with it what was not read yet
      Eventually.holds("bodies that ended are counted, seed " + seed, () -> node.door().users()
          .containsKey(TestNode.USER) && figures(node).aborts() >= least && figures(node).writes() == 0);
      try (RawClient client = new RawClient(node.port())) {
        for (int i = 0; i < lengths.length; i++) {
          assertThat(client.ask("HEAD", "/b/gone" + i, "", NONE).status()).as("seed " + seed).isEqualTo(404);
        }
        assertThat(client.ask("GET", "/b?list-type=2", "", NONE).text()).contains("<KeyCount>0</KeyCount>");
      }
    }
  }

  @Test
  void aListOfAFullPage_isAnswered() throws IOException {
    String open = "listen.port: 0\nadmin.port: 0\ndram: 64MiB\ns3: 127.0.0.1:0\ns3.room.timeout: 60s\n";
    try (TestNode node = TestNode.startAsIs(folder, open); RawClient client = new RawClient(node.port())) {
      for (int i = 0; i < 1_100; i++) { // 1,100 signatures take seconds
        client.send("PUT /list/" + i % 2 + "/" + i + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nv");
        assertThat(client.answer(false).status()).isEqualTo(200);
      }
      String page = client.get("/list?list-type=2").text();
      assertThat(page).contains("<KeyCount>1000</KeyCount>", "<IsTruncated>true</IsTruncated>");
      String token = page.replaceAll("(?s).*<NextContinuationToken>(.*)</NextContinuationToken>.*", "$1");
      assertThat(client.get("/list?list-type=2&continuation-token=" + token).text())
          .contains("<KeyCount>100</KeyCount>", "<IsTruncated>false</IsTruncated>");
      assertThat(client.get("/list?list-type=2&delimiter=/").text()).contains("<KeyCount>2</KeyCount>",
          "<IsTruncated>false</IsTruncated>");
    }
  }

  /// @param headers of the writes: none, and a condition that holds unless a tag is there
  @ParameterizedTest
  @ValueSource(strings = {"", "If-None-Match: \"x\"\r\n"})
  void aWriteThatIsDropped_leavesNoOldObject(String headers) throws IOException {
    try (TestNode node = TestNode.start(folder, "s3.room.timeout: 60s\n");
        RawClient client = new RawClient(node.port());
        RawClient half = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/k", "", bytes(1, 100)).status()).isEqualTo(200);
      half.send(half.head("PUT", "/b/half", "Content-Length: 5\r\nExpect: 100-continue\r\n"));
      assertThat(half.answer(false).status()).isEqualTo(100); // it has begun, so a drain waits for it
      Disposable draining = node.node().drain().subscribe();
      RawClient.Answer read;
      do {
        assertThat(client.ask("PUT", "/b/k", headers, bytes(2, 100)).status()).isEqualTo(200);
        read = client.get("/b/k");
        if (read.status() == 200) {
          assertThat(read.body()).isEqualTo(bytes(2, 100));
        }
      } while (read.status() == 200); // until nothing is stored any more
      assertThat(read.status()).isEqualTo(404);
      draining.dispose();
    }
  }

  @Test
  void ofWritersThatWantNoObjectThere_oneStores() throws IOException {
    try (TestNode node = TestNode.start(folder, "s3.room.timeout: 60s\n");
        RawClient first = new RawClient(node.port());
        RawClient second = new RawClient(node.port())) {
      String head = "Content-Length: 2\r\nIf-None-Match: *\r\nExpect: 100-continue\r\n";
      first.send(first.head("PUT", "/b/new", head));
      assertThat(first.answer(false).status()).isEqualTo(100); // its write has begun
      assertThat(second.ask("PUT", "/b/new", "If-None-Match: *\r\n", bytes(2, 2)).status()).isEqualTo(409);
      first.send(bytes(1, 2));
      assertThat(first.answer(false).status()).isEqualTo(200);
      assertThat(second.ask("PUT", "/b/new", "If-None-Match: *\r\n", bytes(2, 2)).status()).isEqualTo(412);
      assertThat(second.get("/b/new").body()).isEqualTo(bytes(1, 2));
    }
  }

  @Test
  void ofWritersThatReplaceOneObject_oneStores_andTheOtherIsRefused() throws IOException {
    try (TestNode node = TestNode.start(folder, "s3.room.timeout: 60s\n");
        RawClient first = new RawClient(node.port());
        RawClient second = new RawClient(node.port())) {
      for (int length : new int[] {2, 50_000, 1_000_000}) { // in one block, in parts, and in another size
        String tag = second.ask("PUT", "/b/k", "", bytes(3, 2)).headers().get("etag");
        String match = "If-Match: " + tag + "\r\n";
        first.send(first.head("PUT", "/b/k", "Content-Length: " + length + "\r\n" + match
            + "Expect: 100-continue\r\n"));
        assertThat(first.answer(false).status()).isEqualTo(100); // its write has begun
        int ofSecond = second.ask("PUT", "/b/k", match, bytes(2, 2)).status();
        first.send(bytes(1, length));
        int ofFirst = first.answer(false).status();
        // In one block the first has the place of the object already; else the second is quicker
        assertThat(List.of(ofFirst, ofSecond)).as("%d bytes", length)
            .isEqualTo(length == 2 ? List.of(200, 409) : List.of(412, 200));
        assertThat(second.get("/b/k").body()).isEqualTo(length == 2 ? bytes(1, 2) : bytes(2, 2));
      }
    }
  }

  @Test
  void aWriter_abortsItsUpload_andRemovesNothingElse() throws IOException {
    Path users = Files.writeString(folder.resolve("users"), "engine:sha256$" + "0".repeat(64) + "\n");
    Path rules = Files.writeString(folder.resolve("rules"), "users:\n  engine: writer\n");
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-------"));
    String access = "auth.users: " + users + "\naccess.rules: " + rules + "\n";
    try (TestNode node = TestNode.start(folder, access); RawClient client = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/k", "", bytes(1, 10)).status()).isEqualTo(200);
      assertThat(client.ask("DELETE", "/b/k", "", NONE).status()).isEqualTo(403);
      byte[] names = "<Delete><Object><Key>k</Key></Object></Delete>".getBytes(StandardCharsets.UTF_8);
      assertThat(client.ask("POST", "/b?delete", "", names).status()).isEqualTo(403);
      assertThat(client.get("/b/k").status()).isEqualTo(200);
      String begun = client.ask("POST", "/b/up?uploads", "", NONE).text();
      String id = begun.replaceAll("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
      assertThat(client.ask("DELETE", "/b/up?uploadId=" + id, "", NONE).status()).isEqualTo(204);
    }
  }

  /// An upload whose parts are there.
  ///
  /// @param end asks for the object
  private record Upload(String id, String end) {
    RawClient.Answer complete(RawClient client) throws IOException {
      return client.ask("POST", "/b/up?uploadId=" + id, "", end.getBytes(StandardCharsets.UTF_8));
    }
  }

  private static Upload upload(RawClient client, int parts, int part) throws IOException {
    String begun = client.ask("POST", "/b/up?uploads", "", NONE).text();
    String id = begun.replaceAll("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
    StringBuilder all = new StringBuilder("<CompleteMultipartUpload>");
    for (int i = 1; i <= parts; i++) {
      RawClient.Answer put = client.ask("PUT", "/b/up?partNumber=" + i + "&uploadId=" + id, "", bytes(i, part));
      assertThat(put.status()).isEqualTo(200);
      all.append("<Part><PartNumber>").append(i).append("</PartNumber><ETag>").append(put.headers().get("etag"))
          .append("</ETag></Part>");
    }
    return new Upload(id, all.append("</CompleteMultipartUpload>").toString());
  }

  @Test
  void anUploadInParts_needsRoomForTheObjectAndOnePart() throws IOException {
    int part = 8 << 20;
    String room = "dram: " + (64 + 8 + 4) + "MiB\ns3.part.bytes: \"262656\"\n"; // 4 MiB for what is on its way
    try (TestNode node = TestNode.start(folder, room); RawClient client = new RawClient(node.port())) {
      Upload upload = upload(client, 8, part);
      assertThat(upload.complete(client).status())
          .isEqualTo(200);
      RawClient.Answer read = client.get("/b/up");
      assertThat(read.status()).isEqualTo(200);
      for (int i = 1; i <= 8; i++) {
        assertThat(Arrays.copyOfRange(read.body(), (i - 1) * part, i * part)).isEqualTo(bytes(i, part));
      }
      assertThat(figures(node).drops()).isZero();
    }
  }

  @Test
  void anUploadThatEndsInAnError_keepsNoPart() throws IOException {
    int part = 4 << 20;
    String room = "dram: 16MiB\ns3.part.bytes: \"262656\"\n";
    try (TestNode node = TestNode.start(folder, room); RawClient client = new RawClient(node.port())) {
      Upload upload = upload(client, 5, part);
      assertThat(known(node)).isPositive();
      assertThat(upload.complete(client).text())
          .contains("EntityTooLarge")
          .containsPattern("object must be &lt;= [0-9]{8} bytes, the room of its space \\(was 20971520\\)");
      Eventually.holds("no part is there", () -> known(node) == 0);
    }
  }

  @Test
  void aRestart_findsWhatIsOnTheDisk() throws IOException {
    String disk = "dram: 8MiB\nssd: 256MiB\nssd.dir: " + folder.resolve("ssd") + "\nssd.segment.bytes: 4MiB\n";
    String boot;
    try (TestNode node = TestNode.start(folder, disk); RawClient client = new RawClient(node.port())) {
      for (int i = 0; i < 30; i++) {
        client.ask("PUT", "/b/" + i, "", bytes(i, 900_000));
      }
      boot = client.get("/b/29").headers().get("x-amz-id-2");
    }
    try (TestNode node = TestNode.start(folder, disk); RawClient client = new RawClient(node.port())) {
      Eventually.holds("all names are known",
          () -> node.door().names().values().stream().allMatch(DoorValues.Names::complete));
      RawClient.Answer list = client.get("/b?list-type=2");
      assertThat(list.headers()).containsEntry("x-penstock-names", "all");
      int found = 0;
      for (int i = 0; i < 30; i++) {
        RawClient.Answer read = client.get("/b/" + i);
        if (read.status() == 200) {
          assertThat(read.body()).isEqualTo(bytes(i, 900_000));
          assertThat(list.text()).contains("<Key>" + i + "</Key><LastModified>");
          found++;
        }
        assertThat(read.headers().get("x-amz-id-2")).isNotEqualTo(boot);
      }
      assertThat(found).as("objects on the disk").isGreaterThan(10);
    }
  }

  @Test
  void withoutKeys_anySignatureWillDo_andANodeWithUsersRefusesThat() throws IOException {
    String yaml = "listen.port: 0\nadmin.port: 0\ndram: 16MiB\ns3: 127.0.0.1:0\n";
    try (TestNode node = TestNode.startAsIs(folder, yaml); RawClient client = new RawClient(node.port())) {
      client.send("PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nv");
      assertThat(client.answer(false).status()).isEqualTo(200);
      client.send("GET /b/k HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer(false).text()).isEqualTo("v");
    }
    Path users = Files.writeString(folder.resolve("users"), "");
    assertThatThrownBy(() -> NodeConfig.resolve(Files.writeString(folder.resolve("bad.yaml"),
        yaml + "auth.users: " + users
            + "\n"),
        Map.of(), Map.of())).isInstanceOf(ConfigException.class).hasMessageContaining("s3.keys.file must be a file");
  }
}
