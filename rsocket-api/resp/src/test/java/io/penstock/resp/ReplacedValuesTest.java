package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.flow.StoredValue;
import io.penstock.flow.ValueStore;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.door.DoorValues;
import io.penstock.node.serve.Node;
import io.penstock.testkit.Eventually;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.wire.security.Access;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Values that are stored again with another length: the old one is never there after the new one, whenever the node
/// ends.
@Timeout(300)
final class ReplacedValuesTest {
  private static final Duration SOON = Duration.ofSeconds(120);

  @TempDir
  private Path folder;

  private static byte[] value(long seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  @ParameterizedTest
  @CsvSource({"5000, 1000000", "1000000, 5000", "100, 65000", "1000000, 0", "1000000, 3000000"})
  void oldValue_isNotBesideTheNewOne_whenTheNodeDiesBetweenTwoSteps(int before, int length) throws IOException {
    List<BlockTier> tiers = new ArrayList<>();
    List<Long> headsThere = new ArrayList<>();
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> {
      tiers.add(tier);
      return new ForwardingTier(tier) {
        @Override
        public Mono<Presence> remove(List<BlockKey> keys) {
          return Mono.defer(() -> heads(tiers).doOnNext(headsThere::add)).then(super.remove(keys));
        }
      };
    }, Map.of(), Access.open()); RespClient client = door.connect()) {
      assertThat(client.call("SET", "k", value(1, before))).isEqualTo("+OK");
      assertThat(heads(tiers).block()).isOne();
      headsThere.clear();
      assertThat(client.call("SET", "k", value(2, length))).isEqualTo("+OK");
      assertThat(headsThere).as("heads of the name when something was removed").isNotEmpty()
          .allMatch(heads -> heads <= 1);
      assertThat(heads(tiers).block()).isOne();
      assertThat(client.bulk("GET", "k")).isEqualTo(value(2, length));
    }
  }

  /// The writer that ends last has the name, even if it began first, and nothing of the other one comes back.
  @ParameterizedTest
  @CsvSource({"0, 5000, 1000000", "0, 1000000, 5000", "5000, 5000, 1000000", "5000, 100, 1000000",
    "300000, 100, 1000000"})
  void ofTwoWritersOfOneName_theLastHasIt_andARemovalRemovesIt(int before, int slow, int quick) throws IOException {
    List<BlockTier> tiers = new ArrayList<>();
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> {
      tiers.add(tier);
      return tier;
    }, Map.of(), Access.open()); RespClient first = door.connect(); RespClient second = door.connect()) {
      if (before > 0) {
        assertThat(second.call("SET", "k", value(1, before))).isEqualTo("+OK");
      }
      byte[] begun = request("SET", "k", value(2, slow));
      first.send(begun, 0, begun.length - 50);
      assertThat(second.call("SET", "k", value(3, quick))).isEqualTo("+OK");
      assertThat(second.bulk("GET", "k")).isEqualTo(value(3, quick));
      assertThat(first.send(begun, begun.length - 50, begun.length).text(5)).isEqualTo("+OK\r\n");
      assertThat(second.bulk("GET", "k")).isEqualTo(value(2, slow));
      assertThat(heads(tiers).block()).isOne();
      assertThat(second.call("DEL", "k")).isEqualTo(":1");
      assertThat(second.bulk("GET", "k")).isNull();
    }
  }

  /// A value that another client of the node stored, so that the door does not know its name, and two writers.
  @ParameterizedTest
  @CsvSource({"2000, false", "2000, true", "60000, false", "60000, true", "1000000, true"})
  void writerThatGivesWay_leavesNoOlderValue_ofANameThatWasNotKnown(int before, boolean ends) throws IOException {
    List<BlockTier> tiers = new ArrayList<>();
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> {
      tiers.add(tier);
      return tier;
    }, Map.of(), Access.open()); RespClient second = door.connect()) {
      RespClient first = door.connect();
      int size = before > 100_000 ? 0 : before > 4_000 ? 1 : 2;
      assertThat(new ValueStore(tiers.get(size))
          .put("k", before, Flux.just(MemorySegment.ofArray(value(1, before)))).block(SOON)).isTrue();
      byte[] begun = request("SET", "k", value(2, 3000));
      first.send(begun, 0, begun.length - 50);
      Eventually.holds("room is held for the first writer", () -> door.held() > 0);
      assertThat(second.call("SET", "k", value(3, 3500))).isEqualTo("+OK");
      assertThat(second.bulk("GET", "k")).as("while the first one writes").isNull();
      if (ends) {
        assertThat(first.send(begun, begun.length - 50, begun.length).text(5)).isEqualTo("+OK\r\n");
        assertThat(second.bulk("GET", "k")).isEqualTo(value(2, 3000));
      }
      first.close();
      if (!ends) {
        Eventually.holds("no room is held", () -> door.held() == 0);
        assertThat(second.bulk("GET", "k")).as("after the first one ended").isNull();
      }
    }
  }

  /// What becomes of one who removes a value while another one stores one of its name.
  private enum Remover {
    /// A put that gives way.
    WRITER,
    /// A read that finds a value with a missing part.
    READER,
    /// A question about a value whose time is over.
    QUESTION
  }

  @ParameterizedTest
  @EnumSource(Remover.class)
  void valueThatIsStored_whileAnOlderOneOfItsNameIsRemoved_stays(Remover remover) throws IOException {
    int length = remover == Remover.READER ? 1_000_000 : 100;
    List<BlockTier> tiers = new ArrayList<>();
    Sinks.Empty<Void> bytes = Sinks.empty();
    AtomicBoolean isWatched = new AtomicBoolean();
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> {
      tiers.add(tier);
      BlockKey head = new ValueStore(tier).headKey("k");
      return new ForwardingTier(tier) {
        @Override
        public Mono<Presence> remove(List<BlockKey> keys) {
          return Mono.defer(() -> {
            if (keys.contains(head) && isWatched.get()) {
              bytes.tryEmitEmpty(); // the old value was found, and now the new one has all its bytes
            }
            return super.remove(keys);
          });
        }
      };
    }, Map.of(), Access.open())) {
      long until = remover == Remover.QUESTION ? door.wallMillis.get() + 1 : 0;
      assertThat(door.values.put("k", length, filled((byte) 1), () -> until, DoorValues.ANY).block(SOON)).isTrue();
      CompletableFuture<Boolean> stored =
          door.values
              .put("k", length, memory -> filled((byte) 2).fill(memory).then(bytes.asMono()), () -> 0, DoorValues.ANY)
              .toFuture();
      isWatched.set(true);
      switch (remover) {
        case WRITER -> {
          assertThat(door.values.put("k", length, filled((byte) 3), () -> 0, DoorValues.ANY).block(SOON)).isFalse();
          bytes.tryEmitEmpty(); // in case that it removed nothing
        }
        case READER -> {
          BlockTier largest = tiers.getFirst();
          ValueStore store = new ValueStore(largest);
          StoredValue old = Objects.requireNonNull(store.heads(List.of(store.headKey("k"))).next().block(SOON));
          largest.remove(List.of(old.partKeys().get(1))).block(SOON);
          try (BlockScope scope = new BlockScope()) {
            door.values.get("k", scope).block(SOON);
          }
        }
        case QUESTION -> {
          door.wallMillis.addAndGet(10);
          assertThat(door.values.length("k").block(SOON)).isNull();
        }
      }
      assertThat(stored.orTimeout(60, TimeUnit.SECONDS).join()).as("whether the value was stored").isTrue();
      assertThat(first(door)).as("the value that was stored").isEqualTo((byte) 2);
    }
  }

  @Test
  void writerThatWaitsTooLong_removesTheOlderValue_onNoThreadOfTimers() throws IOException {
    List<String> removers = new CopyOnWriteArrayList<>();
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> new ForwardingTier(tier) {
      @Override
      public Mono<Presence> remove(List<BlockKey> keys) {
        return Mono.defer(() -> {
          removers.add(Thread.currentThread().getName());
          return super.remove(keys);
        });
      }
    }, Map.of(), Access.open())) {
      assertThat(door.values.put("k", 100, filled((byte) 1), () -> 0, DoorValues.ANY).block(SOON)).isTrue();
      Disposable slow = door.values.put("k", 100, memory -> Mono.never(), () -> 0, DoorValues.ANY).subscribe();
      removers.clear();
      assertThat(door.values.put("k", 100, filled((byte) 3), () -> 0, DoorValues.ANY).block(SOON)).isFalse();
      assertThat(removers).as("threads that removed").isNotEmpty()
          .allMatch(name -> name.startsWith(OpenDoor.DECISIONS));
      slow.dispose();
    }
  }

  private static ValueStore.Filling filled(byte with) {
    return memory -> Mono.fromRunnable(() -> memory.fill(with));
  }

  /// The first byte of the value "k".
  private static byte first(OpenDoor door) {
    try (BlockScope scope = new BlockScope()) {
      return Objects.requireNonNull(door.values.get("k", scope).flatMapMany(value -> value.parts().map(part -> {
        try (part) {
          return part.<Byte>read(memory -> memory.get(ValueLayout.JAVA_BYTE, 0));
        }
      })).collectList().block(SOON)).getFirst();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 60_000, 1_000_000})
  void firstValueOfAName_hasMemoryBeforeATierIsAsked_andAsksOnceEach(int length) throws IOException {
    List<String> asked = new ArrayList<>();
    try (OpenDoor door = new OpenDoor(16 << 20, tier -> new ForwardingTier(tier) {
      @Override
      public Mono<Presence> contains(List<BlockKey> keys) {
        return Mono.defer(() -> {
          asked.add("contains");
          return super.contains(keys);
        });
      }

      @Override
      public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
        return Mono.defer(() -> {
          asked.add("reserve");
          return super.reserve(keys, terms, scope);
        });
      }
    }, Map.of(), Access.open())) {
      assertThat(door.values.put("k", length, filled((byte) 1), () -> 0, DoorValues.ANY).block(SOON)).isTrue();
      assertThat(asked.getFirst()).isEqualTo("reserve");
      assertThat(asked.stream().filter("contains"::equals)).hasSize(OpenDoor.SIZES.size());
    }
  }

  /// Number of the tiers that have a value of the name.
  private static Mono<Long> heads(List<BlockTier> tiers) {
    return Flux.fromIterable(tiers).concatMap(tier -> tier.contains(List.of(new ValueStore(tier).headKey("k"))))
        .filter(there -> there.count() > 0).count();
  }

  @Test
  void halfOfAPair_thatGetsAnotherLength_keepsTheOther() throws IOException {
    String chunk = "model@1@0@1f@half";
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      client.call("PING"); // a client that reads errors may change the length of a chunk
      assertThat(client.call("SET", chunk + "metadata", value(1, 28))).isEqualTo("+OK");
      for (int length : new int[] {100_000, 1_000_000, 5_000}) {
        assertThat(client.call("SET", chunk + "kv_bytes", value(length, length))).isEqualTo("+OK");
        assertThat(client.call("EXISTS", chunk + "metadata", chunk + "kv_bytes")).isEqualTo(":2");
      }
    }
  }

  private Node start() throws IOException {
    Path file = Files.writeString(folder.resolve("node.yaml"), """
        listen.port: 0
        admin.port: 0
        resp: 127.0.0.1:0
        dram: 4MiB
        ssd: 256MiB
        ssd.dir: %s
        ssd.segment.bytes: 4MiB
        doors.names.rate: 4KiB
        """.formatted(folder.resolve("ssd")));
    return Objects.requireNonNull(Node.start(NodeConfig.resolve(file, Map.of(), Map.of())).block(SOON));
  }

  private static RespClient connect(Node node) throws IOException {
    String address = node.doors().getFirst().address();
    return new RespClient(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
  }

  private static boolean isStored(RespClient client, String key, byte[] value) throws IOException {
    try {
      return client.send(request("SET", key, value)).text(5).equals("+OK\r\n");
    } catch (SocketException e) { // reset
      return false;
    }
  }

  @Test
  void chunkOfAnotherLength_isRefused_thoughTheNodeDoesNotKnowItsNamesYet() throws IOException {
    int values = 30;
    Node first = start();
    try (RespClient client = connect(first)) {
      for (int i = 0; i < values; i++) {
        assertThat(client.call("SET", "m@03020302@0@" + i, value(i, 600_000))).isEqualTo("+OK");
      }
      assertThat(first.drain().block(SOON)).isTrue();
    }
    Node second = start();
    int found = 0;
    try {
      for (int i = 0; i < values; i++) {
        try (RespClient client = connect(second); RespClient reader = connect(second)) {
          boolean isThere = !isStored(client, "m@03020302@0@" + i, value(-i, 500_000));
          found += isThere ? 1 : 0;
          assertThat(reader.bulk("GET", "m@03020302@0@" + i))
              .isEqualTo(isThere ? value(i, 600_000) : value(-i, 500_000));
        }
        if (i == 0) {
          assertThat(second.doors().getFirst().names().values()).noneMatch(DoorValues.Names::complete);
        }
      }
      assertThat(found).isGreaterThan(values / 3);
      try (RespClient client = connect(second)) {
        assertThat(client.call("SET", "m@03020302@0@new", value(1, 500_000))).isEqualTo("+OK");
        assertThat(client.call("SET", "m@03020302@0@new", value(2, 500_000))).isEqualTo("+OK");
      }
    } finally {
      second.close().block(SOON);
    }
  }
}
