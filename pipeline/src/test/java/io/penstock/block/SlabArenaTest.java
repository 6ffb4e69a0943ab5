package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SlabArena.MemoryExhaustedException;
import io.penstock.budget.Permits;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(30)
final class SlabArenaTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final BlockLayout LAYOUT = SPACE.layout();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final List<Throwable> failures = new ArrayList<>();

  @Test
  void claim_isAllOrNothing() {
    SlabArena arena = arena(3, 4);
    List<BlockDraft> two = claimed(arena, 2);
    assertThat(arena.tryClaim(keys(2))).isNull();
    assertThat(arena.claimedSlots()).isEqualTo(2);
    List<BlockDraft> one = claimed(arena, 1);
    assertThat(arena.tryClaim(keys(1))).isNull();
    close(one);
    close(two);
    close(claimed(arena, 3));
    assertThat(arena.highWaterSlots()).isEqualTo(3);
  }

  @Test
  void claim_ofNothingOrOfTooMany_isRefused() {
    SlabArena arena = arena(3, 4);
    assertThatThrownBy(() -> arena.tryClaim(List.of())).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> arena.tryClaim(keys(4))).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("<= capacity 3 (was 4)");
    assertThatThrownBy(() -> arena.claim(keys(4), this::close, failures::add))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SlabArena("a", LAYOUT, 0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void retiredRun_comesBack_whenTheLastRightBeyondTheOthersDoes() {
    SlabArena arena = arena(1, 4);
    SlabPart part = arena.part("part", 1, 4);
    List<BlockDraft> own = part.tryClaim(keys(1));
    AtomicInteger returned = new AtomicInteger();
    List<SlabPart.Room> rooms = new ArrayList<>();
    try (Arena memory = Arena.ofConfined()) {
      SlabPart.Run run = part.borrow(memory.allocate(part.strideBytes(), 64), returned::incrementAndGet);
      part.adopt(rooms::add, failures::add);
      run.retire();
      assertThat(returned).hasValue(0);
      rooms.getFirst().close();
      assertThat(returned).hasValue(1);
      close(own);
    }
    assertThat(failures).isEmpty();
  }

  @Test
  void drafts_areForTheKeysInOrder_andDoNotOverlap() {
    SlabArena arena = arena(100, 4);
    List<BlockKey> keys = keys(100);
    List<BlockDraft> drafts = arena.tryClaim(keys);
    assertThat(drafts).extracting(BlockDraft::key).containsExactlyElementsOf(keys);
    drafts.forEach(Blocks::produce);
    List<Block> blocks = drafts.stream().map(BlockDraft::seal).toList();
    blocks.forEach(Blocks::assertBytes);
    blocks.forEach(block -> block.verify("test"));
    blocks.forEach(Block::close);
  }

  @Test
  void slots_startAtACacheLine_whateverTheBlocksLength() {
    BlockLayout odd = BlockLayout.latent(3, 5, 7, 3, ElementType.INT8); // 150 bytes
    SlabArena arena = leaks.watch(new SlabArena("odd", odd, 20, 1));
    List<BlockDraft> drafts = arena.tryClaim(keys(20));
    Set<Long> starts = new HashSet<>();
    for (BlockDraft draft : drafts) {
      long address = address(draft);
      assertThat(address % 64).isZero();
      starts.add(address);
    }
    assertThat(starts).hasSize(20);
    assertThat(arena.allocatedBytes()).isEqualTo(20 * 192);
    close(drafts);
  }

  @Test
  void memory_growsInChunks_isReused_andNeverShrinks() {
    BlockLayout big = BlockLayout.attention(8, 1024, 8, 64, ElementType.BF16); // 16 MiB: two a chunk
    SlabArena arena = leaks.watch(new SlabArena("big", big, 5, 1));
    assertThat(arena.allocatedBytes()).isZero();
    List<BlockDraft> one = arena.tryClaim(keys(1));
    assertThat(arena.allocatedBytes()).isEqualTo(32L << 20);
    List<BlockDraft> four = arena.tryClaim(keys(4));
    assertThat(arena.allocatedBytes()).as("the last chunk is cut to the capacity").isEqualTo(80L << 20);
    long address = address(four.getLast());
    four.getLast().close();
    List<BlockDraft> again = arena.tryClaim(keys(1));
    assertThat(address(again.getFirst())).as("what was used last is used next").isEqualTo(address);
    close(one);
    close(four);
    close(again);
    assertThat(arena.allocatedBytes()).isEqualTo(80L << 20);
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void prepare_allocatesBeforehand_upToTheCapacity() {
    SlabArena arena = arena(10, 1);
    arena.prepare(3);
    assertThat(arena.allocatedBytes()).isPositive();
    arena.prepare(Long.MAX_VALUE);
    assertThat(arena.allocatedBytes()).isEqualTo(10L * LAYOUT.blockBytes());
    assertThat(arena.highWaterSlots()).isZero();
  }

  @Test
  void claim_thatWaits_isServedInTurnByTheThreadThatFrees() {
    SlabArena arena = arena(2, 4);
    List<BlockDraft> held = claimed(arena, 2);
    List<Integer> served = new ArrayList<>();
    arena.claim(keys(2), drafts -> {
      served.add(2);
      close(drafts);
    }, failures::add);
    arena.claim(keys(1), drafts -> {
      served.add(1);
      close(drafts);
    }, failures::add);
    held.getFirst().close();
    assertThat(served).isEmpty();
    assertThat(arena.tryClaim(keys(1))).as("others wait").isNull();
    held.getLast().close();
    assertThat(served).containsExactly(2, 1);
    assertThat(failures).isEmpty();
  }

  @Test
  void close_endsClaimsThatWait_andRefusesLaterOnes() {
    SlabArena arena = arena(1, 4);
    List<BlockDraft> held = claimed(arena, 1);
    arena.claim(keys(1), this::close, failures::add);
    arena.claim(keys(1), this::close, failures::add);
    arena.close();
    assertThat(failures).hasSize(2).allMatch(ArenaClosedException.class::isInstance);
    assertThatThrownBy(() -> arena.tryClaim(keys(1))).isInstanceOf(ArenaClosedException.class)
        .hasMessage("arena a must be open (was closed)");
    assertThatThrownBy(() -> arena.claim(keys(1), this::close, failures::add)).isInstanceOf(ArenaClosedException.class);
    assertThatThrownBy(() -> arena.prepare(1)).isInstanceOf(ArenaClosedException.class);
    close(held);
  }

  @Test
  void close_whileLent_freesTheMemoryWithTheLastHandle() {
    SlabArena arena = arena(4, 4);
    Block block = Blocks.block(arena, keys(1).getFirst());
    LayerSpan span = block.span(GranuleRange.whole(1, 1));
    MemorySegment memory = span.memory();
    arena.close();
    arena.close();
    Blocks.assertBytes(block);
    block.close();
    Blocks.assertBytes(span);
    span.close();
    assertThat(memory.scope().isAlive()).isFalse();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void claimAgainstClose_eitherGrantsOrFails_andLeaksNothing() {
    try (Race race = new Race(2)) {
      for (int i = 0; i < 500; i++) { // closing a shared arena stops every thread for a moment
        SlabArena arena = new SlabArena("a", LAYOUT, 1, 4);
        AtomicInteger told = new AtomicInteger();
        BlockDraft held = Blocks.draft(arena, keys(1).getFirst());
        race.run(() -> {
          try {
            arena.claim(keys(1), drafts -> {
              told.incrementAndGet();
              close(drafts);
            }, failure -> told.incrementAndGet());
          } catch (ArenaClosedException e) {
            told.incrementAndGet();
          }
        }, () -> {
          arena.close();
          held.close();
        });
        assertThat(told).as("run %d", i).hasValue(1);
        assertThat(arena.claimedSlots()).as("run %d", i).isZero();
      }
    }
  }

  @Test
  void claimAndFree_byManyThreads_neverLendASlotTwice() {
    int slots = 16;
    SlabArena arena = arena(slots, 64);
    AtomicInteger granted = new AtomicInteger();
    int rounds = 4_000;
    try (Race race = new Race(3)) {
      Runnable[] tasks = new Runnable[3];
      for (int t = 0; t < 3; t++) {
        Random random = new Random(t);
        int thread = t;
        tasks[t] = () -> {
          for (int i = 0; i < rounds; i++) {
            List<BlockKey> keys = Blocks.keys(SPACE, thread * 1_000L, thread * 1_000L + 1 + random.nextInt(slots));
            Permits.Ticket ticket = arena.claim(keys, drafts -> {
              granted.incrementAndGet();
              for (BlockDraft draft : drafts) {
                GranuleRange first = GranuleRange.whole(0, 1);
                Blocks.produce(draft, first);
                try (LayerSpan span = draft.span(first)) {
                  Blocks.assertBytes(span);
                }
              }
              close(drafts);
            }, failure -> {
              throw new AssertionError(failure);
            });
            if (ticket.cancel()) {
              granted.incrementAndGet();
            }
          }
        };
      }
      race.run(tasks);
    }
    leaks.awaitEmpty(LeakLedger.PATIENCE);
    assertThat(granted).hasValue(3 * rounds);
    assertThat(arena.highWaterSlots()).isLessThanOrEqualTo(slots);
  }

  @Test
  void room_isHeldForKeysToCome_andWhatIsNotDraftedComesBack() {
    SlabArena arena = arena(3, 4);
    HeldSlots room = java.util.Objects.requireNonNull(arena.tryHold(2));
    List<HeldSlots> later = new ArrayList<>();
    arena.hold(2, later::add, failures::add);
    assertThat(arena.tryHold(1)).as("others wait").isNull();
    BlockDraft draft = room.draft(keys(1).getFirst());
    assertThat(room.left()).isEqualTo(1);
    room.close();
    room.close();
    assertThat(later).hasSize(1);
    assertThat(arena.claimedSlots()).isEqualTo(3);
    assertThatThrownBy(() -> room.draft(keys(1).getFirst())).isInstanceOf(IllegalStateException.class);
    draft.close();
    arena.hold(2, later::add, failures::add);
    arena.close();
    assertThat(failures).singleElement().isInstanceOf(ArenaClosedException.class);
    assertThatThrownBy(() -> later.getFirst().draft(keys(1).getFirst())).isInstanceOf(ArenaClosedException.class);
    later.getFirst().close();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void noMemory_failsTheClaimAndGivesItsSlotsBack() {
    SlabArena arena = leaks.watch(new SlabArena("small", LAYOUT, Integer.MAX_VALUE, 4, chunks(bytes -> {
      throw new OutOfMemoryError("test");
    }, () -> {})));
    assertThatThrownBy(() -> arena.prepare(1)).isInstanceOf(MemoryExhaustedException.class)
        .hasMessageContaining("arena small: memory");
    assertThatThrownBy(() -> arena.tryClaim(keys(1))).isInstanceOf(MemoryExhaustedException.class);
    assertThat(arena.claimedSlots()).isZero();
    arena.claim(keys(1), this::close, failures::add);
    arena.claim(keys(2), this::close, failures::add);
    assertThat(failures).hasSize(2).allMatch(MemoryExhaustedException.class::isInstance);
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void memoryOfAnotherKind_isClosedOnce_whenTheLastSlotCameBack() {
    AtomicInteger closed = new AtomicInteger();
    MemorySegment given = Arena.ofAuto().allocate(1 << 20, 64);
    SlabArena arena =
        new SlabArena("other", LAYOUT, 2, 4, chunks(bytes -> given.asSlice(0, bytes), closed::incrementAndGet));
    List<BlockDraft> drafts = claimed(arena, 2);
    arena.close();
    drafts.getFirst().close();
    assertThat(closed).hasValue(0);
    drafts.getLast().close();
    arena.close();
    assertThat(closed).hasValue(1);
  }

  private static ChunkSource chunks(LongFunction<MemorySegment> allocate, Runnable close) {
    return new ChunkSource() {
      @Override
      public MemorySegment chunk(long bytes) {
        return allocate.apply(bytes);
      }

      @Override
      public void close() {
        close.run();
      }
    };
  }

  private SlabArena arena(int capacity, int maxWaiters) {
    return leaks.watch(new SlabArena("a", LAYOUT, capacity, maxWaiters));
  }

  private static List<BlockDraft> claimed(SlabArena arena, int count) {
    return java.util.Objects.requireNonNull(arena.tryClaim(keys(count)));
  }

  private static List<BlockKey> keys(int count) {
    return Blocks.keys(SPACE, 0, count);
  }

  private void close(List<BlockDraft> drafts) {
    drafts.forEach(BlockDraft::close);
  }

  private static long address(BlockDraft draft) {
    long[] address = new long[1];
    draft.write(GranuleRange.whole(0, 1), memory -> address[0] = memory.address());
    return address[0];
  }
}
