package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.node.door.RefusalLog;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/// What clients whose requests are refused hear, and what the log says of them.
@Timeout(300)
final class RefusedRequestsTest {
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";
  private static final String BEFORE = "a request at the door resp was refused: ";

  @TempDir
  private Path folder;

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger(RefusalLog.class).addAppender(log);
    logger(Access.class).addAppender(log);
  }

  @AfterEach
  void leave() {
    logger(RefusalLog.class).detachAppender(log);
    logger(Access.class).detachAppender(log);
  }

  private static Logger logger(Class<?> of) {
    return (Logger) LoggerFactory.getLogger(of);
  }

  private List<String> said() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private OpenDoor open() throws IOException {
    UserFile users = UserFile.read(
        Files.write(folder.resolve("users"), List.of(UserFile.lineOf("alice", TOKEN.toCharArray()))));
    AccessRules rules = new AccessRules(Map.of("alice", List.of(Grant.everywhere(Role.READER))));
    return new OpenDoor(16 << 20, tier -> tier, Map.of(), Access.of(() -> users, () -> rules));
  }

  @Test
  void clientThatMayNotParse_hearsNothingBeforeAuth_butTheLogDoes() throws IOException {
    try (OpenDoor door = open(); RespClient client = door.connect()) {
      assertThat(client.send(request("GET", "k")).isEnded()).isTrue();
      assertThat(said()).singleElement().asString()
          .startsWith(BEFORE + "NOAUTH Authentication required.; its connection is ended; user unknown, from 127");
      assertThat(door.figures().refusals()).isOne();
    }
  }

  @Test
  void clientThatParses_hearsWhyItIsRefusedBeforeAuth_andSoDoesTheLog() throws IOException {
    for (String[] hello : new String[][] {{"CLIENT", "SETNAME", "engine"}, {"HELLO", "3"}, {"EXISTS", "a", "b"}}) {
      log.list.clear();
      try (OpenDoor door = open(); RespClient client = door.connect()) {
        client.send(request((Object[]) hello)).line();
        assertThat(client.call("GET", "k")).as(hello[0]).isEqualTo("-NOAUTH Authentication required.");
        assertThat(client.call("PING")).isEqualTo("+PONG");
        assertThat(said()).first().asString()
            .startsWith(BEFORE + "NOAUTH Authentication required.; user unknown, from 127.0.0.1:");
      }
    }
  }

  @Test
  void valueThatCanNeverFit_isLetGo_andTheLogSaysWhy() throws IOException {
    try (OpenDoor door = new OpenDoor(4 << 20, tier -> tier, Map.of(), Access.open());
        RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", new byte[20 << 20])).isEqualTo("+OK");
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
      assertThat(door.figures().drops()).isOne();
      assertThat(said()).singleElement().asString().containsPattern("a value at the door resp was let go: a value must "
          + "be <= [0-9]{8} bytes, the room of space values \\(was 20971520\\); user unknown, from 127.0.0.1:");
    }
  }

  @Test
  void valueThatCanNeverFit_isAnError_whereTheClientReadsErrors_andTheOneBeforeStays() throws IOException {
    try (OpenDoor door = new OpenDoor(4 << 20, tier -> tier, Map.of(), Access.open());
        RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", "before")).isEqualTo("+OK");
      assertThat(client.call("SET", "k", new byte[20 << 20], "EX", "100"))
          .matches("-ERR a value must be <= [0-9]{8} bytes, the room of space values \\(was 20971520\\)");
      assertThat(client.bulk("GET", "k")).isEqualTo(RespClient.bytes("before"));
    }
  }

  @Test
  void userWithoutTheRight_isNamedInTheLog() throws IOException {
    try (OpenDoor door = open(); RespClient client = door.connect()) {
      assertThat(client.call("AUTH", TOKEN)).isEqualTo("+OK");
      assertThat(client.call("DEL", "k")).isEqualTo(":0"); // it may not read errors
      assertThat(said()).singleElement().asString()
          .startsWith(BEFORE + "NOPERM this user has no right to this request; user alice, from 127.0.0.1:");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"SETEX k 100 v", "PSETEX k 100 v", "SETNX k v", "SET k v NX", "EXPIREAT k 4102444800"})
  void reader_storesNothing_andEndsNothing(String request) throws IOException {
    try (OpenDoor door = open(); RespClient client = door.connect()) {
      assertThat(client.call("AUTH", TOKEN)).isEqualTo("+OK");
      assertThat(client.call((Object[]) request.split(" ")))
          .isEqualTo("-NOPERM this user has no right to this request");
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
    }
  }

  @Test
  void userWithoutARole_isToldOfNoKeys() throws IOException {
    String other = "fedcba9876543210fedcba9876543210";
    UserFile users = UserFile.read(Files.write(folder.resolve("two"),
        List.of(UserFile.lineOf("alice", TOKEN.toCharArray()), UserFile.lineOf("bob", other.toCharArray()))));
    AccessRules rules = new AccessRules(Map.of("alice", List.of(Grant.everywhere(Role.WRITER))));
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> tier, Map.of(), Access.of(() -> users, () -> rules));
        RespClient alice = door.connect();
        RespClient bob = door.connect()) {
      assertThat(alice.call("AUTH", TOKEN)).isEqualTo("+OK");
      assertThat(alice.call("SET", "k", "v")).isEqualTo("+OK");
      assertThat(alice.call("DBSIZE")).isEqualTo(":1");
      assertThat(keyspace(alice)).contains("db0:keys=1");
      assertThat(bob.call("AUTH", other)).isEqualTo("+OK");
      assertThat(bob.call("DBSIZE")).isEqualTo(":0");
      assertThat(keyspace(bob)).isEqualTo("# Keyspace\r\n");
    }
  }

  private static String keyspace(RespClient client) throws IOException {
    return new String(requireNonNull(client.bulk("INFO", "keyspace")), StandardCharsets.US_ASCII);
  }

  @Test
  void wrongPassword_isLoggedWithItsDoorAndUser() throws IOException {
    try (OpenDoor door = open(); RespClient client = door.connect()) {
      assertThat(client.call("AUTH", "bob", "guess")).startsWith("-WRONGPASS");
      assertThat(said()).singleElement().asString().startsWith(
          "a client was refused at the door resp: credentials must be those of a user (were not); user bob, from 127");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET k l", "STRLEN k l", "TTL k l", "PTTL k l", "TYPE k l", "PERSIST k l", "PING a b",
    "ECHO a b", "SELECT 0 1", "DBSIZE 0", "RESET now", "AUTH"})
  void requestWithTooManyArguments_orTooFew_isRefusedAsRedisDoes(String request) throws IOException {
    String[] words = request.split(" ");
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      assertThat(client.send(request((Object[]) words)).line())
          .isEqualTo("-ERR wrong number of arguments for '" + words[0].toLowerCase(Locale.ROOT) + "' command");
      assertThat(client.call("SET", "k", "v")).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isEqualTo("v".getBytes(StandardCharsets.US_ASCII));
    }
  }

  @Test
  void authWithMoreThanAUserAndAPassword_isASyntaxError() throws IOException {
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      assertThat(client.call("AUTH", "a", "b", "c")).isEqualTo("-ERR syntax error");
    }
  }

  @Test
  void reset_forgetsTheUser_theDatabaseAndTheName() throws IOException {
    try (OpenDoor door = open(); RespClient client = door.connect()) {
      assertThat(client.call("AUTH", TOKEN)).isEqualTo("+OK");
      assertThat(client.call("CLIENT", "SETNAME", "engine")).isEqualTo("+OK");
      assertThat(client.bulk("CLIENT", "GETNAME")).isEqualTo("engine".getBytes(StandardCharsets.US_ASCII));
      assertThat(client.call("SELECT", "3")).isEqualTo("+OK");
      assertThat(client.call("RESET")).isEqualTo("+RESET");
      assertThat(client.bulk("CLIENT", "GETNAME")).isNull();
      assertThat(client.call("GET", "k")).isEqualTo("-NOAUTH Authentication required.");
    }
  }

  @Test
  void requestThatIsBroken_hasAnErrorLine_butNotForAClientThatMayReadNone() throws IOException {
    try (OpenDoor door = OpenDoor.open()) {
      try (RespClient client = door.connect()) {
        client.send(RespClient.bytes("*abc\r\n"));
        assertThat(client.line()).isEqualTo("-ERR Protocol error: invalid multibulk length");
        assertThat(client.isEnded()).isTrue();
      }
      try (RespClient client = door.connect()) {
        client.send(RespClient.bytes("*3\r\n$6\r\nEXPIRE\r\n$1\r\nk\r\n:5\r\n"));
        assertThat(client.line()).isEqualTo("-ERR Protocol error: expected '$', got ':'");
        assertThat(client.isEnded()).isTrue();
      }
      try (RespClient client = door.connect()) {
        assertThat(client.call("SET", "k", "v")).isEqualTo("+OK");
        client.send(RespClient.bytes("*2\r\n$3\r\nGET\r\n:5\r\n"));
        assertThat(client.isEnded()).isTrue();
      }
    }
  }

  @Test
  void requestsBeforeABrokenOne_areAnsweredFirst() throws IOException {
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      byte[] set = request("SET", "k", new byte[1_000_000]);
      client.send(set);
      client.send(RespClient.bytes("*1\r\n$4\r\nPING\r\n*x\r\n"));
      assertThat(client.line()).isEqualTo("+OK");
      assertThat(client.line()).isEqualTo("+PONG");
      assertThat(client.line()).isEqualTo("-ERR Protocol error: invalid multibulk length");
      assertThat(client.isEnded()).isTrue();
    }
  }

  /// The client begins to read when all has been asked for.
  @ParameterizedTest
  @ValueSource(strings = {"*x\r\n", "*1\r\n$4\r\nQUIT\r\n"})
  void longRepliesBeforeTheEnd_comeWhole(String end) throws IOException {
    byte[] value = new byte[1_000_000];
    new Random(1).nextBytes(value);
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", value)).isEqualTo("+OK");
      for (int i = 0; i < 16; i++) {
        client.send(request("GET", "k"));
      }
      client.send(RespClient.bytes(end));
      for (int i = 0; i < 16; i++) {
        assertThat(client.line()).isEqualTo("$1000000");
        assertThat(client.read(value.length)).isEqualTo(value);
        assertThat(client.line()).isEmpty();
      }
      assertThat(client.line()).isIn("+OK", "-ERR Protocol error: invalid multibulk length");
      assertThat(client.isEnded()).isTrue();
    }
  }

  @Test
  void configAndInfo_answerAllThatIsNamed() throws IOException {
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      String expected = "*4\r\n$10\r\nappendonly\r\n$2\r\nno\r\n$9\r\ndatabases\r\n$2\r\n16\r\n";
      client.send(request("CONFIG", "GET", "databases", "append*", "appendonly", "none"));
      assertThat(client.text(expected.length())).isEqualTo(expected);
      assertThat(info(client, "keyspace", "cluster", "Cluster", "none"))
          .isEqualTo("# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n");
      assertThat(info(client, "none", "all")).contains("# Server\r\n", "# Memory\r\n", "# Keyspace\r\n");
      assertThat(info(client, "none")).isEmpty();
    }
  }

  private static String info(RespClient client, String... sections) throws IOException {
    return new String(requireNonNull(client.bulk(Stream.concat(Stream.of("INFO"), Stream.of(sections)).toArray())),
        StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @CsvSource({"$536870913, a value must have at most 536870912 bytes (was 536870913)",
    "$-5, a request must be in the form of Redis (was length: -5 (expected: >= -1))"})
  void requestThatCannotBeRead_hasAPlainLineInTheLog(String length, String why) throws IOException {
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      byte[] begun = ("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n" + length + "\r\n").getBytes(StandardCharsets.US_ASCII);
      assertThat(client.send(begun).isEnded()).isTrue();
      assertThat(said()).singleElement().asString()
          .startsWith(BEFORE + why + "; its connection is ended; user unknown, from 127.0.0.1:");
    }
  }

  @Test
  void setWithOptions_comesFromAClientThatReadsItsErrors() throws IOException {
    for (String[] wrong : new String[][] {
      {"ERR syntax error", "FOREVER"}, {"ERR syntax error", "EX"}, {"ERR syntax error", "NX", "XX"},
      {"ERR invalid expire time in 'set' command", "EX", "0"},
      {"ERR invalid expire time in 'set' command", "PXAT", "-1"},
      {"ERR invalid expire time in 'set' command", "EX", "9223372036854775807"},
      {"ERR value is not an integer or out of range", "PX", "soon"}}) {
      try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
        Object[] set = new Object[2 + wrong.length];
        System.arraycopy(new Object[] {"SET", "k", "value"}, 0, set, 0, 3);
        System.arraycopy(wrong, 1, set, 3, wrong.length - 1);
        assertThat(client.call(set)).isEqualTo("-" + wrong[0]);
        assertThat(client.bulk("GET", "k")).isNull();
        assertThat(client.call("SET", "k", "value", "EX", "100")).isEqualTo("+OK");
      }
    }
  }

  @Test
  void requestThatBreaksTheProtocol_hasALine_andAConnectionThatIsResetHasNone() throws IOException {
    try (OpenDoor door = OpenDoor.open()) {
      try (RespClient client = door.connect()) {
        client.send(request("SET", "k", "value"), 0, 20).reset();
      }
      try (RespClient client = door.connect()) {
        assertThat(client.send(RespClient.bytes("*1000000\r\n")).line())
            .isEqualTo("-ERR Protocol error: invalid multibulk length");
        assertThat(client.isEnded()).isTrue();
      }
      door.settle();
      assertThat(said()).singleElement().asString().startsWith(BEFORE + "a request must be an array of at most 65536 "
          + "strings; its connection is ended; user unknown, from 127.0.0.1:");
    }
  }
}
