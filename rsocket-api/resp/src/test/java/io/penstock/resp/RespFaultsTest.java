package io.penstock.resp;

import static io.penstock.resp.RespClient.bytes;
import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RespSettings;
import io.penstock.node.setting.Setting;
import io.penstock.testkit.Eventually;
import io.penstock.wire.security.Access;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Sinks;

/// What clients meet, and what they cannot hold, when a tier fails or when they stand still.
@Timeout(300)
final class RespFaultsTest {
  private static final byte[] OLD = value(1, 5_000);
  private static final byte[] NEW = value(2, 3_000_000);

  private final FaultTier.Faults faults = new FaultTier.Faults(1);
  private OpenDoor door = open(Map.of());

  private OpenDoor open(Map<Setting<?>, String> settings) {
    return new OpenDoor(16 << 20, tier -> new FaultTier(tier, faults), settings, Access.open());
  }

  private void open(Setting<?> setting, String value) {
    door.close();
    door = open(Map.of(setting, value));
  }

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
  void valueThatIsLetGo_takesTheOneBeforeWithIt() throws IOException {
    open(RespSettings.ROOM, "50ms");
    byte[] half = request("SET", "late", OLD);
    try (RespClient client = door.connect(); RespClient writer = door.connect()) {
      for (FaultTier.Fault fault : new FaultTier.Fault[] {FaultTier.Fault.STALL, FaultTier.Fault.FULL}) {
        assertThat(client.call("SET", "k", OLD)).isEqualTo("+OK");
        faults.set(fault, 1);
        assertThat(client.call("SET", "k", NEW)).isEqualTo("+OK");
        faults.set(fault, 0);
        assertThat(client.bulk("GET", "k")).as(fault.toString()).isNull();
      }
      assertThat(client.call("SET", "k", OLD)).isEqualTo("+OK");
      long before = door.figures().bytesIn();
      writer.send(half, 0, half.length / 2); // keeps the drain from its end
      Eventually.holds("a value has begun to come", () -> door.figures().bytesIn() > before);
      var _ = door.server.drain().subscribe();
      assertThat(client.call("SET", "k", NEW)).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isNull();
    }
    assertThat(door.figures().drops()).isEqualTo(3);
  }

  @Test
  void keyThatNoValueCanHave_isAnErrorToWhoReadsErrors() throws IOException {
    try (RespClient plain = door.connect(); RespClient reads = door.connect()) {
      assertThat(plain.call("SET", "", "v")).as("it may read replies by their width").isEqualTo("+OK");
      assertThat(reads.call("PING")).isEqualTo("+PONG");
      for (String key : new String[] {"", "k".repeat(2049)}) {
        assertThat(reads.call("SET", key, "v"))
            .isEqualTo("-ERR key must be 1 to 2048 bytes long (was " + key.length() + ")");
        assertThat(reads.bulk("GET", key)).isNull();
      }
    }
  }

  /// Two clients bring a value of one name: after the first `OK` no client reads the value before both.
  @Test
  void valueBesideAnotherOfItsName_takesTheOneBeforeWithIt() throws IOException {
    try (RespClient client = door.connect()) {
      byte[] old = value(1, 200_000);
      assertThat(client.call("SET", "k", old)).isEqualTo("+OK");
      long before = door.held();
      try (RespClient other = door.connect()) {
        byte[] request = request("SET", "k", value(2, 200_000));
        other.send(Arrays.copyOf(request, request.length / 2));
        Eventually.holds("the other value has its room", () -> door.held() > before);

        byte[] last = value(3, 200_001);
        assertThat(client.call("SET", "k", last)).isEqualTo("+OK");

        assertThat(client.bulk("GET", "k")).isIn(null, last);
      }
      assertThat(client.bulk("GET", "k")).isNotEqualTo(old);
    }
  }

  @Test
  void requestsInThePostOfAWebPage_areNotRead() throws IOException {
    for (String head : List.of("POST / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\n")) {
      try (RespClient page = door.connect()) {
        page.send(RespClient.bytes(head + "Content-Length: 30\r\n\r\n")).send(RespClient.request("SET", "k", "x"));
        while (!page.isEnded()) {
          // a line before may have been answered
        }
      } catch (SocketException reset) {
        // the door had bytes that it did not read
      }
    }
    try (RespClient client = door.connect()) {
      assertThat(client.bulk("GET", "k")).isNull();
    }
  }

  @Test
  void valueForWhichThereIsNoRoom_isAnswered_thoughItsBytesWait() throws IOException {
    open(RespSettings.ROOM, "1h");
    faults.set(FaultTier.Fault.LATE, 1);
    try (RespClient client = door.connect()) {
      for (int i = 0; i < 8; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 1_000_000))).isEqualTo("+OK");
      }
    }
    assertThat(door.figures().drops()).isEqualTo(8);
  }

  @Test
  void conditionThatCannotBeLookedAt_isAnsweredWithAnError() throws IOException {
    try (RespClient client = door.connect()) {
      assertThat(client.call("PING")).isEqualTo("+PONG");
      faults.set(FaultTier.Fault.ERROR, 1);
      assertThat(client.call("SET", "k", OLD, "NX")).startsWith("-ERR");
      assertThat(client.call("SET", "k", OLD, "XX")).startsWith("-ERR");
      faults.set(FaultTier.Fault.ERROR, 0);
      assertThat(client.call("EXISTS", "k")).isEqualTo(":0");
      assertThat(client.call("SET", "k", OLD, "NX")).isEqualTo("+OK");
    }
  }

  @Test
  void clientThatReadsNothing_isReadNoFurther_andEnds() throws IOException {
    open(NodeSettings.STALL_TIMEOUT, "200ms");
    byte[] echo = request("ECHO", value(3, 900_000));
    int sent = 0;
    try (RespClient client = door.connect()) {
      while (sent < 1_000) {
        client.send(echo);
        sent++;
      }
    } catch (SocketException e) { // ended
      assertThat(sent).isBetween(1, 100);
    }
    assertThat(sent).isLessThan(1_000);
  }

  @Test
  void clientThatReadsLate_getsEveryReply() throws Exception {
    byte[] echoed = value(3, 700_000);
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", NEW)).isEqualTo("+OK");
      for (int i = 0; i < 40; i++) {
        client.send(request("GET", "k"));
      }
      client.send(request("MGET", "k", "nothing", "k"));
      Thread sender = Thread.ofVirtual().start(() -> sendTenTimes(client, request("ECHO", echoed)));
      for (int i = 0; i < 40; i++) {
        assertThat(client.line()).isEqualTo("$3000000");
        assertThat(client.read(NEW.length)).isEqualTo(NEW);
        client.read(2);
      }
      assertThat(client.line()).isEqualTo("*3");
      assertThat(client.line()).isEqualTo("$3000000");
      client.read(NEW.length + 2);
      assertThat(client.text(5)).isEqualTo("$-1\r\n");
      assertThat(client.line()).isEqualTo("$3000000");
      client.read(NEW.length + 2);
      for (int i = 0; i < 10; i++) {
        assertThat(client.line()).isEqualTo("$700000");
        assertThat(client.read(echoed.length)).isEqualTo(echoed);
        client.read(2);
      }
      sender.join();
    }
  }

  private static void sendTenTimes(RespClient client, byte[] request) {
    try {
      for (int i = 0; i < 10; i++) {
        client.send(request);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void valueForANewName_isStoredByTheFirstOfTwoClients() throws IOException {
    open(RespSettings.ROOM, "1h");
    faults.set(FaultTier.Fault.STALL, 1);
    try (RespClient other = door.connect()) {
      try (RespClient one = door.connect()) {
        one.send(request("SET", "new", "", "NX"));
        Eventually.holds("the first one stores", () -> door.house.claims().size() == 1);
        assertThat(other.call("SET", "new", "", "NX")).isEqualTo("$-1");
      }
      Eventually.holds("the first one is gone", () -> door.house.claims().isEmpty());
      faults.set(FaultTier.Fault.STALL, 0);
      assertThat(other.call("SET", "new", "v", "NX")).isEqualTo("+OK");
      assertThat(other.call("SET", "new", "v", "NX")).isEqualTo("$-1");
      assertThat(door.house.claims()).isEmpty();
    }
  }

  @Test
  void answerForAClientThatLeft_isNotWritten() {
    EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    Session session = new Session(door.house, channel.pipeline().firstContext());
    Sinks.One<Long> found = Sinks.one();
    Sinks.One<Long> failed = Sinks.one();
    List<String> ran = new ArrayList<>();
    session.await(found.asMono(), length -> ran.add("then"), () -> ran.add("done"));
    session.await(failed.asMono(), length -> ran.add("then"), () -> ran.add("done"));
    session.over();
    found.emitValue(1L, Sinks.EmitFailureHandler.FAIL_FAST);
    failed.emitError(new IllegalStateException("a fault"), Sinks.EmitFailureHandler.FAIL_FAST);
    channel.runPendingTasks();
    assertThat(ran).isEmpty();
    channel.finishAndReleaseAll();
  }

  @Test
  void readerThatStandsStill_holdsFewOfTheValuesThatItAskedFor() throws IOException {
    Object[] keys = new Object[51];
    keys[0] = "MGET";
    try (RespClient client = door.connect(); RespClient other = door.connect()) {
      for (int i = 1; i < keys.length; i++) {
        keys[i] = "k" + i;
        assertThat(client.call("SET", keys[i], value(i, 250_000))).isEqualTo("+OK");
      }
      client.send(request(keys));
      Eventually.holds("a value goes out", () -> door.figures().hits() > 0);
      for (int i = 1; i < keys.length; i++) {
        other.call("DEL", keys[i]);
      }
      assertThat(door.blocks()).isZero();
      assertThat(door.held()).isLessThan(10);
    }
  }

  @Test
  void readerThatStandsStill_ends_andHoldsNothing() throws IOException {
    open(NodeSettings.STALL_TIMEOUT, "200ms");
    try (RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", NEW)).isEqualTo("+OK");
      client.send(request("MGET", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k"));
      Eventually.holds("the connection ends", () -> door.server.connections() == 0);
      assertThat(door.held()).isZero();
    }
  }

  @Test
  void clientThatSendsNothingOfItsValue_ends() throws IOException {
    open(NodeSettings.STALL_TIMEOUT, "200ms");
    for (String begun : new String[] {"$8388608\r\n", "$8388608\r\nabc", "$3\r\nabc"}) {
      try (RespClient client = door.connect()) {
        client.send(bytes("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n" + begun));
        assertThat(client.isEnded()).isTrue();
      }
    }
    door.settle();
    assertThat(door.blocks()).isZero();
  }

  @Test
  void clientThatSendsNothingOfItsValue_ends_thoughItStoredOthers() throws IOException {
    open(NodeSettings.STALL_TIMEOUT, "2s");
    byte[] whole = request("SET", "k", NEW);
    try (RespClient client = door.connect()) {
      for (int i = 0; i < 5; i++) {
        client.send(whole, 0, 1_000_000).send(whole, 1_000_000, whole.length);
        assertThat(client.line()).isEqualTo("+OK");
      }
      client.send(whole, 0, 1_000_000);
      assertThat(client.isEnded()).isTrue();
    }
    door.settle();
    assertThat(door.figures().aborts()).isEqualTo(1);
  }

  @Test
  void longArgument_comesWhole() throws IOException {
    byte[] long0 = value(4, 1_000_000);
    try (RespClient client = door.connect()) {
      assertThat(client.bulk("ECHO", long0)).isEqualTo(long0);
      assertThat(client.send(request("CONFIG", "GET", "*".repeat(2_000))).line())
          .startsWith("-ERR pattern must have at most 1024 bytes");
    }
  }
}
