package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.budget.Permits;
import io.penstock.device.DeviceFailure.DeviceBusyException;
import io.penstock.operator.Failures;
import io.penstock.tier.spi.QueuedClaim;
import io.penstock.tier.spi.RoomSignal;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Bounds the copies of one device that are under way. Bridges, stores and stages take a turn before they take the
/// blocks to copy: while a device is busy they request nothing more, and no thread waits.
///
/// First come, first served. Safe from any thread.
public final class CopyTurns {
  /// Usual bound of copies under way.
  public static final int USUAL = 100;

  private final String device;
  private final int maxWaiting;
  private final Permits permits;
  private final RoomSignal room = new RoomSignal();

  /// @param device named in errors
  /// @param underWay most copies under way
  /// @param maxWaiting most waiting copies; a further one ends with [DeviceBusyException]
  public CopyTurns(String device, int underWay, int maxWaiting) {
    this.device = requireNonNull(device, "device");
    this.maxWaiting = maxWaiting;
    this.permits = new Permits("copies under way at device " + device, underWay, maxWaiting);
  }

  /// Makes `copy` when its turn comes. The turn ends with the result, or, after a cancel, with the copies.
  ///
  /// @param copy receives the turn, which its batch holds
  public <T> Mono<T> take(Function<Owned, Mono<T>> copy) {
    return Mono.using(BlockScope::new, scope -> next(scope).flatMap(turns -> made(turns.getFirst(), copy)),
        BlockScope::close);
  }

  private Mono<List<Turn>> next(BlockScope scope) {
    return QueuedClaim
        .<Turn>of((granted, failed) -> permits.acquire(1, () -> granted.accept(List.of(new Turn(this))), failed), scope)
        .onErrorMap(BudgetExhaustedException.class, e -> refused());
  }

  private DeviceBusyException refused() {
    DeviceBusyException refusal = new DeviceBusyException(device, maxWaiting, room.refused());
    if (permits.waiting() < maxWaiting) {
      room.left(); // a turn ended meanwhile, and no later end may follow
    }
    return refusal;
  }

  private static <T> Mono<T> made(Turn granted, Function<Owned, Mono<T>> copy) {
    Turn turn = granted.passedOn();
    if (turn == null) {
      return Mono.empty(); // cancelled meanwhile
    }
    try {
      return copy.apply(turn).doOnTerminate(turn::close);
    } catch (RuntimeException | Error e) { // a block was closed meanwhile
      turn.close();
      throw Failures.unchecked(e);
    }
  }

  /// Maximum number of copies under way.
  public int limit() {
    return (int) permits.capacity();
  }

  public int underWay() {
    return (int) permits.inUse();
  }

  /// The most that ever were.
  public int peak() {
    return (int) permits.peak();
  }

  /// Copies that wait for their turn.
  public int waiting() {
    return permits.waiting();
  }

  private static final class Turn extends Owned {
    private final CopyTurns turns;

    Turn(CopyTurns turns) {
      this.turns = turns;
    }

    /// Passes the turn on to an owner instead of a scope; null if it is over.
    @Nullable Turn passedOn() {
      return markClosed() ? new Turn(turns) : null;
    }

    @Override
    protected void free() {
      turns.permits.release(1);
      turns.room.left();
    }
  }
}
