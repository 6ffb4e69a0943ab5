package io.penstock.carrier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.system.NativeMemory;
import io.penstock.system.SharedRegion;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both ends of a read ring in one process, over memory that is mapped as two processes map it.
@Timeout(30)
@SuppressWarnings("restricted") // a test damages memory behind the back of its owner
final class ReadRingTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("ring", LAYOUT);
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final int SLOTS = 8;

  private final Map<BlockKey, Block> blocks = new ConcurrentHashMap<>();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Set<BlockKey> damaged = ConcurrentHashMap.newKeySet();
  /// Keys that the node looks for without end.
  private final Set<BlockKey> silent = ConcurrentHashMap.newKeySet();
  /// Requests for which the node looked.
  private final AtomicInteger asked = new AtomicInteger();
  private SlabArena arena;

  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  @BeforeEach
  void open() {
    arena = new SlabArena("node", LAYOUT, SLOTS, 1, ChunkSource.shared("ring-test"));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    blocks.values().forEach(Block::close);
    await(() -> arena.claimedSlots() == 0); // also what was leased
    arena.close();
  }

  private static void await(BooleanSupplier condition) {
    Eventually.holds("the condition holds", condition::getAsBoolean);
  }

  private record Ends(ClientRing client, NodeRing node, SharedMemoryReceiver memory) {
    /// What the ring answers for `key`.
    Optional<LeasedMemory> get(BlockKey key) throws InterruptedException {
      return get(List.of(key)).getFirst();
    }

    /// What the ring answers for each of `keys`, in one request.
    List<Optional<LeasedMemory>> get(List<BlockKey> keys) throws InterruptedException {
      LinkedBlockingQueue<Map.Entry<Integer, Optional<LeasedMemory>>> answers = new LinkedBlockingQueue<>();
      assertThat(client.ask(keys, (i, leased) -> answers.add(Map.entry(i, Optional.ofNullable(leased))))).isTrue();
      List<Optional<LeasedMemory>> all = new ArrayList<>(Collections.nCopies(keys.size(), Optional.empty()));
      for (int i = 0; i < keys.size(); i++) {
        Map.Entry<Integer, Optional<LeasedMemory>> answer = answers.poll(20, TimeUnit.SECONDS);
        assertThat(answer).as("answer").isNotNull();
        all.set(answer.getKey(), answer.getValue());
      }
      return all;
    }

    /// Asks for `key`, and hears with `answers`.
    boolean ask(BlockKey key, Queue<Optional<LeasedMemory>> answers) {
      return client.ask(List.of(key), (i, leased) -> answers.add(Optional.ofNullable(leased)));
    }
  }

  private Ends ends(Duration life, Duration spin) {
    SharedMemoryReceiver memory = new SharedMemoryReceiver(ProcessHandle.current().pid());
    ClientRing client = ClientRing.create(LAYOUT, memory, spin, Thread::new);
    NodeRing node = NodeRing.open(ProcessHandle.current().pid(), client.place(), SPACE.id(), LAYOUT,
        new NodeRing.Blocks() {
          @Override
          public void find(List<BlockKey> keys, NodeRing.Found found) {
            asked.incrementAndGet();
            if (keys.stream().noneMatch(silent::contains)) {
              List<Block> all = keys.stream().map(blocks::get).filter(Objects::nonNull).map(Block::share).toList();
              if (all.size() == keys.size()) {
                found.blocks(all);
              } else {
                all.forEach(Block::close);
                found.blocks(null);
              }
            }
          }

          @Override
          public void damaged(BlockKey key) {
            damaged.add(key);
          }
        }, new NodeRing.Terms(RingLayout.SLOTS - 1, life, spin));
    client.start(node.place());
    opened.addAll(List.of(node, memory, client));
    return new Ends(client, node, memory);
  }

  private static BlockKey key(long number) {
    return SPACE.key(new BlockHash(number, ~number));
  }

  private BlockKey stored(long number) {
    BlockKey key = key(number);
    BlockDraft draft = arena.tryClaim(List.of(key)).getFirst();
    draft.write(GranuleRange.all(LAYOUT), memory -> memory.fill((byte) number));
    draft.produced(GranuleRange.all(LAYOUT));
    blocks.put(key, draft.seal());
    return key;
  }

  private static byte first(MemorySegment memory) {
    return memory.get(ValueLayout.JAVA_BYTE, 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 200})
  void aBlock_isReadWhereItLies_asleepOrSpinning(long spinMicros) throws InterruptedException {
    Ends ends = ends(LONG, Duration.ofNanos(spinMicros * 1000));
    BlockKey key = stored(7);
    for (int i = 0; i < 300; i++) {
      try (LeasedMemory leased = ends.get(key).orElseThrow()) {
        assertThat(leased.read(GranuleRange.all(LAYOUT), ReadRingTest::first)).isEqualTo((byte) 7);
      }
    }
    assertThat(ends.get(key(8))).isEmpty();
    await(() -> ends.node().leases() == 0);
  }

  @Test
  void slotsAreBounded_andComeBack() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    BlockKey key = stored(1);
    List<LeasedMemory> leased = new ArrayList<>();
    for (int i = 0; i < RingLayout.SLOTS - 1; i++) {
      leased.add(ends.get(key).orElseThrow());
    }
    assertThat(ends.get(key)).as("more than the node leases").isEmpty();
    assertThat(ends.node().leases()).isEqualTo(RingLayout.SLOTS - 1);
    leased.removeLast().close();
    leased.add(ends.get(key).orElseThrow());
    leased.forEach(LeasedMemory::close);
    await(() -> ends.node().leases() == 0);
  }

  @Test
  void aRequest_isLeasedAsAWhole_orNotAtAll_inOneLook() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    List<BlockKey> keys = List.of(stored(1), stored(2), stored(3));
    List<Optional<LeasedMemory>> leased = ends.get(keys);
    for (int i = 0; i < keys.size(); i++) {
      assertThat(leased.get(i).orElseThrow().key()).isEqualTo(keys.get(i));
      assertThat(leased.get(i).orElseThrow().read(GranuleRange.all(LAYOUT), ReadRingTest::first))
          .isEqualTo((byte) (i + 1));
    }
    assertThat(asked).hasValue(1);
    assertThat(ends.get(List.of(key(1), key(9), key(2)))).containsOnly(Optional.empty());
    assertThat(ends.node().leases()).isEqualTo(3);
    leased.forEach(each -> each.orElseThrow().close());
    await(() -> ends.node().leases() == 0);
  }

  @Test
  void aRequestForMoreThanTheClientMayHave_isAnsweredWithoutALook() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    BlockKey key = stored(1);
    List<Optional<LeasedMemory>> leased = ends.get(Collections.nCopies(RingLayout.SLOTS - 2, key));
    assertThat(asked).hasValue(1);
    assertThat(ends.get(List.of(key, key))).containsOnly(Optional.empty());
    assertThat(asked).as("looks").hasValue(1);
    silent.add(key(7));
    assertThat(ends.ask(key(7), new LinkedBlockingQueue<>())).isTrue();
    await(() -> asked.get() == 2);
    assertThat(ends.get(key)).as("the last lease is promised").isEmpty();
    leased.forEach(each -> each.orElseThrow().close());
  }

  @Test
  void whatTheRingsThreadAsks_whileAnswersWait_isAnswered() {
    Ends ends = ends(LONG, Duration.ZERO);
    BlockKey key = stored(1);
    AtomicInteger left = new AtomicInteger(300);
    AtomicInteger found = new AtomicInteger();
    ClientRing.Answers again = new ClientRing.Answers() {
      @Override
      public void hear(int position, LeasedMemory block) {
        block.close();
        found.incrementAndGet();
        if (left.getAndDecrement() > 0) {
          assertThat(ends.client().ask(List.of(key), this)).isTrue();
        }
      }
    };
    assertThat(ends.client().ask(Collections.nCopies(6, key), again)).isTrue();
    await(() -> found.get() == 306);
    await(() -> ends.node().leases() == 0);
  }

  @Test
  void aRequestThatIsNotWhole_endsTheRing() {
    Ends ends = ends(LONG, Duration.ZERO);
    ends.client().post(RingLayout.GET, 0, 1);
    await(() -> !ends.client().isOpen());
    assertThat(asked).hasValue(0);
  }

  private static ThreadFactory withoutThreads() {
    return work -> new Thread(work) {
      @Override
      public void start() {
        throw new OutOfMemoryError("unable to create native thread (test)");
      }
    };
  }

  private static boolean isMapped(String name) {
    try {
      return Files.readString(Path.of("/proc/self/maps")).contains("memfd:penstock-" + name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void anEndWithoutAThread_isRefused_andKeepsNoMemory() {
    long me = ProcessHandle.current().pid();
    NodeRing.Terms terms = new NodeRing.Terms(1, LONG, Duration.ZERO);
    NodeRing.Blocks none = new NodeRing.Blocks() {
      @Override
      public void find(List<BlockKey> keys, NodeRing.Found found) {
        found.blocks(null);
      }

      @Override
      public void damaged(BlockKey key) {
        throw new AssertionError(key);
      }
    };
    try (SharedMemoryReceiver memory = new SharedMemoryReceiver(me)) {
      ClientRing client = ClientRing.create(LAYOUT, memory, Duration.ZERO, withoutThreads());
      assertThatThrownBy(
          () -> NodeRing.open(me, client.place(), SPACE.id(), LAYOUT, none, terms, withoutThreads()))
          .isInstanceOf(PeerMemoryException.class).hasMessageContaining("native thread");
      await(() -> !isMapped("answers")); // also those of other tests
      NodeRing node = NodeRing.open(me, client.place(), SPACE.id(), LAYOUT, none, terms);
      assertThatThrownBy(() -> client.start(node.place())).isInstanceOf(PeerMemoryException.class)
          .hasMessageContaining("native thread");
      assertThat(client.isOpen()).isFalse();
      client.close();
      node.close();
      await(() -> !isMapped("answers") && !isMapped("requests"));
    }
  }

  @Test
  void aLease_keepsItsMemory_untilItIsReleased() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    BlockKey key = stored(3);
    LeasedMemory leased = ends.get(key).orElseThrow();
    blocks.remove(key).close();
    assertThat(arena.claimedSlots()).isEqualTo(1);
    assertThat(leased.read(GranuleRange.all(LAYOUT), ReadRingTest::first)).isEqualTo((byte) 3);
    leased.close();
    await(() -> arena.claimedSlots() == 0);
    assertThatThrownBy(() -> leased.read(GranuleRange.all(LAYOUT), ReadRingTest::first))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aLeaseWhoseLifeIsOver_isAnError_andItsMemoryIsFree() throws InterruptedException {
    Ends ends = ends(Duration.ofMillis(1), Duration.ZERO);
    BlockKey key = stored(4);
    LeasedMemory leased = ends.get(key).orElseThrow();
    blocks.remove(key).close();
    await(() -> arena.claimedSlots() == 0);
    assertThatThrownBy(() -> leased.read(GranuleRange.all(LAYOUT), ReadRingTest::first))
        .isInstanceOf(PeerMemoryException.class).hasMessageContaining("must not have ended");
    leased.close();
  }

  /// A writer fills each slot again as soon as its lease is over; a reader must never answer a mixture.
  @Test
  void aReadThatOutlivesItsLease_fails_whateverItSaw() throws InterruptedException {
    Ends ends = ends(Duration.ofMillis(1), Duration.ZERO);
    AtomicBoolean stop = new AtomicBoolean();
    Thread writer = Thread.ofPlatform().start(() -> {
      for (long number = 1; !stop.get(); number++) {
        BlockKey key = key(number % 4);
        Block old = blocks.remove(key);
        if (old != null) {
          old.close();
        }
        List<BlockDraft> drafts = arena.tryClaim(List.of(key));
        if (drafts != null) {
          byte value = (byte) number;
          drafts.getFirst().write(GranuleRange.all(LAYOUT), memory -> memory.fill(value));
          drafts.getFirst().produced(GranuleRange.all(LAYOUT));
          blocks.put(key, drafts.getFirst().seal());
        }
      }
    });
    int over = 0;
    try {
      for (int i = 0; i < 200 || over == 0; i++) {
        over += ends.get(key(i % 4)).map(ReadRingTest::isOver).orElse(false) ? 1 : 0;
      }
    } finally {
      stop.set(true);
      writer.join();
    }
  }

  /// Reads slowly enough for some leases to end meanwhile. All bytes of a block are the same.
  private static boolean isOver(LeasedMemory leased) {
    try (leased) {
      leased.verify(GranuleRange.all(LAYOUT));
      assertThat(leased.<Boolean>read(GranuleRange.all(LAYOUT), memory -> {
        byte value = first(memory);
        for (int round = 0; round < 20; round++) {
          if (!memory.elements(ValueLayout.JAVA_BYTE).allMatch(each -> first(each) == value)) {
            return false;
          }
        }
        return true;
      })).isTrue();
      return false;
    } catch (PeerMemoryException e) {
      return true;
    }
  }

  @Test
  void aDamagedByte_isFoundOnce_andNeverLent() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    BlockKey key = stored(5);
    long second = LAYOUT.granuleOffset(1);
    blocks.get(key).read(memory -> MemorySegment.ofAddress(memory.address() + second).reinterpret(1).fill((byte) 99));
    try (LeasedMemory leased = ends.get(key).orElseThrow()) {
      assertThat(leased.read(GranuleRange.whole(0, 1), ReadRingTest::first)).isEqualTo((byte) 5);
      assertThatThrownBy(() -> leased.read(GranuleRange.all(LAYOUT), ReadRingTest::first))
          .hasMessageContaining("shared memory");
    }
    await(() -> damaged.contains(key));
  }

  @Test
  void damageThatIsToldAfterTheLease_isHeardAllTheSame() throws InterruptedException {
    Ends ends = ends(Duration.ofMillis(1), Duration.ZERO);
    BlockKey key = stored(7);
    try (LeasedMemory leased = ends.get(key).orElseThrow()) {
      leased.differs();
      await(() -> ends.node().leases() == 0);
    }
    await(() -> damaged.contains(key));
  }

  @Test
  void aNodeThatCloses_tellsThoseWhoWait_andEndsLeases() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    LeasedMemory leased = ends.get(stored(6)).orElseThrow();
    ends.node().close();
    await(() -> ends.node().leases() == 0);
    assertThatThrownBy(() -> leased.verify(GranuleRange.all(LAYOUT))).isInstanceOf(PeerMemoryException.class);
    LinkedBlockingQueue<Optional<LeasedMemory>> answers = new LinkedBlockingQueue<>();
    int gets = 0;
    while (ends.ask(key(6), answers)) { // until it has heard, or the ring is full
      gets++;
    }
    await(() -> !ends.client().isOpen());
    for (int i = 0; i < gets; i++) {
      assertThat(answers.poll(20, TimeUnit.SECONDS)).isEmpty();
    }
    leased.close();
  }

  @Test
  void aClientThatCloses_tellsThoseWhoWait_andItsLeasesEnd() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    LeasedMemory leased = ends.get(stored(6)).orElseThrow();
    LinkedBlockingQueue<Optional<LeasedMemory>> answers = new LinkedBlockingQueue<>();
    silent.add(key(7));
    assertThat(ends.ask(key(7), answers)).isTrue();
    ends.client().close(); // as the end of the connection does
    assertThat(answers.poll(20, TimeUnit.SECONDS)).isEmpty();
    assertThat(ends.ask(key(6), answers)).isFalse();
    await(() -> ends.node().leases() == 0);
    leased.close();
  }

  @Test
  void aSecondGetOfASlot_beforeTheFirstHasItsAnswer_endsTheRing() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    LinkedBlockingQueue<Optional<LeasedMemory>> answers = new LinkedBlockingQueue<>();
    silent.add(key(7));
    assertThat(ends.ask(key(7), answers)).isTrue();
    await(() -> asked.get() == 1);
    for (int i = 0; i < 3; i++) { // in the slot of the first, whose number is 0
      ends.client().post(RingLayout.GET, 0, 0);
    }
    assertThat(answers.poll(20, TimeUnit.SECONDS)).isEmpty();
    assertThat(ends.ask(key(7), answers)).isFalse();
    assertThat(asked).hasValue(1);
    assertThat(ends.client().isOpen()).isFalse();
  }

  @Test
  void theMemoryOfALease_comesBackWithoutTheLockOfTheRing() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    for (int i = 0; i < SLOTS; i++) {
      stored(i);
    }
    LeasedMemory leased = ends.get(key(3)).orElseThrow();
    blocks.remove(key(3)).close();
    LinkedBlockingQueue<Boolean> locked = new LinkedBlockingQueue<>();
    arena.claim(List.of(key(9)), granted -> {
      granted.forEach(BlockDraft::close);
      locked.add(Thread.holdsLock(ends.node()));
    }, error -> {});
    leased.close();
    assertThat(locked.poll(20, TimeUnit.SECONDS)).isFalse();
  }

  @Test
  void aClientThatBreaksTheRules_losesItsLeases_andNothingElse() throws InterruptedException {
    Ends ends = ends(LONG, Duration.ZERO);
    BlockKey key = stored(9);
    assertThat(ends.get(key)).isPresent();
    for (int i = 0; i < 10; i++) { // no slot of the ring, and a hash that no block has
      ends.client().post(i % 2 == 0 ? RingLayout.GET : RingLayout.RELEASE, -1 - i, 0);
    }
    for (int slot = 0; slot < RingLayout.SLOTS; slot++) {
      ends.client().post(RingLayout.RELEASE, slot, 0);
    }
    await(() -> ends.node().leases() == 0);
    assertThat(blocks.get(key).verify("test").isClosed()).isFalse();
  }

  /// A region of another version, and one that is no ring's.
  @Test
  void regionOfAnotherFormat_isRefused_onBothSides() throws Exception {
    for (SharedRegion.Kind kind : List.of(SharedRegion.Kind.REQUESTS, SharedRegion.Kind.ANSWERS)) {
      try (SharedRegion region = NodeRing.populated(kind, "other", RingLayout.answersBytes(LAYOUT) + 4096)) {
        assertRefused(kind, region, "version", RingLayout.VERSION_OFFSET, RingLayout.VERSION, 2);
        assertRefused(kind, region, "magic number", RingLayout.MAGIC_OFFSET, RingLayout.MAGIC, 7);
      }
    }
  }

  private static void assertRefused(SharedRegion.Kind kind, SharedRegion region, String field, long offset, long wanted,
      int actual) {
    RingPlace place = new RingPlace(region.descriptor(), region.token());
    region.all().set(ValueLayout.JAVA_INT, offset, actual);
    if (offset == RingLayout.MAGIC_OFFSET) {
      region.all().set(ValueLayout.JAVA_INT, offset + Integer.BYTES, 0);
    }
    assertThatThrownBy(() -> opened(kind, place)).isInstanceOfSatisfying(RingFormatException.class, error -> {
      assertThat(error).hasMessage(
          field + " of the region of " + kind + " must be " + wanted + " (was " + actual + ")");
      assertThat(error.field()).startsWith(field);
      assertThat(error.wanted()).isEqualTo(wanted);
      assertThat(error.actual()).isEqualTo(actual);
    });
  }

  /// The side that reads a region of `kind`, over the region at `place`.
  private static AutoCloseable opened(SharedRegion.Kind kind, RingPlace place) {
    long self = ProcessHandle.current().pid();
    if (kind == SharedRegion.Kind.REQUESTS) {
      return NodeRing.open(self, place, SPACE.id(), LAYOUT, new NodeRing.Blocks() {
        @Override
        public void find(List<BlockKey> keys, NodeRing.Found found) {}

        @Override
        public void damaged(BlockKey key) {}
      }, new NodeRing.Terms(1, LONG, Duration.ZERO));
    }
    ClientRing client = ClientRing.create(LAYOUT, new SharedMemoryReceiver(self), Duration.ZERO, Thread::new);
    try {
      client.start(place);
      return client;
    } finally {
      client.close();
    }
  }
}
