package io.penstock.cluster.directory;

import io.penstock.check.Uncaught;
import io.penstock.operator.SerialLoop;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Removes entries of rounds that do not count any more from the part of the map that is kept here: a while after it is
/// asked to, and only if the round did not count then and does not a while later either. A member's record may come
/// late, and a wrong purge would hide its blocks.
public final class Sweep implements Disposable {
  private static final long[] NONE = {};

  private final SharedMap map;
  private final Supplier<KnownMembers> members;
  private final Duration grace;
  private final Scheduler timers;
  private final AtomicBoolean isWanted = new AtomicBoolean();
  private final Disposable.Swap running = Disposables.swap();
  private final SerialLoop loop = new SerialLoop(this::begin);
  private volatile boolean isRunning;

  /// @param grace between two looks
  public Sweep(SharedMap map, Supplier<KnownMembers> members, Duration grace, Scheduler timers) {
    this.map = map;
    this.members = members;
    this.grace = grace;
    this.timers = timers;
  }

  /// Asks for a sweep: rounds may have ended, or entries come from another member.
  public void want() {
    isWanted.set(true);
    loop.run();
  }

  private void begin() {
    if (!isRunning && isWanted.compareAndSet(true, false)) {
      isRunning = true;
      running.update(passes(NONE).subscribe(nothing -> {}, this::failed, this::ended));
    }
  }

  /// One look after the grace; then, while it finds rounds that do not count, another one.
  private Mono<Void> passes(long[] suspects) {
    return Mono.delay(grace, timers).then(look()).flatMap(unknown -> {
      long[] dead = Arrays.stream(unknown).filter(round -> Holders.contains(suspects, round)).toArray();
      Mono<Void> purged = dead.length == 0 ? Mono.empty() : map.purge(dead);
      return unknown.length == 0 ? purged : purged.then(Mono.defer(() -> passes(unknown)));
    });
  }

  private Mono<long[]> look() {
    return Mono.defer(() -> {
      KnownMembers known = members.get();
      return map.unknown(known::isKnown);
    });
  }

  private void failed(Throwable error) {
    Uncaught.report(error);
    isWanted.set(true); // the map was busy with a change of members
    ended();
  }

  private void ended() {
    isRunning = false;
    loop.run();
  }

  @Override
  public void dispose() {
    running.dispose();
  }
}
