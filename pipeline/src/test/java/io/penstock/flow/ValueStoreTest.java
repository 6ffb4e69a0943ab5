package io.penstock.flow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

@Timeout(30)
final class ValueStoreTest {
  private static final int PART = 4096;
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final CacheSpace SPACE = ValueStore.space("values", PART, "");

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final BlockTier tier = tier(64);
  private final ValueStore store = new ValueStore(tier, 4);

  @Test
  void versions_areDrawnFromTheGivenNumbers() {
    List<Long> drawn = new ArrayList<>();
    ValueStore seeded = new ValueStore(tier, 4, () -> {
      drawn.add(7L);
      return 7;
    });
    MemorySegment bytes = MemorySegment.ofArray(new byte[3 * PART]);
    assertThat(seeded.put("a", bytes.byteSize(), Flux.just(bytes)).block(SOON)).isTrue();
    assertThat(drawn).hasSize(2);
    BlockHash version = new BlockHash(7, 7);
    assertThat(tier.contains(List.of(SPACE.key(PrefixHasher.ofPart(PrefixHasher.ofName("a"), version, 0)))).block(SOON))
        .extracting(Presence::count).isEqualTo(1);
  }

  @Test
  void values_areFoundByTheirBlocks() {
    put("short", bytes(10, 1));
    put("long", bytes(5 * PART, 2));
    put("removed", bytes(2 * PART, 3));
    store.remove("removed").block(SOON);
    List<BlockKey> all = requireNonNull(tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance)
        .ofType(TierEvent.Present.class).map(TierEvent.Present::key).collectList().block(SOON));
    assertThat(all).hasSize(7);
    long uses = requireNonNull(tier.stat().block(SOON)).hits();
    List<StoredValue> found = requireNonNull(store.heads(all).collectList().block(SOON));
    assertThat(found).extracting(StoredValue::name).containsExactlyInAnyOrder("short", "long");
    assertThat(found).allSatisfy(value -> {
      assertThat(all).containsAll(value.partKeys()).containsAll(value.marks());
      assertThat(value.length()).isEqualTo(value.name().equals("short") ? 10 : 5 * PART);
    });
    assertThat(requireNonNull(tier.stat().block(SOON)).hits()).isEqualTo(uses);
  }

  private BlockTier tier(long capacityBlocks) {
    HostTier host = new HostTier(SPACE, capacityBlocks,
        StackOptions.defaults("values").withIngressBlocks(8).withExact(false), TierListener.noop());
    leaks.watch("blocks beside the visible ones", () -> {
      long visible = requireNonNull(host.stat().block(SOON)).blocks();
      return host.arena().claimedSlots() - visible;
    });
    return host;
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /// `bytes` in pieces of at most `piece`.
  private static Flux<MemorySegment> pieces(byte[] bytes, int piece) {
    List<MemorySegment> pieces = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += piece) {
      pieces.add(MemorySegment.ofArray(bytes).asSlice(at, Math.min(piece, bytes.length - at)));
    }
    return Flux.fromIterable(pieces);
  }

  private boolean put(String name, byte[] bytes) {
    return Boolean.TRUE.equals(store.put(name, bytes.length, pieces(bytes, 1000)).block(SOON));
  }

  private Mono<StoredValue> replace(String name, byte[] bytes, int piece) {
    return store.replace(name, bytes.length, pieces(bytes, piece), null, null);
  }

  private static byte @Nullable [] get(ValueStore store, String name) {
    try (BlockScope scope = new BlockScope()) {
      LeasedValue value = store.get(name, scope).block(SOON);
      return value == null ? null : all(value);
    }
  }

  private static byte[] all(LeasedValue value) {
    byte[] read = new byte[(int) value.length()];
    AtomicInteger at = new AtomicInteger();
    value.parts().doOnNext(part -> {
      try (part) {
        part.read(memory -> {
          MemorySegment.copy(memory, JAVA_BYTE, 0, read, at.getAndAdd((int) part.bytes()), (int) part.bytes());
          return true;
        });
      }
    }).blockLast(SOON);
    assertThat(at).hasValue(read.length);
    return read;
  }

  private long blocks() {
    return requireNonNull(tier.stat().block(SOON)).blocks();
  }

  @Test
  void everyLength_comesBackAsItWas() {
    int head = PART - 64; // room for bytes in the head of a short name
    int i = 0;
    for (int base : new int[] {0, head, PART, head + PART, 2 * PART, head + 4 * PART, 9 * PART}) {
      for (int length = Math.max(0, base - 1); length <= base + 1; length++) {
        byte[] bytes = bytes(length, length);
        String name = "v" + i++;
        assertThat(put(name, bytes)).as("length %s", length).isTrue();
        assertThat(get(store, name)).as("length %s", length).isEqualTo(bytes);
        assertThat(store.length(name).block(SOON)).isEqualTo(length);
        assertThat(store.remove(name).block(SOON)).isTrue();
        assertThat(blocks()).as("length %s", length).isZero();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void anyPieces_makeTheSameValue(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20; i++) {
      byte[] bytes = bytes(random.nextInt(10 * PART), seed);
      String name = "n".repeat(1 + random.nextInt(2000)) + i;
      assertThat(replace(name, bytes, 1 + random.nextInt(2 * PART)).block(SOON)).isNotNull();
      assertThat(get(store, name)).as("%s bytes of seed %s", bytes.length, seed).isEqualTo(bytes);
      assertThat(store.remove(name).block(SOON)).isTrue();
    }
    assertThat(blocks()).isZero();
  }

  @Test
  void aRange_hasItsBytes_andReadsNoOtherPart() {
    byte[] bytes = bytes(10 * PART + 100, 4);
    assertThat(put("ranged", bytes)).isTrue();
    Random random = new Random(4);
    for (int i = 0; i < 60; i++) {
      int offset = i < 3 ? i * 5 * PART : random.nextInt(bytes.length);
      int length = 1 + random.nextInt(bytes.length - offset);
      try (BlockScope scope = new BlockScope()) {
        LeasedValue value = requireNonNull(store.get("ranged", offset, length, scope).block(SOON));
        assertThat(value.length()).isEqualTo(bytes.length);
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        List<Long> parts = new ArrayList<>();
        value.parts().doOnNext(part -> {
          parts.add(part.bytes());
          read.writeBytes(part.read(memory -> memory.toArray(JAVA_BYTE)));
          part.close();
        }).blockLast(SOON);
        assertThat(read.toByteArray()).isEqualTo(Arrays.copyOfRange(bytes, offset, offset + length));
        assertThat(parts).hasSizeLessThanOrEqualTo(2 + length / PART);
      }
    }
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> store.get("ranged", bytes.length, 1, scope).block(SOON))
          .hasMessageContaining("range must lie in the value");
      assertThat(store.get("none", 0, 1, scope).blockOptional(SOON)).isEmpty();
    }
  }

  @Test
  void whatIsKnown_isTheLengthAndTheVersionOfEachWrite() {
    assertThat(store.info("known").blockOptional(SOON)).isEmpty();
    assertThat(put("known", bytes(3 * PART, 1))).isTrue();
    ValueStore.Info first = requireNonNull(store.info("known").block(SOON));
    assertThat(first.length()).isEqualTo(3 * PART);
    byte[] other = bytes(3 * PART, 2);
    assertThat(replace("known", other, 1000).block(SOON)).isNotNull();
    assertThat(requireNonNull(store.info("known").block(SOON)).version()).isNotEqualTo(first.version());
    BlockKey part = SPACE.key(PrefixHasher.ofPart(PrefixHasher.ofName("known"),
        requireNonNull(store.info("known").block(SOON)).version(), 0));
    assertThat(tier.remove(List.of(part)).block(SOON)).extracting(Presence::count).isEqualTo(1);
    assertThat(store.info("known").blockOptional(SOON)).isEmpty();
  }

  @Test
  void aSecondPut_movesNothing_andSaysSo() {
    byte[] first = bytes(3 * PART, 1);
    assertThat(put("a", first)).isTrue();
    Flux<MemorySegment> none = Flux.error(new AssertionError("must not be subscribed"));
    assertThat(store.put("a", 10, none).block(SOON)).isFalse();
    assertThat(get(store, "a")).isEqualTo(first);
  }

  @Test
  void aReplacement_ofAnotherLength_takesAllPartsOfTheOldValue() {
    assertThat(put("a", bytes(5 * PART, 1))).isTrue();
    byte[] other = bytes(2 * PART + 7, 2);
    assertThat(replace("a", other, 500).block(SOON)).isNotNull();
    assertThat(get(store, "a")).isEqualTo(other);
    assertThat(blocks()).isEqualTo(3);
  }

  @Test
  void aValue_isInvisibleUntilAllOfItCame_andLeavesNothingIfItDoesNot() {
    byte[] bytes = bytes(6 * PART, 1);
    Sinks.Many<MemorySegment> source = Sinks.many().unicast().onBackpressureBuffer();
    var put = store.put("a", bytes.length, source.asFlux()).toFuture();
    source.tryEmitNext(MemorySegment.ofArray(bytes).asSlice(0, 5 * PART));
    assertThat(blocks()).isEqualTo(4);
    assertThat(get(store, "a")).isNull();
    source.tryEmitError(new IllegalStateException("lost"));
    assertThatThrownBy(put::join).hasMessageContaining("lost");
    assertThat(blocks()).isZero();
    var cancelled = store.put("a", bytes.length, Flux.<MemorySegment>never()
        .startWith(MemorySegment.ofArray(bytes).asSlice(0, 5 * PART))).subscribe();
    assertThat(blocks()).isEqualTo(4);
    cancelled.dispose();
    assertThat(blocks()).isZero();
  }

  @Test
  void fewerOrMoreBytesThanTheLength_areRefused() {
    for (int length : new int[] {99, 101, 3 * PART}) {
      assertThatThrownBy(() -> store.put("a", length, pieces(bytes(100, 1), 10)).block(SOON))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("the length, " + length);
    }
    assertThat(blocks()).isZero();
  }

  @Test
  void ofTwoWriters_oneWins_andTheOtherLeavesNothing() {
    byte[] first = bytes(6 * PART, 1);
    byte[] second = bytes(3 * PART, 2);
    Sinks.Many<MemorySegment> source = Sinks.many().unicast().onBackpressureBuffer();
    var slow = store.put("a", first.length, source.asFlux()).toFuture();
    source.tryEmitNext(MemorySegment.ofArray(first).asSlice(0, 5 * PART));
    assertThat(put("a", second)).isTrue();
    source.tryEmitNext(MemorySegment.ofArray(first).asSlice(5 * PART));
    source.tryEmitComplete();
    assertThat(slow.join()).isFalse();
    assertThat(get(store, "a")).isEqualTo(second);
    assertThat(blocks()).isEqualTo(4);
  }

  @Test
  void aMissingPart_isAMissOfTheValue_whoseOtherPartsGo() {
    assertThat(put("a", bytes(5 * PART, 1))).isTrue();
    removePart();
    assertThat(get(store, "a")).isNull();
    assertThat(blocks()).isZero();
  }

  /// Removes one of the five parts of the value "a", which alone was put.
  private void removePart() {
    BlockKey head = ValueHead.key(SPACE, "a");
    List<BlockKey> parts = requireNonNull(tier.events(0).take(6).map(event -> switch (event) {
      case TierEvent.Stored stored -> stored.key();
      default -> throw new AssertionError(event);
    }).filter(key -> !key.equals(head)).collectList().block(SOON));
    assertThat(parts).hasSize(5);
    assertThat(requireNonNull(tier.remove(List.of(parts.get(3))).block(SOON)).count()).isOne();
  }

  @Test
  void aPut_storesAValueThatMissesAPart() {
    byte[] bytes = bytes(5 * PART, 1);
    assertThat(put("a", bytes)).isTrue();
    removePart();
    assertThat(put("a", bytes)).isTrue();
    assertThat(get(store, "a")).isEqualTo(bytes);
    assertThat(blocks()).isEqualTo(6);
  }

  @Test
  void aReaderOfTheOldValue_leavesTheNewOne() {
    byte[] other = bytes(2 * PART, 2);
    ValueStore slow = new ValueStore(new ForwardingTier(tier) {
      @Override
      public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
        return keys.size() < 5
            ? super.lease(keys, onMiss, scope)
            : replace("a", other, 500).then(super.lease(keys, onMiss, scope));
      }
    });
    assertThat(put("a", bytes(5 * PART, 1))).isTrue();
    assertThat(get(slow, "a")).isNull();
    assertThat(get(store, "a")).isEqualTo(other);
  }

  @Test
  void aHeadThatClaimsMoreThanTheSpaceHolds_isAMiss() {
    for (long length : new long[] {100 * PART, Long.MAX_VALUE}) {
      ValueHead head = new ValueHead(SPACE, "a", length, new BlockHash(1, 2), 1);
      try (BlockScope scope = new BlockScope()) {
        tier.reserve(List.of(head.key()), scope).flatMap(room -> {
          BlockDraft draft = room.drafts().getFirst();
          draft.write(GranuleRange.all(SPACE.layout()), head::write);
          draft.produced(GranuleRange.all(SPACE.layout()));
          return room.commit(room.drafts());
        }).block(SOON);
      }
      assertThat(get(store, "a")).as("length %s", length).isNull();
      assertThat(requireNonNull(tier.remove(List.of(head.key())).block(SOON)).count()).isOne();
    }
  }

  @Test
  void aHeadOfAnotherName_orNoHead_isAMiss() {
    try (BlockScope scope = new BlockScope()) {
      BlockKey key = ValueHead.key(SPACE, "a");
      tier.reserve(List.of(key), scope).flatMap(room -> {
        room.drafts().forEach(Blocks::produce);
        return room.commit(room.drafts());
      }).block(SOON);
    }
    assertThat(get(store, "a")).isNull();
    assertThat(store.remove("a").block(SOON)).isFalse();
    byte[] bytes = bytes(10, 1);
    assertThat(ValueHead.read(SPACE, MemorySegment.ofArray(bytes(PART, 3)))).isEmpty();
    assertThat(replace("b", bytes, 10).block(SOON)).isNotNull();
  }

  @Test
  void aRemove_whileTheValueIsRead_takesNoBytesFromTheReader() {
    byte[] bytes = bytes(3 * PART, 1);
    assertThat(put("a", bytes)).isTrue();
    try (BlockScope scope = new BlockScope()) {
      LeasedValue value = requireNonNull(store.get("a", scope).block(SOON));
      assertThat(store.remove("a").block(SOON)).isTrue();
      assertThat(all(value)).isEqualTo(bytes);
    }
    assertThat(get(store, "a")).isNull();
  }

  @Test
  void parts_comeAsTheyAreAskedFor() {
    assertThat(put("a", bytes(9 * PART, 1))).isTrue();
    try (BlockScope scope = new BlockScope()) {
      LeasedValue value = requireNonNull(store.get("a", scope).block(SOON));
      StepVerifier.create(value.parts(), 0).expectSubscription().thenRequest(2).expectNextCount(2)
          .expectNoEvent(Duration.ofMillis(1)).thenCancel().verify(SOON);
    }
  }

  @Test
  void aValueLongerThanItsSpace_isRefused_beforeABytesMoves() {
    ValueStore small = new ValueStore(tier(4), 4);
    assertThatThrownBy(() -> small.put("a", 16_321, Flux.error(new AssertionError("must not be subscribed"))))
        .isInstanceOf(ValueStore.ValueTooLargeException.class)
        .hasMessageContaining("value a of space values must be <= 16320 bytes, the room of its space (was 16321)")
        .hasMessageContaining("-1700");
  }

  @Test
  void anotherTenant_neverMeetsTheValue() {
    assertThat(put("a", bytes(10, 1))).isTrue();
    CacheSpace theirs = ValueStore.space("values", PART, "theirs");
    assertThat(ValueHead.key(theirs, "a")).isNotEqualTo(ValueHead.key(SPACE, "a"));
    assertThatThrownBy(() -> tier.contains(List.of(ValueHead.key(theirs, "a"))))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
