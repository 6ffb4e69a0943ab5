package io.penstock.node.kvevents;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.msgpack.core.MessagePack;
import reactor.core.publisher.Mono;

/// A real subscriber on loopback knows what the tier has.
@Timeout(60)
final class KvEventsPublisherTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int KEYS = 64;

  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run));
  private final TierStack tier = new TierStack(SPACE,
      List.of(new StackLevel.Host("dram", 12), new StackLevel.Stored(disk, 24)),
      StackOptions.defaults("stack").withIngressBlocks(8).withTransferBlocks(4).withPromotionBlocks(2)
          .withBounceBlocks(1).withBatchBlocks(4),
      TierListener.noop());

  @AfterEach
  void closeTier() {
    tier.close().block();
  }

  @ParameterizedTest
  @CsvSource({"ARRAY, INT, 1", "MAP, BYTES, 2", "MAP_BATCH, INT, 3"})
  void subscriber_knowsWhatTheTierHas_alsoAfterGaps(KvLayout layout, HashForm hashes, int seed) throws IOException {
    Random random = new Random(seed);
    put(random.nextInt(KEYS));
    KvEventsPublisher publisher = start(KvEventsOptions.defaults().withLayout(layout, hashes));
    try (KvIndex index = new KvIndex(publisher.port(), publisher.replayPort().orElseThrow(), "kv-events")) {
      index.replay();
      for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 300; i++) {
          act(random);
        }
        index.read(round % 3 == 1 ? 2 : 0);
        index.replay(); // the last batch may be a lost one
        await("seed " + seed + ", round " + round, index, () -> index.media().equals(here()));
      }
      assertThat(index.replays()).isGreaterThan(6);
      publisher.close();
      index.read(0);
      assertThat(index.media()).as("the publisher has ended").isEmpty();
    }
    assertThat(publisher.published()).isGreaterThan(1000);
    assertThat(publisher.replayed()).isPositive();
  }

  @Test
  void consumerThatMissedTooMuch_getsASnapshot() throws IOException {
    KvEventsPublisher publisher = start(KvEventsOptions.defaults().withSteps(2, Duration.ZERO));
    try (KvIndex index = new KvIndex(publisher.port(), publisher.replayPort().orElseThrow(), "kv-events")) {
      Random random = new Random(3);
      for (int i = 0; i < 600; i++) {
        act(random);
        if (i % 100 == 0) {
          index.read(1);
        }
      }
      long before = publisher.snapshots();
      try (KvIndex late = new KvIndex(publisher.port(), publisher.replayPort().orElseThrow(), "kv-events")) {
        await("a late consumer", late, () -> {
          if (!late.media().equals(here())) {
            late.replay();
          }
          return late.media().equals(here());
        });
        assertThat(publisher.snapshots()).isGreaterThan(before);
        await("the early one", index, () -> index.media().equals(here()));
      }
    } finally {
      publisher.close();
    }
  }

  @Test
  void blocksOfADiskThatIsOff_areNotThere() throws IOException {
    KvEventsPublisher publisher = start(KvEventsOptions.defaults());
    try (KvIndex index = new KvIndex(publisher.port(), publisher.replayPort().orElseThrow(), "kv-events")) {
      index.replay();
      IntStream.range(0, 30).forEach(this::put);
      index.replay(); // the puts may have come before the subscription
      await("the puts", index, () -> index.media().equals(here()));
      disk.health(StoreHealth.State.OFF);
      assertThat(here()).hasSize(12);
      index.replay();
      await("the disk is off", index, () -> index.media().equals(here()));
      disk.health(StoreHealth.State.ACTIVE);
      assertThat(here()).hasSize(30);
      index.replay();
      await("the disk is back", index, () -> index.media().equals(here()));
      assertThat(index.cleared()).isEqualTo(3);
    } finally {
      publisher.close();
    }
  }

  @Test
  void typesThatAConsumerDoesNotKnow_areIgnored() throws IOException {
    try (KvIndex index = new KvIndex(1, 1, "kv-events"); var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(1).packArrayHeader(2).packArrayHeader(2).packString("BlockPinned").packInt(7)
          .packMapHeader(1).packString("type").packString("CacheResized").packNil();
      index.apply(packer.toByteArray());
      assertThat(index.media()).isEmpty();
    }
  }

  @Test
  void portThatIsTaken_isAnError() throws IOException {
    KvEventsPublisher first = start(KvEventsOptions.defaults());
    KvEventsOptions same = new KvEventsOptions("127.0.0.1", first.port(), OptionalInt.empty(), "", KvLayout.MAP,
        HashForm.INT, 1, 1, Duration.ZERO, 0);
    assertThatThrownBy(() -> start(same)).isInstanceOf(IOException.class).hasMessageContaining(":" + first.port());
    first.close();
    start(same).close();
  }

  private KvEventsPublisher start(KvEventsOptions options) throws IOException {
    return KvEventsPublisher.start(tier, options, InstantSource.system(), System::nanoTime);
  }

  private void act(Random random) {
    int key = random.nextInt(KEYS);
    switch (random.nextInt(6)) {
      case 0 -> tier.remove(List.of(key(key))).block();
      case 1, 2 -> {
        try (BlockScope scope = new BlockScope()) {
          tier.get(List.of(key(key)), scope).doOnNext(block -> block.close()).blockLast();
        }
      }
      default -> put(key);
    }
  }

  private void put(int number) {
    Mono.using(BlockScope::new, scope -> tier.reserve(List.of(key(number)), scope).flatMap(reservation -> {
      reservation.drafts().forEach(Blocks::produce);
      return reservation.commit(reservation.drafts());
    }), BlockScope::close).block();
  }

  private static BlockKey key(int number) {
    return Blocks.key(SPACE, number);
  }

  /// What the tier has: the visible keys by asking it, their media by a snapshot.
  private Map<Long, Set<String>> here() {
    Map<Long, Set<String>> here = new HashMap<>();
    KnownBlocks known = new KnownBlocks();
    tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance).toIterable().forEach(known::apply);
    List<BlockKey> keys = IntStream.range(0, KEYS).mapToObj(KvEventsPublisherTest::key).toList();
    Presence visible = requireNonNull(tier.contains(keys).block());
    for (int i = 0; i < KEYS; i++) {
      if (visible.get(i)) {
        Set<String> media = new HashSet<>();
        known.levels(keys.get(i)).forEach(level -> media.add(KvMedium.of(level.medium()).name()));
        here.put(keys.get(i).hash().low(), media);
      }
    }
    return here;
  }

  private static void await(String what, KvIndex index, BooleanSupplier condition) {
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      index.read(0);
    }
  }
}
