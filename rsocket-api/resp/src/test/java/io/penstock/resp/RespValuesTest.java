package io.penstock.resp;

import static io.penstock.resp.RespClient.bytes;
import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RespSettings;
import io.penstock.testkit.Eventually;
import io.penstock.wire.security.Access;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Values of many lengths at a door, their ends, and what there is to see of them.
@Timeout(300)
final class RespValuesTest {
  private OpenDoor door = OpenDoor.open();

  @AfterEach
  void end() {
    door.close();
  }

  private static byte[] value(long seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  @Test
  void bytesOfALine_areKept_whateverTheyAre() throws IOException {
    door = OpenDoor.open();
    byte[] line = "SET k \"?\\xfe\" \nSET é v\r\n".getBytes(StandardCharsets.UTF_8);
    line[7] = (byte) 0xFF; // no UTF-8
    try (RespClient client = door.connect()) {
      for (byte each : line) {
        client.send(new byte[] {each});
      }
      assertThat(client.line()).isEqualTo("+OK");
      assertThat(client.line()).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isEqualTo(new byte[] {(byte) 0xFF, (byte) 0xFE});
      assertThat(client.bulk("GET", "é".getBytes(StandardCharsets.UTF_8))).isEqualTo(RespClient.bytes("v"));
      assertThat(client.send("GET é\r\n".getBytes(StandardCharsets.UTF_8)).line()).as("behind arrays").isEqualTo("$1");
    }
  }

  @Test
  void connectionsAndRequests_areCounted() throws IOException {
    door = OpenDoor.open();
    try (RespClient client = door.connect()) {
      try (RespClient other = door.connect()) {
        assertThat(other.call("PING")).isEqualTo("+PONG");
        assertThat(client.call("SET", "k", "v")).isEqualTo("+OK");
        assertThat(text(client.bulk("INFO", "clients", "stats"))).contains("connected_clients:2\r\n",
            "blocked_clients:0\r\n", "total_connections_received:2\r\n", "total_commands_processed:3\r\n");
      }
      Eventually.holds("the other is gone", () -> text(client.bulk("INFO", "clients"))
          .contains("connected_clients:1\r\n"));
      assertThat(text(client.bulk("INFO", "stats"))).contains("total_connections_received:2\r\n");
    }
  }

  private static String text(byte @Nullable [] bytes) {
    return new String(Objects.requireNonNull(bytes), StandardCharsets.UTF_8);
  }

  @Test
  void valuesOfEveryLength_comeBack_andTakeTheirPlaceAgain() throws IOException {
    int[] lengths = {0, 1, 63, 64, 4_095, 4_540, 4_541, 4_608, 65_536, 66_048, 100_000, 262_144, 262_656, 1_000_000,
      2_097_152, 2_097_153, 3_333_333};
    try (RespClient client = door.connect()) {
      for (int round = 0; round < 2; round++) {
        for (int length : lengths) {
          assertThat(client.call("SET", "v", value(length + round, length))).isEqualTo("+OK");
          assertThat(client.bulk("GET", "v")).as("length " + length).isEqualTo(value(length + round, length));
          assertThat(client.call("STRLEN", "v")).isEqualTo(":" + length);
        }
      }
      assertThat(client.call("DEL", "v")).isEqualTo(":1");
      door.settle();
      assertThat(door.blocks()).isZero();
    }
  }

  @Test
  void requestsThatFollowWithoutWaiting_areAnsweredInOrder() throws IOException {
    try (RespClient client = door.connect()) {
      for (int i = 0; i < 40; i++) {
        client.send(request("SET", "k" + i % 7, value(i, 1 + i * 5_000)));
        client.send(request("GET", "k" + i % 7));
        client.send(request("EXISTS", "k" + i % 7, "nothing"));
      }
      for (int i = 0; i < 40; i++) {
        assertThat(client.line()).isEqualTo("+OK");
        assertThat(client.line()).isEqualTo("$" + (1 + i * 5_000));
        assertThat(client.read(1 + i * 5_000)).isEqualTo(value(i, 1 + i * 5_000));
        assertThat(client.text(6)).isEqualTo("\r\n:1\r\n");
      }
    }
  }

  @Test
  void valueWhoseConnectionEnds_neverWas_andTheOneBeforeStays() throws IOException {
    byte[] before = value(1, 300_000);
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", before)).isEqualTo("+OK");
    }
    byte[] whole = request("SET", "k", value(2, 3_000_000));
    byte[] small = request("SET", "k", value(3, 100));
    for (int cut : new int[] {20, 40, 70_000, 2_500_000, whole.length - 3, whole.length - 1}) {
      try (RespClient client = door.connect()) {
        client.send(whole, 0, cut);
        if (cut % 2 == 0) {
          client.reset();
        }
      }
    }
    for (int cut = 1; cut < small.length; cut += 9) {
      try (RespClient client = door.connect()) {
        client.send(small, 0, cut);
      }
    }
    door.settle();
    try (RespClient client = door.connect()) {
      assertThat(client.bulk("GET", "k")).isEqualTo(before);
    }
    assertThat(door.figures().aborts()).isPositive();
    assertThat(door.figures().writes()).isEqualTo(1);
  }

  @Test
  void value_endsByTheSecond_whereItsClientSaysSo() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", "v", "EX", "10")).isEqualTo("+OK");
      assertThat(client.call("TTL", "k")).isEqualTo(":10");
      door.wallMillis.addAndGet(9_999);
      assertThat(client.call("PTTL", "k")).isEqualTo(":1");
      assertThat(client.call("EXISTS", "k")).isEqualTo(":1");
      door.wallMillis.addAndGet(1);
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
      assertThat(client.bulk("GET", "k")).isNull();
      assertThat(client.call("TTL", "k")).isEqualTo(":-2");
      assertThat(client.call("SET", "k", "v", "PX", "5", "NX")).isEqualTo("+OK");
      assertThat(client.call("SET", "k", "w", "KEEPTTL", "XX")).isEqualTo("+OK");
      assertThat(client.call("PTTL", "k")).isEqualTo(":5");
      assertThat(client.call("SET", "k", "x")).isEqualTo("+OK");
      assertThat(client.call("TTL", "k")).isEqualTo(":-1");
      assertThat(client.call("EXPIRE", "k", "7")).isEqualTo(":1");
      assertThat(client.call("TTL", "k")).isEqualTo(":7");
      assertThat(client.call("PERSIST", "k")).isEqualTo(":1");
      assertThat(client.call("TTL", "k")).isEqualTo(":-1");
      assertThat(client.call("EXPIRE", "nothing", "7")).isEqualTo(":0");
    }
  }

  @Test
  void conditions_ofSet_areKept() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", "1", "XX")).isEqualTo("$-1");
      assertThat(client.call("SET", "k", "1", "NX")).isEqualTo("+OK");
      assertThat(client.call("SET", "k", value(1, 500_000), "NX")).isEqualTo("$-1");
      assertThat(client.bulk("GET", "k")).isEqualTo(bytes("1"));
      assertThat(client.call("SET", "k", "2", "XX")).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isEqualTo(bytes("2"));
    }
  }

  /// Its value gives way to one of which the first half has come, and which comes to nothing in the end.
  @Test
  void conditionThatDoesNotHold_takesNothingAway_besideAnotherWriter() throws IOException {
    byte[] before = value(1, 200_000);
    byte[] half = request("SET", "k", value(2, 200_000));
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", before)).isEqualTo("+OK");
      try (RespClient other = door.connect()) {
        other.send(half, 0, half.length / 2);
        Eventually.holds("half of a value has come", () -> door.house.underWay() == 1);
        assertThat(client.call("SET", "k", value(3, 200_000), "NX")).isEqualTo("$-1");
        assertThat(client.bulk("GET", "k")).isEqualTo(before);
      }
      Eventually.holds("the other is gone", () -> door.house.underWay() == 0);
      assertThat(client.bulk("GET", "k")).isEqualTo(before);
    }
  }

  /// The one that is first has its value; the other is told that it was stored, as if just before.
  @Test
  void ofTwoWritersAtATime_oneHasTheName_andReadersFindAValueMeanwhile() throws Exception {
    byte[] before = value(1, 200_000);
    byte[] half = request("SET", "k", value(2, 200_000));
    try (RespClient client = door.connect(); RespClient first = door.connect(); RespClient second = door.connect()) {
      assertThat(client.call("SET", "k", before)).isEqualTo("+OK");
      first.send(half, 0, half.length / 2);
      Eventually.holds("half of a value has come", () -> door.house.underWay() == 1);
      second.send(request("SET", "k", value(3, 200_000)));
      first.send(half, half.length / 2, half.length);
      assertThat(first.line()).isEqualTo("+OK");
      assertThat(second.line()).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isIn(value(2, 200_000), value(3, 200_000));
    }
  }

  @Test
  void otherCommandsThatStore_streamTheirValuesToo() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SETEX", "k", "100", value(1, 3_000_000))).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isEqualTo(value(1, 3_000_000));
      assertThat(client.call("TTL", "k")).isEqualTo(":100");
      assertThat(client.call("SETNX", "k", value(2, 2_000_000))).isEqualTo(":0");
      assertThat(client.call("SETNX", "new", value(2, 2_000_000))).isEqualTo(":1");
      assertThat(client.call("PSETEX", "brief", "1500", "v")).isEqualTo("+OK");
      assertThat(client.call("TTL", "brief")).isEqualTo(":2");
    }
  }

  @Test
  void lines_areRequestsOfPeople() throws IOException {
    try (RespClient client = door.connect()) {
      client.send(bytes("SET k \"a b\\x21\"\nGET k\n"));
      assertThat(client.line()).isEqualTo("+OK");
      assertThat(client.text(10)).isEqualTo("$4\r\na b!\r\n");
      client.send(bytes("PING"));
      client.send(bytes("\n"));
      assertThat(client.line()).isEqualTo("+PONG");
      assertThat(client.call("GET", "none")).isEqualTo("$-1");
      client.send(bytes("GET \"open\r\n"));
      assertThat(client.line()).isEqualTo("-ERR Protocol error: unbalanced quotes in request");
      assertThat(client.isEnded()).isTrue();
    }
  }

  @Test
  void databases_areApart_andScansTellEachKeyOnce() throws IOException {
    TreeSet<String> keys = new TreeSet<>();
    try (RespClient client = door.connect()) {
      for (int i = 0; i < 57; i++) {
        assertThat(client.call("SET", "key" + i, "v")).isEqualTo("+OK");
        keys.add("key" + i);
      }
      assertThat(client.call("SELECT", "3")).isEqualTo("+OK");
      assertThat(client.bulk("GET", "key1")).isNull();
      assertThat(client.call("SET", new byte[] {-1, 0}, "v")).isEqualTo("+OK");
      assertThat(scan(client, "*")).containsExactly("\u00ff\0");
      assertThat(client.call("DBSIZE")).isEqualTo(":1");
      assertThat(client.call("SELECT", "0")).isEqualTo("+OK");
      assertThat(client.call("DBSIZE")).isEqualTo(":57");
      assertThat(scan(client, "*")).containsExactlyElementsOf(keys);
      assertThat(scan(client, "key[12]?")).hasSize(20);
      assertThat(scan(client, "k*5")).containsExactly("key15", "key25", "key35", "key45", "key5", "key55");
      assertThat(client.call("FLUSHDB")).isEqualTo("-ERR resp.flush must be true for FLUSHDB (was false)");
    }
  }

  private static List<String> scan(RespClient client, String pattern) throws IOException {
    List<String> keys = new ArrayList<>();
    String cursor = "0";
    do {
      assertThat(client.call("SCAN", cursor, "MATCH", pattern, "COUNT", "10")).isEqualTo("*2");
      client.line();
      cursor = client.line();
      int count = Integer.parseInt(client.line().substring(1));
      for (int i = 0; i < count; i++) {
        int length = Integer.parseInt(client.line().substring(1));
        keys.add(client.text(length));
        client.read(2);
      }
    } while (!cursor.equals("0"));
    return keys;
  }

  @Test
  void valuesBeyondTheCapacity_evictOthers_andEveryReplyIsOk() throws IOException {
    int found = 0;
    try (RespClient client = door.connect()) {
      for (int i = 0; i < 20 * 16; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 1 << 20))).isEqualTo("+OK");
      }
      for (int i = 0; i < 20 * 16; i++) {
        byte[] got = client.bulk("GET", "k" + i);
        if (got != null) {
          found++;
          assertThat(got).isEqualTo(value(i, 1 << 20));
        }
      }
    }
    assertThat(found).isBetween(8, 16);
    Eventually.holds("names of values that were evicted are forgotten", () -> door.values.count() <= 16);
  }

  @Test
  void halvesOfAChunk_areThereTogether_andGoTogether() throws IOException {
    String chunk = "model@1@0@1f@half";
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", chunk + "metadata", value(1, 28))).isEqualTo("+OK");
      assertThat(client.call("EXISTS", chunk + "metadata")).isEqualTo(":0");
      assertThat(client.call("SET", chunk + "kv_bytes", value(2, 100_000))).isEqualTo("+OK");
      assertThat(client.call("EXISTS", chunk + "metadata", chunk + "kv_bytes")).isEqualTo(":2");
      assertThat(client.call("DEL", chunk + "kv_bytes")).isEqualTo(":1");
      Eventually.holds("both are gone", () -> door.blocks() == 0);
      assertThat(client.call("SET", "plain:metadata", "v")).isEqualTo("+OK");
      assertThat(client.call("EXISTS", "plain:metadata")).isEqualTo(":1");
    }
  }

  @Test
  void chunkOfAnotherLength_isRefused_byTheEndOfTheConnection() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "m@03020302@0@ab", value(1, 5_000))).isEqualTo("+OK");
      assertThat(client.send(request("SET", "m@03020302@0@ab", value(2, 6_000))).isEnded()).isTrue();
    }
    try (RespClient client = door.connect()) {
      assertThat(client.bulk("GET", "m@03020302@0@ab")).isEqualTo(value(1, 5_000));
      assertThat(client.call("SET", "mine", value(1, 5_000))).isEqualTo("+OK");
      assertThat(client.call("SET", "mine", value(1, 6_000))).isEqualTo("+OK");
    }
  }

  @Test
  void questions_starveNoWriter_andKeepWhatTheyFound() throws IOException {
    door.close();
    door = OpenDoor.of(Map.of(RespSettings.GRACE, "1ms"));
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "kept", value(0, 1 << 20))).isEqualTo("+OK");
      for (int i = 0; i < 60; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 1 << 20))).isEqualTo("+OK");
        for (int probe = 0; probe < 10; probe++) {
          client.call("EXISTS", "other" + i * probe);
        }
        assertThat(client.call("EXISTS", "kept")).isEqualTo(":1");
      }
      assertThat(client.bulk("GET", "kept")).isEqualTo(value(0, 1 << 20));
    }
    assertThat(door.figures().drops()).isZero();
  }

  @Test
  void info_tellsTheStartOfTheNode_andTheRole() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(text(client.bulk("INFO", "replication"))).isEqualTo(
          "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
      assertThat(text(client.bulk("INFO"))).contains("penstock_boot:0000123456789abc\r\n");
      assertThat(client.send(request("CONFIG", "GET", "save")).text(20)).isEqualTo("*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
    }
  }

  @Test
  void info_tellsTheMemoryThatValuesTake_andMayTake() throws IOException {
    try (RespClient client = door.connect()) {
      long most = number(client, "maxmemory");
      assertThat(number(client, "used_memory")).isZero();
      assertThat(client.call("SET", "long", value(1, 1_000_000))).isEqualTo("+OK"); // 4 parts of 262,656
      assertThat(client.call("SET", "short", value(1, 100))).isEqualTo("+OK"); // a part of 4,608
      assertThat(number(client, "used_memory")).isEqualTo(4 * 262_656 + 4_608);
      assertThat(client.call("MEMORY", "USAGE", "long")).isEqualTo(":" + 4 * 262_656);
      assertThat(client.call("MEMORY", "USAGE", "short")).isEqualTo(":4608");
      assertThat(client.call("MEMORY", "USAGE", "none")).isEqualTo("$-1");
      assertThat(client.call("DEL", "long")).isEqualTo(":1");
      assertThat(number(client, "used_memory")).isEqualTo(4_608);
      assertThat(client.call("DEL", "short")).isEqualTo(":1");
      for (int i = 0; i < 40; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 1_000_000))).isEqualTo("+OK");
      }
      assertThat(number(client, "used_memory")).isBetween(8_000_000L, most);
      assertThat(number(client, "maxmemory")).isEqualTo(most);
      assertThat(client.send(request("CONFIG", "GET", "maxmemory")).line()).isEqualTo("*2");
      client.line();
      assertThat(client.line() + client.line() + client.line()).endsWith(Long.toString(most));
    }
  }

  @Test
  void info_tellsHowManyValuesEnd() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "a", "1", "EX", "100")).isEqualTo("+OK");
      assertThat(client.call("SET", "b", "1", "PX", "100000")).isEqualTo("+OK");
      assertThat(client.call("SET", "c", "1")).isEqualTo("+OK");
      assertThat(text(client.bulk("INFO", "keyspace"))).contains("db0:keys=3,expires=2,");
      assertThat(client.call("PERSIST", "a")).isEqualTo(":1");
      assertThat(client.call("DEL", "b")).isEqualTo(":1");
      assertThat(text(client.bulk("INFO", "keyspace"))).contains("db0:keys=2,expires=0,");
    }
  }

  @Test
  void info_tellsTheKeysOfEachDatabase_andDbsizeThose() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(text(client.bulk("INFO", "keyspace"))).isEqualTo("# Keyspace\r\n");
      assertThat(client.call("SET", "a", "1")).isEqualTo("+OK");
      assertThat(client.call("SET", new byte[] {-1}, "1", "EX", "100")).isEqualTo("+OK"); // has a mark, too
      for (String database : List.of("3", "12")) {
        assertThat(client.call("SELECT", database)).isEqualTo("+OK");
        assertThat(client.call("SET", "b", "1", "EX", "100")).isEqualTo("+OK");
        assertThat(client.call("SET", "\u00012tx", "1")).isEqualTo("+OK"); // looks like one of database 2
        assertThat(client.call("DBSIZE")).isEqualTo(":2");
      }
      assertThat(text(client.bulk("INFO", "keyspace")))
          .isEqualTo("# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=100000\r\n"
              + "db3:keys=2,expires=1,avg_ttl=100000\r\ndb12:keys=2,expires=1,avg_ttl=100000\r\n");
      assertThat(client.call("SELECT", "0")).isEqualTo("+OK");
      assertThat(client.call("SET", "\u00012tx", "1")).isEqualTo("+OK");
      assertThat(client.call("DBSIZE")).isEqualTo(":3");
    }
  }

  @Test
  void info_tellsHowLongTheValuesOfADatabaseLast_theirMean() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "a", "1", "EX", "100")).isEqualTo("+OK");
      assertThat(client.call("SET", "b", "1", "EX", "300")).isEqualTo("+OK");
      assertThat(client.call("SET", "c", "1")).isEqualTo("+OK");
      assertThat(client.call("SELECT", "3")).isEqualTo("+OK");
      assertThat(client.call("SET", "a", "1", "EX", "50")).isEqualTo("+OK");
      assertThat(client.call("SET", "b", "1")).isEqualTo("+OK");
      door.wallMillis.addAndGet(10_000);
      assertThat(text(client.bulk("INFO", "keyspace"))).isEqualTo("# Keyspace\r\n"
          + "db0:keys=3,expires=2,avg_ttl=190000\r\ndb3:keys=2,expires=1,avg_ttl=40000\r\n");
    }
  }

  @Test
  void clientInfo_hasTheFieldsOfRedis() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("CLIENT", "SETNAME", "engine")).isEqualTo("+OK");
      assertThat(client.call("SELECT", "3")).isEqualTo("+OK");
      String id = client.call("CLIENT", "ID").substring(1);
      assertThat(text(client.bulk("CLIENT", "INFO"))).matches("id=" + id + " addr=127\\.0\\.0\\.1:[1-9]\\d+ laddr="
          + "127\\.0\\.0\\.1:" + door.port() + " fd=0 name=engine age=\\d+ idle=0 flags=N db=3 sub=0 psub=0 ssub=0"
          + " multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r"
          + " cmd=client\\|info user=default redir=-1 resp=2\n");
    }
  }

  @Test
  void partsOfCommandsThatTheDoorHasNot_areErrorsAsRedisHasThem() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("CLIENT", "LIST")).isEqualTo("-ERR unknown subcommand 'LIST'. Try CLIENT HELP.");
      assertThat(client.call("CLIENT", "TRACKING", "ON"))
          .isEqualTo("-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP.");
      assertThat(client.call("CLIENT", "SETNAME", "engine")).isEqualTo("+OK");
      assertThat(client.call("MEMORY", "DOCTOR")).isEqualTo("-ERR unknown subcommand 'DOCTOR'. Try MEMORY HELP.");
      assertThat(client.call("MEMORY", "STATS")).isEqualTo("-ERR unknown subcommand 'STATS'. Try MEMORY HELP.");
      assertThat(client.call("MEMORY", "USAGE"))
          .isEqualTo("-ERR wrong number of arguments for 'memory|usage' command");
      for (String command : List.of("MEMORY", "CLIENT")) {
        int lines = Integer.parseInt(client.call(command, "HELP").substring(1));
        assertThat(client.line()).startsWith("+" + command + " <subcommand>");
        for (int i = 1; i < lines; i++) {
          assertThat(client.line()).startsWith("+");
        }
      }
      assertThat(client.call("SELECT", "-1")).isEqualTo("-ERR DB index is out of range");
      assertThat(client.call("SELECT", "one")).isEqualTo("-ERR value is not an integer or out of range");
      assertThat(client.send(request("CONFIG", "GET", "databases")).line()).isEqualTo("*2");
      client.line();
      assertThat(client.line() + client.line()).isEqualTo("databases$2");
      assertThat(client.line()).as("tools visit each").isEqualTo("16");
      assertThat(client.call("SELECT", ConnectionCommands.DATABASES - 1)).isEqualTo("+OK");
      assertThat(client.call("SELECT", ConnectionCommands.DATABASES)).isEqualTo("-ERR DB index is out of range");
      assertThat(client.call("PEXPIRE", "k", "9223372036854775807"))
          .isEqualTo("-ERR invalid expire time in 'pexpire' command");
    }
  }

  private static long number(RespClient client, String name) throws IOException {
    return Long.parseLong(text(client.bulk("INFO", "memory")).replaceAll("(?s).*\\b" + name + ":(\\d+).*", "$1"));
  }

  @Test
  void flush_whereItIsAllowed_leavesOtherDatabases() throws IOException {
    door.close();
    door = OpenDoor.of(Map.of(RespSettings.FLUSH, "true"));
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "a", "1")).isEqualTo("+OK");
      assertThat(client.call("SELECT", "2")).isEqualTo("+OK");
      assertThat(client.call("SET", "a", "2")).isEqualTo("+OK");
      assertThat(client.call("FLUSHDB")).isEqualTo("+OK");
      assertThat(client.bulk("GET", "a")).isNull();
      assertThat(client.call("SELECT", "0")).isEqualTo("+OK");
      assertThat(client.bulk("GET", "a")).isEqualTo(bytes("1"));
      assertThat(client.call("FLUSHALL")).isEqualTo("+OK");
      assertThat(client.call("DBSIZE")).isEqualTo(":0");
    }
  }

  @Test
  void roomThatDoesNotCome_letsTheValueGo_withinItsTime() throws IOException {
    door.close();
    FaultTier.Faults faults = new FaultTier.Faults(1);
    door = new OpenDoor(16 << 20, tier -> new FaultTier(tier, faults), Map.of(RespSettings.ROOM, "100ms"),
        Access.open());
    faults.set(FaultTier.Fault.STALL, 1);
    long began = System.nanoTime();
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", value(1, 5_000_000))).isEqualTo("+OK");
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
    }
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(90));
    assertThat(door.figures().drops()).isEqualTo(1);
    faults.set(FaultTier.Fault.STALL, 0);
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", value(1, 5_000_000))).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isEqualTo(value(1, 5_000_000));
    }
  }

  /// What comes when no request is under way any more ends its connection, with no reply to another.
  @Test
  void drain_answersReads_andLetsNewValuesGo_whileARequestIsUnderWay() throws Exception {
    byte[] late = request("SET", "late", value(1, 1_000));
    try (RespClient client = door.connect(); RespClient writer = door.connect()) {
      assertThat(client.call("SET", "k", "v")).isEqualTo("+OK");
      writer.send(late, 0, late.length / 2);
      Eventually.holds("a value has begun to come", () -> door.figures().bytesIn() == 1_001);
      CompletableFuture<Void> drained = door.server.drain().toFuture();
      assertThat(client.bulk("GET", "k")).isEqualTo(bytes("v"));
      assertThat(client.call("SET", "other", "v")).isEqualTo("+OK");
      assertThat(client.call("EXISTS", "other")).isEqualTo(":0");
      assertThat(drained).isNotDone();
      writer.send(late, late.length / 2, late.length);
      assertThat(writer.line()).isEqualTo("+OK");
      drained.get(60, TimeUnit.SECONDS);
      assertThat(client.send(request("GET", "k")).isEnded()).isTrue();
    }
  }

  @Test
  void drain_ends_thoughClientsNeverStopToAsk() throws Exception {
    door.close();
    door = OpenDoor.of(Map.of(NodeSettings.DRAIN_TIMEOUT, "400ms"));
    byte[] late = request("SET", "late", value(1, 1_000));
    byte[] stored = value(2, 300_000);
    try (RespClient client = door.connect(); RespClient writer = door.connect()) {
      assertThat(client.call("SET", "k", stored)).isEqualTo("+OK");
      writer.send(late, 0, late.length / 2);
      Eventually.holds("a value has begun to come", () -> door.figures().bytesIn() == 301_000);
      CompletableFuture<Void> drained = door.server.drain().toFuture();
      int whole = 0;
      for (String line = client.call("GET", "k"); line.startsWith("$"); line = client.call("GET", "k")) {
        assertThat(client.read(stored.length)).isEqualTo(stored);
        assertThat(client.text(2)).isEqualTo("\r\n");
        whole++;
      }
      assertThat(whole).isPositive();
      assertThat(drained).as("a request is under way").isNotDone();
      writer.send(late, late.length / 2, late.length);
      assertThat(writer.line()).isEqualTo("+OK");
      drained.get(60, TimeUnit.SECONDS);
    }
  }

  /// Its requests lie in the node when that takes no more.
  @Test
  void drain_endsAClientThatWaitsForNoReply_betweenTwoOfThem() throws Exception {
    door.close();
    door = OpenDoor.of(Map.of(NodeSettings.DRAIN_TIMEOUT, "400ms"));
    byte[] value = value(1, 400_000);
    int reply = ("$" + value.length + "\r\n").length() + value.length + 2;
    try (RespClient writer = door.connect(); RespClient slow = RespClient.withSmallWindow(door.port())) {
      assertThat(writer.call("SET", "k", value)).isEqualTo("+OK");
      for (int i = 0; i < 32; i++) {
        slow.send(request("GET", "k"));
      }
      Eventually.holds("the replies have begun", () -> door.figures().bytesOut() > 0);
      CompletableFuture<Void> closed = door.server.drain().then(door.server.close()).toFuture();
      int came = 0;
      for (byte[] piece = slow.read(16 << 10); piece.length > 0; piece = slow.read(16 << 10)) {
        came += piece.length;
        if (came == reply) {
          slow.send(request("GET", "k"));
        }
        awaitFor(closed, Duration.ofMillis(6));
      }
      assertThat(came % reply).as("bytes of a reply that was cut").isZero();
      assertThat(came / reply).isBetween(1, 31);
      closed.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void drain_waitsUntilASlowClientHasItsReply() throws Exception {
    byte[] value = value(1, 6_000_000);
    try (RespClient writer = door.connect(); RespClient slow = RespClient.withSmallWindow(door.port())) {
      assertThat(writer.call("SET", "k", value)).isEqualTo("+OK");
      slow.send(request("GET", "k"));
      Eventually.holds("the reply has begun", () -> door.figures().bytesOut() > 0);
      CompletableFuture<Void> closed = door.server.drain().then(door.server.close()).toFuture();
      assertThat(slow.line()).isEqualTo("$" + value.length);
      ByteArrayOutputStream came = new ByteArrayOutputStream();
      for (byte[] piece = slow.read(16 << 10); piece.length > 0; piece = slow.read(16 << 10)) {
        came.writeBytes(piece);
        awaitFor(closed, Duration.ofMillis(6));
      }
      assertThat(came.size()).isEqualTo(value.length + 2);
      assertThat(Arrays.equals(came.toByteArray(), 0, value.length, value, 0, value.length)).isTrue();
      closed.get(60, TimeUnit.SECONDS);
    }
  }

  /// Lets the door go on for a moment, at most until it is closed.
  private static void awaitFor(CompletableFuture<Void> closed, Duration most) throws Exception {
    try {
      closed.get(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // the client is slow
    }
  }
}
