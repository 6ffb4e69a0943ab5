package io.penstock.testkit;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.tier.ByteBudget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Watches whatever is lent during a test and fails the test when something was not given back.
///
/// Use it in `try (var leaks = new LeakLedger())`, or as `@RegisterExtension final LeakLedger leaks = new
/// LeakLedger();`. At its end it waits a moment for other threads to give back, then names every leak, and closes the
/// arenas it watched.
public final class LeakLedger implements AutoCloseable, AfterEachCallback {
  /// How long the end waits for other threads.
  public static final Duration PATIENCE = Duration.ofSeconds(5);

  private final List<Watch> watches = new ArrayList<>();
  private final List<AutoCloseable> owned = new ArrayList<>();

  private record Watch(String name, LongSupplier open) {}

  /// Watches the claimed slots of `arena`, and closes it at the end if it can be closed.
  public synchronized <A extends BlockArena> A watch(A arena) {
    watch("claimed slots of arena " + watches.size(), arena::claimedSlots);
    if (arena instanceof AutoCloseable closeable) {
      owned.add(closeable);
    }
    return arena;
  }

  public Permits watch(Permits permits) {
    watch("units in use of " + permits.name(), permits::inUse);
    watch("waiters of " + permits.name(), permits::waiting);
    return permits;
  }

  public ByteBudget watch(ByteBudget budget) {
    watch(budget.permits());
    return budget;
  }

  public BlockScope watch(BlockScope scope) {
    watch("open handles of a scope", scope::open);
    return scope;
  }

  /// Watches any count that must be 0 at the end.
  public synchronized void watch(String name, LongSupplier open) {
    watches.add(new Watch(name, open));
  }

  /// Fails if anything is open now.
  public void assertEmpty() {
    requireNone(leaks());
  }

  private static void requireNone(List<String> leaks) {
    if (!leaks.isEmpty()) {
      throw new AssertionError("nothing must be lent any more (was " + String.join(", ", leaks) + ")");
    }
  }

  /// Fails if something is open whenever it looks, for as long as `patience`.
  public void awaitEmpty(Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    List<String> leaks = leaks();
    while (!leaks.isEmpty() && System.nanoTime() < deadline) {
      Thread.yield();
      leaks = leaks();
    }
    requireNone(leaks);
  }

  private synchronized List<String> leaks() {
    return watches.stream().filter(watch -> watch.open().getAsLong() != 0)
        .map(watch -> watch.open().getAsLong() + " " + watch.name()).toList();
  }

  @Override
  public void close() {
    try {
      awaitEmpty(PATIENCE);
    } finally {
      closeOwned();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    close();
  }

  private synchronized void closeOwned() {
    for (AutoCloseable each : owned) {
      try {
        each.close();
      } catch (Exception e) {
        throw new AssertionError("watched arena must close", e);
      }
    }
  }
}
