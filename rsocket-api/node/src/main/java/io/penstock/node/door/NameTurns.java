package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/// Turns of those who change the value of one name: they do it one after the other, in the order in which they ask. A
/// name without work takes no memory; one waits for each change under way at most, and doors bound those. Safe from any
/// thread; a turn begins on the thread that ends the one before it.
final class NameTurns {
  private final ConcurrentMap<String, Name> names = new ConcurrentHashMap<>();

  /// Takes part in the turns of `name`, until [Turn#leave()].
  Turn enter(String name) {
    return new Turn(name, requireNonNull(names.compute(name, (text, there) -> {
      Name one = there == null ? new Name() : there;
      one.parties++;
      return one;
    })));
  }

  /// Runs `step` in a turn of its own. A cancel before the turn begins leaves out the step; later it goes on to its
  /// end.
  <T> Mono<T> run(String name, Mono<T> step) {
    return Mono.using(() -> enter(name), turn -> turn.begin().then(turn.toItsEnd(step)), Turn::leave);
  }

  /// Number of the names with work.
  int count() {
    return names.size();
  }

  private static final class Name {
    /// Changed by the map alone.
    private int parties;
    private final AtomicInteger passing = new AtomicInteger();
    @GuardedBy("this") private final Queue<Turn> waiting = new ArrayDeque<>();
    @GuardedBy("this") private @Nullable Turn holder;
    @GuardedBy("this") private long stored;
    /// Parties that may store a value.
    @GuardedBy("this") private int writers;
    @GuardedBy("this") private final Map<MonoSink<Void>, Turn> watching = new LinkedHashMap<>();

    synchronized long stored() {
      return stored;
    }

    synchronized void countStored() {
      stored++;
    }

    synchronized void write(Turn one) {
      one.isWriting = true;
      writers++;
    }

    /// @return those who awaited it; none while others may store a value, and none has
    synchronized List<MonoSink<Void>> stopWriting(Turn one) {
      if (!one.isWriting) {
        return List.of();
      }
      one.isWriting = false;
      writers--;
      if (watching.isEmpty()) { // as for nearly every value
        return List.of();
      }
      List<MonoSink<Void>> told = new ArrayList<>();
      for (Map.Entry<MonoSink<Void>, Turn> each : watching.entrySet()) {
        if (isOver(each.getValue())) {
          told.add(each.getKey());
        }
      }
      told.forEach(watching::remove);
      return told;
    }

    @GuardedBy("this") private boolean isOver(Turn one) {
      return writers == 0 || stored != one.storedBefore;
    }

    /// @return false if there is nothing to wait for
    synchronized boolean watch(Turn one, MonoSink<Void> sink) {
      if (isOver(one)) {
        return false;
      }
      watching.put(sink, one);
      return true;
    }

    synchronized void unwatch(MonoSink<Void> sink) {
      watching.remove(sink);
    }

    /// @return whether the turn is that of `one`, which begins or has begun
    synchronized boolean take(Turn one) {
      if (holder == null && waiting.isEmpty() && !one.hasLeft) {
        holder = one;
      }
      return one.isThatOf(holder);
    }

    synchronized void await(Turn one, MonoSink<Void> sink) {
      if (!one.hasLeft) {
        one.sink = sink;
        waiting.add(one);
      }
    }

    synchronized boolean beginStep(Turn one) {
      if (!one.hasLeft) {
        one.steps++;
      }
      return !one.hasLeft;
    }

    /// @return whether `one` has ended with it
    synchronized boolean endStep(Turn one) {
      one.steps--;
      return end(one);
    }

    synchronized boolean leave(Turn one) {
      one.hasLeft = true;
      waiting.remove(one);
      return end(one);
    }

    @GuardedBy("this") private boolean end(Turn one) {
      boolean ends = one.hasLeft && one.steps == 0;
      if (ends && one.isThatOf(holder)) {
        holder = null;
      }
      return ends;
    }

    private synchronized @Nullable MonoSink<Void> next() {
      if (holder == null) {
        holder = waiting.poll();
        return holder == null ? null : holder.sink;
      }
      return null;
    }

    /// Begins the next turn if there is none. Turns that end at once do not nest.
    void pass() {
      if (passing.getAndIncrement() > 0) {
        return;
      }
      do {
        MonoSink<Void> next = next();
        if (next != null) {
          next.success();
        }
      } while (passing.decrementAndGet() > 0);
    }
  }

  /// The part of one who may change the value of a name. The fields that change are guarded by the name.
  final class Turn {
    private final String text;
    private final Name name;
    private final long storedBefore;
    private boolean hasLeft;
    private boolean isWriting;
    private int steps;
    private @Nullable MonoSink<Void> sink;

    private Turn(String text, Name name) {
      this.text = text;
      this.name = name;
      this.storedBefore = name.stored();
    }

    @SuppressWarnings("ReferenceEquality") // identity is what counts
    private boolean isThatOf(@Nullable Turn holder) {
      return this == holder;
    }

    /// Completes when this turn has begun, at once if it has before. It ends with [#leave()].
    Mono<Void> begin() {
      return Mono.defer(() -> name.take(this) ? Mono.empty() : Mono.create(granted -> {
        name.await(this, granted);
        name.pass();
      }));
    }

    /// Runs `step` to its end, in this turn, even if the caller cancels or leaves. Never answers once it has left.
    <T> Mono<T> toItsEnd(Mono<T> step) {
      return Mono.defer(() -> {
        if (!name.beginStep(this)) {
          return Mono.never();
        }
        Sinks.One<T> answer = Sinks.one();
        step.doFinally(end -> ended(name.endStep(this))).subscribe(answer::tryEmitValue, answer::tryEmitError,
            answer::tryEmitEmpty);
        return answer.asMono();
      });
    }

    /// Says that this one may store a value, until it has, leaves or gives way.
    void write() {
      name.write(this);
    }

    /// Says that the value of the name was stored. In this turn.
    void stored() {
      name.countStored();
    }

    /// Says that this one stores nothing any more.
    void giveWay() {
      stopWriting();
    }

    /// Completes when another one has stored a value since this one entered, or none may any more.
    Mono<Void> others() {
      return Mono.create(others -> {
        others.onDispose(() -> name.unwatch(others));
        if (!name.watch(this, others)) {
          others.success();
        }
      });
    }

    private void stopWriting() {
      name.stopWriting(this).forEach(MonoSink::success);
    }

    /// Whether another one has stored the value of the name since this one entered.
    boolean isOvertaken() {
      return name.stored() != storedBefore;
    }

    /// Ends this turn, once its steps have ended. To be called once.
    void leave() {
      stopWriting();
      ended(name.leave(this));
    }

    private void ended(boolean hasEnded) {
      if (hasEnded) {
        names.computeIfPresent(text, (same, there) -> --there.parties == 0 ? null : there);
        name.pass();
      }
    }
  }
}
