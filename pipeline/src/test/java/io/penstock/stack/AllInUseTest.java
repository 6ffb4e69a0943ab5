package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// A stack so small that readers and copies use all of its blocks: a block that comes then is the victim itself.
final class AllInUseTest extends StackSteps {
  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final TierStack stack = new TierStack(SPACE,
      List.of(new StackLevel.Host("dram", 2),
          new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add), 2)),
      StackOptions.defaults("stack").withExact(false).withIngressBlocks(16), TierListener.noop());

  /// Takes one window and stands still.
  private static final class Reader extends BaseSubscriber<List<LeasedBlock>> {
    private final List<LeasedBlock> held = new ArrayList<>();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(1);
    }

    @Override
    protected void hookOnNext(List<LeasedBlock> window) {
      held.addAll(window);
    }
  }

  private Reader reading(int number, BlockScope scope) {
    Reader reader = new Reader();
    requireNonNull(stack.lease(List.of(key(number)), OnMiss.SKIP, scope).block(SOON)).windows(1, scope)
        .subscribe(reader);
    return reader;
  }

  @Test
  void blockThatComes_isStoredAndEvicted() {
    for (int i = 0; i < 4; i++) {
      put(stack, i); // 0 is being written to the disk, 1 waits for that
    }
    BlockScope scope = new BlockScope();
    List<Reader> readers = List.of(reading(1, scope), reading(2, scope), reading(3, scope));
    assertThat(readers).allMatch(reader -> reader.held.size() == 1);
    List<Receipt> receipts = requireNonNull(committed(stack, List.of(key(4))).block(SOON));

    assertThat(receipts).hasSize(1);
    assertThat(present(stack, 0, 1, 2, 3, 4)).isEqualTo("11110");
    assertThat(history(stack)).filteredOn(TierEvent.Evicted.class::isInstance).singleElement()
        .satisfies(event -> assertThat(((TierEvent.Evicted) event).key()).isEqualTo(key(4)));
    scope.close();
    runTasks();
    put(stack, 5);
    assertThat(present(stack, 5)).as("when its neighbours are in use no more").isEqualTo("1");
    runTasks();
    assertClosesClean(stack);
  }
}
