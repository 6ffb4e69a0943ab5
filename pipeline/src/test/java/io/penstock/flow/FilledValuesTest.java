package io.penstock.flow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.TierListener;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

@Timeout(60)
final class FilledValuesTest {
  private static final int PART = 4096;
  /// Where the bytes of a value with a short name begin in the block of its head.
  private static final int HEAD = 64;
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final CacheSpace SPACE = ValueStore.space("values", PART, "");

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final HostTier tier = tier();
  private final ValueStore store = new ValueStore(tier, 4);

  private HostTier tier() {
    HostTier host = new HostTier(SPACE, 64, StackOptions.defaults("values").withIngressBlocks(8).withExact(false),
        TierListener.noop());
    leaks.watch("blocks beside the visible ones",
        () -> host.arena().claimedSlots() - requireNonNull(host.stat().block(SOON)).blocks());
    return host;
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /// Writes `bytes` where they belong, and something else wherever it may.
  private static final class Source implements ValueStore.Filling {
    private final byte[] bytes;
    private int at;
    private long spare;

    Source(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public Mono<Void> fill(MemorySegment memory) {
      return fillLast(memory, memory);
    }

    @Override
    public Mono<Void> fillLast(MemorySegment memory, MemorySegment more) {
      return Mono.fromRunnable(() -> {
        spare = more.byteSize() - memory.byteSize();
        more.fill((byte) -1);
        MemorySegment.copy(bytes, at, memory, JAVA_BYTE, 0, (int) memory.byteSize());
        at += (int) memory.byteSize();
      });
    }
  }

  private @Nullable StoredValue put(String name, byte[] bytes, @Nullable StoredValue before) {
    return store.replace(name, bytes.length, new Source(bytes), before, null).block(SOON);
  }

  private static byte @Nullable [] all(@Nullable LeasedValue value) {
    if (value == null) {
      return null;
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    ValuePart whole = value.whole();
    (whole == null ? value.parts().toIterable() : List.of(whole)).forEach(part -> {
      try (part) {
        all.writeBytes(bytes(part));
      }
    });
    return all.toByteArray();
  }

  private static byte[] bytes(ValuePart part) {
    return part.read(memory -> memory.toArray(JAVA_BYTE));
  }

  private byte @Nullable [] get(StoredValue stored) {
    try (BlockScope scope = new BlockScope()) {
      return all(store.get(stored, scope).block(SOON));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, PART - HEAD - 65, PART - HEAD - 1, PART - HEAD, PART - HEAD + 1, PART - 1, PART, PART + 1,
    2 * PART - HEAD, 2 * PART - 10, 2 * PART, 5 * PART + 7, 9 * PART})
  void everyLength_comesBackAsItWasFilled_withZerosBehindIt(int length) {
    byte[] old = bytes(length, 1);
    StoredValue before = requireNonNull(put("a", old, null));
    assertThat(get(before)).isEqualTo(old);
    byte[] now = bytes(length, 2);
    StoredValue stored = requireNonNull(put("a", now, before));
    assertThat(get(stored)).isEqualTo(now);
    assertThat(get(before)).as("the value that has the name by now").isEqualTo(now);
    try (BlockScope scope = new BlockScope()) {
      assertThat(all(store.get("a", scope).block(SOON))).isEqualTo(now);
    }
    assertThat(behind(stored)).containsOnly((byte) 0);
  }

  /// A byte 0, and what the blocks of a value have behind its bytes.
  private byte[] behind(StoredValue stored) {
    List<BlockKey> keys = new ArrayList<>(stored.partKeys());
    int tail = (int) Math.max(0, stored.length() - (long) keys.size() * PART);
    int inPart = keys.isEmpty() || tail > 0 ? PART : (int) (stored.length() - (keys.size() - 1L) * PART);
    keys.add(stored.marks().getFirst());
    ByteArrayOutputStream behind = new ByteArrayOutputStream();
    behind.write(0);
    try (BlockScope scope = new BlockScope()) {
      List<byte[]> blocks = tier.get(keys, scope).map(block -> {
        byte[] all = block.read(memory -> memory.toArray(JAVA_BYTE));
        block.close();
        return all;
      }).collectList().block(SOON);
      assertThat(blocks).hasSize(keys.size());
      byte[] head = requireNonNull(blocks).getLast();
      behind.write(head, HEAD + tail, PART - HEAD - tail);
      if (blocks.size() > 1) {
        behind.write(blocks.get(blocks.size() - 2), inPart, PART - inPart);
      }
    }
    return behind.toByteArray();
  }

  @Test
  void aSource_mayWriteBehindTheLastByte_whereTheBlockHasRoom() {
    for (int room : new int[] {0, 1, 63, 64, 65, 1000}) {
      byte[] bytes = bytes(PART - HEAD - room, 3);
      Source source = new Source(bytes);
      StoredValue stored = requireNonNull(store.replace("a", bytes.length, source, null, null).block(SOON));
      assertThat(source.spare).isEqualTo(Math.min(64, room));
      assertThat(get(stored)).isEqualTo(bytes);
    }
  }

  @Test
  void whole_isThePartOfAValueOfOneBlock_andNoneOfALongerOne() {
    put("short", bytes(100, 1), null);
    put("long", bytes(3 * PART, 1), null);
    put("empty", new byte[0], null);
    ValuePart part;
    try (BlockScope scope = new BlockScope()) {
      part = requireNonNull(requireNonNull(store.get("short", scope).block(SOON)).whole());
    }
    assertThat(part.bytes()).isEqualTo(100);
    assertThat(bytes(part)).isEqualTo(bytes(100, 1));
    part.close();
    try (BlockScope scope = new BlockScope()) {
      assertThat(requireNonNull(store.get("long", scope).block(SOON)).whole()).isNull();
      assertThat(requireNonNull(store.get("empty", scope).block(SOON)).whole()).isNull();
      ValuePart range =
          requireNonNull(requireNonNull(store.get("short", 1, 10, scope).block(SOON)).whole());
      assertThat(bytes(range)).isEqualTo(Arrays.copyOfRange(bytes(100, 1), 1, 11));
      range.close();
    }
  }

  @Test
  void aValueThatIsGone_isNotFoundByWhatWasStored() {
    StoredValue stored = requireNonNull(put("a", bytes(10, 1), null));
    store.remove("a").block(SOON);
    assertThat(get(stored)).isNull();
    put("a", bytes(3 * PART, 2), null);
    assertThat(get(stored)).isEqualTo(bytes(3 * PART, 2));
  }

  @Test
  void aCancel_whileBytesAreMissing_leavesNothing() {
    for (int length : new int[] {10, 3 * PART}) {
      StoredValue before = requireNonNull(put("a", bytes(20, 1), null));
      Sinks.Empty<Void> never = Sinks.empty();
      List<MemorySegment> asked = new ArrayList<>();
      Disposable put = store.replace("a", length, memory -> {
        asked.add(memory);
        return never.asMono();
      }, before, null).subscribe();
      assertThat(asked).hasSize(1);
      assertThat(tier.arena().claimedSlots()).isGreaterThan(1);
      put.dispose();
      assertThat(tier.arena().claimedSlots()).isEqualTo(1);
      assertThat(never.currentSubscriberCount()).isZero();
      assertThat(get(before)).isEqualTo(bytes(20, 1));
      store.remove("a").block(SOON);
    }
  }

  @Test
  void aSourceThatFails_leavesNothing_andItsErrorIsSeen() {
    StoredValue before = requireNonNull(put("a", bytes(20, 1), null));
    IllegalStateException broken = new IllegalStateException("broken");
    StepVerifier.create(store.replace("a", 10, memory -> Mono.error(broken), before, null))
        .expectErrorSatisfies(error -> assertThat(error).isSameAs(broken)).verify(SOON);
    StepVerifier.create(store.replace("a", 10, memory -> {
      throw broken;
    }, before, null)).expectErrorSatisfies(error -> assertThat(error).isSameAs(broken)).verify(SOON);
    assertThat(get(before)).isEqualTo(bytes(20, 1));
    assertThat(tier.arena().claimedSlots()).isEqualTo(1);
  }

  @Test
  void ofTwoWriters_theFirstWins_andTheOtherIsToldSo() {
    Sinks.Empty<Void> slow = Sinks.empty();
    List<StoredValue> first = new ArrayList<>();
    store.replace("a", 10, memory -> {
      memory.fill((byte) 1);
      return slow.asMono();
    }, null, null).subscribe(first::add);
    StepVerifier
        .create(store.replace("a", 10, memory -> Mono.error(new AssertionError("must not be asked")), null, null))
        .verifyComplete();
    slow.tryEmitEmpty();
    assertThat(first).hasSize(1);
    assertThat(get(first.getFirst())).hasSize(10).containsOnly((byte) 1);
  }

  @Test
  void aReadThatIsNotAskedFor_leasesNothing() {
    StoredValue stored = requireNonNull(put("a", bytes(10, 1), null));
    long hits = requireNonNull(tier.stat().block(SOON)).hits();
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(store.get(stored, scope), 0).thenCancel().verify(SOON);
      assertThat(scope.open()).isZero();
    }
    assertThat(requireNonNull(tier.stat().block(SOON)).hits()).isEqualTo(hits);
  }
}
