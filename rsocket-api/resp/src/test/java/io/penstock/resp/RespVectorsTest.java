package io.penstock.resp;

import static io.penstock.resp.RespClient.bytes;
import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What clients send and get, byte by byte.
@Timeout(300)
final class RespVectorsTest {
  private static final String KEY = "m@1@0@1f@half";
  private static final byte[] VALUE = {0, 1, 13, 10};
  /// SET of the value, then of its metadata, by a client in the process of an engine.
  private static final byte[] R1 = hex("2a330d0a 24330d0a 5345540d0a 2432310d0a"
      + "6d403140304031664068616c666b765f6279746573 0d0a 24340d0a 00010d0a 0d0a");
  private static final byte[] METADATA =
      hex("04000000010000000200000002000000010000000100000001000000");
  private static final byte[] R3 = hex("2a330d0a 24330d0a 5345540d0a 2432310d0a"
      + "6d403140304031664068616c666d65746164617461 0d0a 2432380d0a"
      + "04000000010000000200000002000000010000000100000001000000 0d0a");
  private static final String R6 = "Qwen/Qwen3-8B@03020302@0@" + "ab".repeat(32);

  private final OpenDoor door = OpenDoor.open();

  @AfterEach
  void end() {
    door.close();
  }

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits.replace(" ", ""));
  }

  private static byte[] all(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  @Test
  void valuesAndMetadata_comeBackAsTheyWere() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.send(R1).read(5)).isEqualTo(hex("2b4f4b0d0a"));
      assertThat(client.send(R3).read(5)).isEqualTo(hex("2b4f4b0d0a"));
      assertThat(client.bulk("GET", KEY + "kv_bytes")).isEqualTo(VALUE);
      assertThat(client.bulk("get", KEY + "metadata")).isEqualTo(METADATA);
      for (String metadata : List.of("00000002010000000300000002000000200000000001000000040000",
          "00002400010000000300000002000000040000000001000000020000030000000100000004000000"
              + "0001000080000000")) {
        String key = KEY + metadata.length() + "metadata";
        assertThat(client.call("SET", key, hex(metadata))).isEqualTo("+OK");
        assertThat(client.bulk("GET", key)).isEqualTo(hex(metadata));
      }
    }
  }

  @Test
  void nativeClient_getsRepliesOfFixedWidth() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(R6).hasSize(89);
      assertThat(client.send(bytes("*2\r\n$6\r\nEXISTS\r\n$89\r\n" + R6 + "\r\n")).text(4)).isEqualTo(":0\r\n");
      assertThat(client.send(bytes("*2\r\n$3\r\nGET\r\n$89\r\n" + R6 + "\r\n")).text(5)).isEqualTo("$-1\r\n");
      assertThat(client.send(request("SET", R6, VALUE)).text(5)).isEqualTo("+OK\r\n");
      assertThat(client.send(bytes("*2\r\n$6\r\nEXISTS\r\n$89\r\n" + R6 + "\r\n")).read(4))
          .isEqualTo(hex("3a310d0a"));
      assertThat(client.send(bytes("*2\r\n$3\r\nGET\r\n$89\r\n" + R6 + "\r\n")).text(10))
          .isEqualTo("$4\r\n\0\1\r\n\r\n");
      assertThat(client.send(bytes("*2\r\n$3\r\nGET\r\n$98\r\n" + R6 + "@tenant-a\r\n")).text(5)).isEqualTo("$-1\r\n");
      assertThat(client.send(request("DEL", R6)).text(4)).isEqualTo(":1\r\n");
      assertThat(client.send(request("DEL", R6)).text(4)).isEqualTo(":0\r\n");
      assertThat(client.send(bytes("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n")).text(5)).isEqualTo("+OK\r\n");
      assertThat(client.send(bytes("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n")).text(5)).isEqualTo("+OK\r\n");
    }
  }

  @Test
  void hello_speaksRespThree_andTellsWhichStartOfTheNodeItIs() throws IOException {
    try (RespClient client = door.connect()) {
      client.send(bytes("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"));
      assertThat(client.text(4)).isEqualTo("%7\r\n");
      StringBuilder rest = new StringBuilder();
      for (int i = 0; i < 24; i++) {
        rest.append(client.line()).append(' ');
      }
      assertThat(rest.toString()).startsWith("$6 server $8 penstock $7 version $5 7.4.0 $5 proto :3 $2 id :");
      long id = Long.parseLong(rest.toString().replaceAll(".*id :(\\d+) .*", "$1"));
      assertThat(id >> 31).isEqualTo(0x1234_5678_9abcL & (1 << 22) - 1);
      assertThat(rest.toString()).endsWith("$4 mode $10 standalone $4 role $6 master $7 modules ");
      assertThat(client.line()).isEqualTo("*0");
      assertThat(client.call("GET", "nothing")).isEqualTo("_");
      client.send(request("SET", "hit", new byte[] {0, 1}));
      client.line();
      assertThat(client.send(request("MGET", "hit", "miss")).text(15)).isEqualTo("*2\r\n$2\r\n\0\1\r\n_\r\n");
    }
  }

  @Test
  void severalValues_areReadAtOnce() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "hit", new byte[] {0, 1})).isEqualTo("+OK");
      assertThat(client.send(request("MGET", "hit", "miss")).text(17)).isEqualTo("*2\r\n$2\r\n\0\1\r\n$-1\r\n");
      assertThat(client.call("EXISTS", "hit", "hit", "miss")).isEqualTo(":2");
    }
  }

  @Test
  void requests_splitAnywhere_getTheSameReplies() throws IOException {
    byte[] stream = all(R1, R3, request("GET", KEY + "kv_bytes"), request("EXISTS", KEY + "metadata", KEY),
        bytes("PING\r\n"), request("GET", KEY));
    String replies = "+OK\r\n+OK\r\n$4\r\n\0\1\r\n\r\n:1\r\n+PONG\r\n$-1\r\n";
    try (RespClient client = door.connect()) {
      for (int split = 0; split <= stream.length; split++) {
        client.send(stream, 0, split);
        if (split % 3 == 0) {
          Thread.onSpinWait();
        }
        client.send(stream, split, stream.length);
        assertThat(client.text(replies.length())).as("split at " + split).isEqualTo(replies);
      }
      for (int i = 0; i < stream.length; i++) {
        client.send(stream, i, i + 1);
      }
      assertThat(client.text(replies.length())).as("byte by byte").isEqualTo(replies);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$-5\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$-1\r\n",
    "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$99999999999\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nabcd",
    "*2\r\n$3\r\nGET\r\n:5\r\n", "+OK\r\n", "$3\r\nGET\r\n", "*2\r\n$3\r\nGET\r\n$2000000\r\n",
    "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\rx"})
  void requestThatCannotBeRead_endsTheConnection_andNothingIsHeld(String bad) throws IOException {
    try (RespClient client = door.connect()) {
      client.send(bytes(bad));
      assertThat(client.isEnded()).isTrue();
    }
    door.settle();
    assertThat(door.blocks()).isZero();
    try (RespClient client = door.connect()) {
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
    }
  }

  @Test
  void requestForDataThatIsWrong_isNoneOfAClientThatReadsNoErrors() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("GET")).isEqualTo("-ERR wrong number of arguments for 'get' command");
    }
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", "v", "WHAT")).isEqualTo("-ERR syntax error");
    }
    try (RespClient client = door.connect()) {
      assertThat(client.call("CLIENT", "SETINFO", "LIB-NAME", "x")).isEqualTo("+OK");
      assertThat(client.call("GET")).isEqualTo("-ERR wrong number of arguments for 'get' command");
      assertThat(client.call("SET", "k", "v", "WHAT")).isEqualTo("-ERR syntax error");
      assertThat(client.call("SET", "k", "v", "EX", "0")).isEqualTo("-ERR invalid expire time in 'set' command");
      assertThat(client.call("NONSENSE")).isEqualTo("-ERR unknown command 'NONSENSE', with args beginning with: ");
      assertThat(client.call("CLUSTER", "INFO")).isEqualTo("-ERR This instance has cluster support disabled");
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
    }
  }
}
