package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(30)
final class BlockScopeTest {
  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final List<String> freed = new ArrayList<>();

  /// Something owned that tells when it is freed.
  private static final class Handle extends Owned {
    private final Runnable onFree;

    Handle(Runnable onFree) {
      this.onFree = onFree;
    }

    @Override
    protected void free() {
      onFree.run();
    }
  }

  @Test
  void close_closesInOrderOfAdoption_whatIsStillOpen() {
    BlockScope scope = leaks.watch(new BlockScope());
    List<Handle> handles = List.of(handle("a"), handle("b"), handle("c"), handle("d"));
    handles.forEach(scope::adopt);
    handles.get(2).close();
    handles.getFirst().close();
    assertThat(scope.open()).isEqualTo(2);
    scope.close();
    scope.close();
    assertThat(freed).containsExactly("c", "a", "b", "d");
    assertThat(scope.open()).isZero();
  }

  @Test
  void adopt_afterClose_closesAtOnce() {
    BlockScope scope = new BlockScope();
    scope.close();
    assertThat(scope.adopt(handle("late")).isClosed()).isTrue();
    assertThat(freed).containsExactly("late");
  }

  @Test
  void adopt_ofWhatIsClosed_keepsNothing() {
    BlockScope scope = leaks.watch(new BlockScope());
    Handle handle = handle("x");
    handle.close();
    scope.adopt(handle);
    assertThat(scope.open()).isZero();
    scope.close();
    assertThat(freed).containsExactly("x");
  }

  @Test
  void adopt_twice_isRefused() {
    try (BlockScope scope = new BlockScope(); BlockScope other = new BlockScope()) {
      Handle handle = scope.adopt(handle("x"));
      assertThatThrownBy(() -> other.adopt(handle)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> scope.adopt(handle)).isInstanceOf(IllegalStateException.class);
    }
    assertThat(freed).containsExactly("x");
  }

  @Test
  void adopt_whileTheScopeCloses_isClosedToo() {
    BlockScope scope = leaks.watch(new BlockScope());
    scope.adopt(new Handle(() -> scope.adopt(handle("second"))));
    scope.close();
    assertThat(freed).containsExactly("second");
  }

  @Test
  void close_ofAHandleThatThrows_closesTheRestAndTells() {
    BlockScope scope = leaks.watch(new BlockScope());
    scope.adopt(handle("a"));
    scope.adopt(new Handle(() -> {
      throw new IllegalStateException("first");
    }));
    scope.adopt(new Handle(() -> {
      throw new IllegalStateException("second");
    }));
    scope.adopt(handle("b"));
    assertThatThrownBy(scope::close).hasMessage("first").satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(freed).containsExactly("a", "b");
  }

  @Test
  void adoptCloseAndScopeClose_inAnyInterleaving_freeEachHandleOnce() {
    adoptCloseAndScopeClose_inAnyInterleaving_freeEachHandleOnce(2_000);
  }

  @Tag("proof")
  @Test
  void adoptCloseAndScopeClose_inAnyInterleaving_freeEachHandleOnce_atLength() {
    adoptCloseAndScopeClose_inAnyInterleaving_freeEachHandleOnce(10_000);
  }

  private void adoptCloseAndScopeClose_inAnyInterleaving_freeEachHandleOnce(int runs) {
    try (Race race = new Race(3)) {
      for (int i = 0; i < runs; i++) {
        BlockScope scope = new BlockScope();
        AtomicInteger frees = new AtomicInteger();
        Handle early = scope.adopt(new Handle(frees::incrementAndGet));
        Handle late = new Handle(frees::incrementAndGet);
        Handle kept = new Handle(frees::incrementAndGet);
        race.run(scope::close, () -> {
          scope.adopt(late);
          early.close();
        }, () -> {
          late.close();
          scope.adopt(kept);
        });
        assertThat(scope.open()).as("run %d", i).isZero();
        assertThat(frees).as("run %d", i).hasValue(3);
      }
    }
  }

  @Test
  void blocksForgottenAtRandom_areAllFreed() {
    blocksForgottenAtRandom_areAllFreed(2_000);
  }

  @Tag("proof")
  @Test
  void blocksForgottenAtRandom_areAllFreed_atLength() {
    blocksForgottenAtRandom_areAllFreed(10_000);
  }

  private void blocksForgottenAtRandom_areAllFreed(int seeds) {
    CacheSpace space = Blocks.smallSpace();
    SlabArena arena = leaks.watch(new SlabArena("a", space.layout(), 64, 1));
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      try (BlockScope scope = new BlockScope()) {
        List<BlockDraft> drafts =
            java.util.Objects.requireNonNull(arena.tryClaim(Blocks.keys(space, 0, 1 + random.nextInt(8))));
        drafts.forEach(scope::adopt);
        for (BlockDraft draft : drafts) {
          if (random.nextBoolean()) {
            draft.write(GranuleRange.all(space.layout()), memory -> memory.fill((byte) 1));
            draft.produced(GranuleRange.all(space.layout()));
            Block block = scope.adopt(draft.seal());
            scope.adopt(block.share());
            if (random.nextBoolean()) {
              block.close();
            }
          }
        }
      }
      assertThat(arena.claimedSlots()).as("seed %d", seed).isZero();
    }
  }

  private Handle handle(String name) {
    return new Handle(() -> freed.add(name));
  }
}
