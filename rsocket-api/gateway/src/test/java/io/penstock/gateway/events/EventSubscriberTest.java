package io.penstock.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.gateway.choice.BlockIndex;
import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.PromptBlocks;
import io.penstock.gateway.events.PackedEvents.Hash;
import io.penstock.gateway.events.PackedEvents.Layout;
import io.penstock.node.kvevents.HashForm;
import io.penstock.node.kvevents.KvEventsOptions;
import io.penstock.node.kvevents.KvEventsPublisher;
import io.penstock.node.kvevents.KvLayout;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds.BlockTokens;
import io.penstock.tier.TierListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import reactor.core.publisher.Mono;

/// Real sockets: a node of this project, and a publisher that sends what an engine may send.
@Timeout(60)
final class EventSubscriberTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int UNIT = SPACE.group().strideTokens(SPACE.layout());
  private static final int KEYS = 40;
  private static final EventOptions OPTIONS =
      EventOptions.defaults(UNIT).withTimes(Duration.ofSeconds(5), Duration.ofMillis(200));

  private final BlockIndex index = new BlockIndex();
  private final EventSubscriber subscriber = EventSubscriber.start(index, OPTIONS, System::nanoTime);

  @AfterEach
  void close() {
    subscriber.close().block();
    subscriber.close().block();
    assertThat(index.size()).isZero();
  }

  /// Tokens of the first blocks of one long prompt.
  private static int[] tokens(int blocks) {
    return IntStream.range(0, blocks * UNIT).map(i -> i * 7 + 1).toArray();
  }

  private static final long[] NAMES = PromptBlocks.names(PromptBlocks.ROOT, tokens(KEYS), UNIT);

  private static EventSource source(KvEventsPublisher publisher) {
    return EventSource.node("tcp://127.0.0.1:" + publisher.port(),
        "tcp://127.0.0.1:" + publisher.replayPort().orElseThrow(), "kv-events");
  }

  @ParameterizedTest
  @CsvSource({"ARRAY, INT, 1", "MAP, BYTES, 2", "MAP_BATCH, INT, 3"})
  void indexKnowsWhatANodeHas(KvLayout layout, HashForm hashes, int seed) throws IOException {
    Random random = new Random(seed);
    TierStack tier = new TierStack(SPACE,
        List.of(new StackLevel.Host("dram", 12),
            new StackLevel.Stored(new MemoryStore("ssd", io.penstock.tier.Medium.DISK, SPACE, Long.MAX_VALUE,
                Runnable::run), 24)),
        StackOptions.defaults("stack").withIngressBlocks(8).withTransferBlocks(4).withPromotionBlocks(2)
            .withBounceBlocks(1).withBatchBlocks(4),
        TierListener.noop());
    KvEventsPublisher publisher = KvEventsPublisher.start(tier,
        KvEventsOptions.defaults().withLayout(layout, hashes).withTokens(1000), InstantSource.system(),
        System::nanoTime);
    try {
      for (int key = 0; key < KEYS; key++) {
        put(tier, publisher, key); // once each, so that every name can be known
      }
      EventCounts counts = subscriber.follow(3, source(publisher));
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
          int key = random.nextInt(KEYS);
          if (random.nextInt(4) == 0) {
            tier.remove(List.of(Blocks.key(SPACE, key))).block();
          } else {
            put(tier, publisher, key);
          }
        }
        Eventually.holds("the index of round " + round, () -> known(3).equals(here(tier)),
            () -> known(3) + " instead of " + here(tier) + ": " + counts);
      }
      assertThat(counts.of(EventCount.STORED)).isGreaterThan(50);
      assertThat(counts.of(EventCount.BAD)).isZero();
      subscriber.unfollow(3).block();
      assertThat(index.size()).isZero();
      assertThat(subscriber.counts(3)).isEmpty();
    } finally {
      publisher.close();
      tier.close().block();
    }
  }

  private static void put(TierStack tier, KvEventsPublisher publisher, int last) {
    List<BlockKey> keys = IntStream.rangeClosed(0, last).mapToObj(i -> Blocks.key(SPACE, i)).toList();
    publisher.tokens().add(keys, BlockTokens.of(BlockHash.ROOT, keys, tokens(last + 1)));
    Mono.using(BlockScope::new, scope -> tier.reserve(List.of(keys.getLast()), scope).flatMap(reservation -> {
      reservation.drafts().forEach(Blocks::produce);
      return reservation.commit(reservation.drafts());
    }), BlockScope::close).block();
  }

  /// The fastest medium of each block.
  private List<String> known(int instance) {
    List<String> known = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      BlockIndex.Overlap overlap = index.overlap(new long[] {NAMES[i]}, 1L << instance);
      known.add(overlap.on(instance, Medium.HOST) == 1
          ? "HOST"
          : overlap.on(instance, Medium.STORAGE) == 1 ? "STORAGE" : "");
    }
    return known;
  }

  private static List<String> here(TierStack tier) {
    KnownBlocks blocks = new KnownBlocks();
    tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance).toIterable().forEach(blocks::apply);
    List<String> here = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      List<io.penstock.tier.Medium> media =
          blocks.levels(Blocks.key(SPACE, i)).stream().map(TierEvent.Level::medium).toList();
      here.add(media.contains(io.penstock.tier.Medium.HOST) ? "HOST" : media.isEmpty() ? "" : "STORAGE");
    }
    return here;
  }

  @Test
  void badMessages_areCounted_andRestartsAreNoticed() {
    PackedEvents form = new PackedEvents(Layout.MAP, Hash.UNSIGNED);
    byte[] first = form.batch(null, PackedEvents.stored(null, new long[] {-5}, tokens(1), UNIT, "GPU"));
    int port;
    EventCounts counts;
    try (ZMQ.Context context = ZMQ.context(1); ZMQ.Socket engine = context.socket(SocketType.XPUB)) {
      engine.setLinger(0);
      port = engine.bindToRandomPort("tcp://127.0.0.1");
      counts = subscriber.follow(1, EventSource.engine("tcp://127.0.0.1:" + port, null, ""));
      assertThat(engine.recv()).as("it subscribes").isEqualTo(new byte[] {1});
      send(engine, new byte[3], first);
      engine.send("one frame");
      send(engine, number(0), new byte[] {(byte) 0xc1});
      send(engine, number(1), first);
      Eventually.holds("the block", () -> known1() == 1);
      assertThat(counts.of(EventCount.BAD)).isEqualTo(3);
    }
    try (ZMQ.Context context = ZMQ.context(1); ZMQ.Socket engine = context.socket(SocketType.XPUB)) {
      engine.setLinger(0);
      engine.bind("tcp://127.0.0.1:" + port);
      assertThat(engine.recv()).as("it subscribes again").isEqualTo(new byte[] {1});
      Eventually.holds("another engine has nothing of the first", () -> index.size() == 0);
      send(engine, number(2), first);
      Eventually.holds("its own block", () -> known1() == 1);
    }
    assertThat(subscriber.counts(1)).hasSize(1);
  }

  private int known1() {
    return index.overlap(NAMES, 2).on(1, Medium.DEVICE);
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private static void send(ZMQ.Socket engine, byte[] number, byte[] batch) {
    engine.sendMore(new byte[0]);
    engine.sendMore(number);
    engine.send(batch);
  }

  @Test
  void oneSourceTwice_isRefused_andAddressesAreChecked() {
    EventSource source = EventSource.engine("tcp://127.0.0.1:1", "tcp://[::1]:65000", "");
    subscriber.follow(2, source);
    assertThatThrownBy(() -> subscriber.follow(2, source)).isInstanceOf(IllegalStateException.class);
    assertThat(source.ofRank(2)).isEqualTo(EventSource.engine("tcp://127.0.0.1:3", "tcp://[::1]:65002", ""));
    for (String bad : List.of("", "127.0.0.1:5557", "tcp://host", "tcp://host:0", "tcp://host:65536", "tcp://a b:1",
        "ipc:///tmp/x")) {
      assertThatThrownBy(() -> EventSource.engine(bad, null, "")).isInstanceOf(IllegalArgumentException.class)
          .hasMessage("events must be tcp://HOST:PORT (was %s)", bad);
    }
    assertThatThrownBy(() -> source.ofRank(65000)).isInstanceOf(IllegalArgumentException.class);
    subscriber.unfollow(2).block();
    subscriber.follow(2, source);
  }
}
