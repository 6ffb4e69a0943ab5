package io.penstock.node.door;

import io.penstock.flow.StoredValue;
import io.penstock.flow.ValueStore;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/// Stores the values of a space, each in the place of the one that has its name, and decides between writers of one
/// name. Safe from any thread.
///
/// The new value takes the place of the old one when all its bytes have come: it has memory by then, and the tiers are
/// asked for the old one not before. A value of this name in another size goes just before the new one is visible: a
/// node that dies between the two steps, and starts again, has neither, and not the old one beside the new one. Of
/// writers of one name at a time, the one that is known last has it.
///
/// A writer without a condition that gives way to another one waits until that one has stored its value: then it is as
/// if it had stored its own just before. If the other one fails, or takes too long, it takes away what lies under the
/// name, for a client that was told that its value is stored must not read an older one. Each of these changes has a
/// turn of its own, so that none of them takes away what another put stores between its look and its removal. That
/// holds for all doors of this node. A value that another client of the node stores in these moments, without a door,
/// may go, too.
final class ValuePuts {
  private static final Logger LOG = LoggerFactory.getLogger(ValuePuts.class);
  /// How long a writer waits for the one that it gives way to.
  private static final Duration WAY = Duration.ofMillis(100);

  private final SizedStores stores;
  private final NameWatch watch;
  private final KnownNames known;
  private final NameTurns turns;
  private final DoorTerms.Threads threads;
  private final DoorTerms.Clocks clocks;

  ValuePuts(SizedStores stores, NameWatch watch, NameTurns turns, DoorTerms.Threads threads,
      DoorTerms.Clocks clocks) {
    this.stores = stores;
    this.watch = watch;
    this.known = watch.known();
    this.turns = turns;
    this.threads = threads;
    this.clocks = clocks;
  }

  private interface Replacing {
    /// @param name the very text that is known already, so that each value of a name does not keep another
    Mono<StoredValue> in(ValueStore store, String name, @Nullable StoredValue before, Mono<StoredValue> last);
  }

  /// As [DoorValues#put(String, long, Flux, DoorValues.Condition)] says.
  Mono<Boolean> put(String name, long length, Flux<MemorySegment> bytes, DoorValues.Condition condition,
      Mono<Boolean> replaces) {
    return put(name, (store, same, before, last) -> store.replace(same, length, bytes, before, last),
        stores.of(name, length), () -> 0, condition, replaces);
  }

  /// As [DoorValues#put(String, long, ValueStore.Filling, LongSupplier, Mono)] says.
  Mono<Boolean> put(String name, long length, ValueStore.Filling bytes, LongSupplier untilMillis,
      DoorValues.Condition condition, Mono<Boolean> replaces) {
    return put(name, (store, same, before, last) -> store.replace(same, length, bytes, before, last),
        stores.of(name, length), untilMillis, condition, replaces);
  }

  /// @param size that the new value gets
  private Mono<Boolean> put(String name, Replacing bytes, int size, LongSupplier untilMillis,
      DoorValues.Condition condition, Mono<Boolean> replaces) {
    return Mono.using(() -> turns.enter(name),
        turn -> put(turn, name, bytes, size, untilMillis, condition, replaces), NameTurns.Turn::leave);
  }

  private Mono<Boolean> put(NameTurns.Turn turn, String name, Replacing bytes, int size, LongSupplier untilMillis,
      DoorValues.Condition condition, Mono<Boolean> replaces) {
    turn.write();
    KnownNames.Known before = known.of(name);
    if (before != null) {
      known.ignoreEvents(before);
    }
    AtomicReference<KnownNames.@Nullable Known> going = new AtomicReference<>(before);
    AtomicReference<@Nullable Optional<StoredValue>> old = new AtomicReference<>();
    Mono<StoredValue> last = begin(turn, name, condition).then(Mono.defer(() -> {
      KnownNames.Known now = known.of(name);
      if (now != null && !now.equals(before)) {
        known.ignoreEvents(now);
        going.set(now);
      }
      return now != null && now.size() == size
          ? Mono.just(now.stored())
          : turn.toItsEnd((now == null ? stores.removeBut(name, size) : stores.remove(now))
              .then(stores.headAt(name, size))).doOnNext(old::set).flatMap(Mono::justOrEmpty);
    }));
    Mono<StoredValue> replaced = before != null && before.size() == size
        ? bytes.in(stores.store(size), before.name(), before.stored(), last)
        : bytes.in(stores.store(size), name, null, last);
    return replaced
        .flatMap(stored -> {
          turn.stored();
          KnownNames.Known displaced = known.add(known(stored, size, untilMillis.getAsLong()));
          return displaced == null || displaced.size() == size || displaced.equals(going.get())
              ? Mono.just(true)
              : turn.toItsEnd(stores.remove(displaced)).thenReturn(true);
        }).switchIfEmpty(Mono.defer(() -> {
          heed(going.get(), 0);
          return giveWay(turn, name, replaces).thenReturn(false);
        })).doOnError(failure -> ended(name, going.get(), old.get(), size, untilMillis)).doFinally(end -> {
          if (end == SignalType.CANCEL) { // its room is given back by now, so that no commit follows
            ended(name, going.get(), old.get(), size, untilMillis);
          }
        });
  }

  private KnownNames.Known known(StoredValue stored, int size, long untilMillis) {
    return new KnownNames.Known(stored, size, untilMillis, clocks.nanos().getAsLong());
  }

  /// Begins the turn, and asks `condition` in it.
  private Mono<Void> begin(NameTurns.Turn turn, String name, DoorValues.Condition condition) {
    return condition.equals(DoorValues.ANY) ? turn.begin() : turn.begin().then(require(name, condition));
  }

  /// Asks `condition`, in a turn; so it takes no other turn, as a look for what is whole would.
  private Mono<Void> require(String name, DoorValues.Condition condition) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      return one == null
          ? Flux.range(0, stores.count()).concatMap(size -> stores.headAt(name, size), 1)
              .mapNotNull(at -> at.orElse(null)).next().singleOptional()
          : Mono.just(Optional.of(one.stored()).filter(there -> !one.isOver(clocks.wall())));
    }).doOnNext(there -> condition.require(there.map(at -> at.info().version()).orElse(null))).then();
  }

  /// Waits for the writer that stores its value first, and takes away what lies under the name if there was none.
  private Mono<Void> giveWay(NameTurns.Turn turn, String name, Mono<Boolean> replaces) {
    turn.giveWay();
    return replaces.defaultIfEmpty(false).flatMap(isTold -> isTold
        ? turn.others().timeout(Mono.delay(WAY, threads.timers()).publishOn(threads.decisions()), Mono.empty())
            .then(turn.begin())
            .then(Mono.defer(() -> turn.isOvertaken() ? Mono.<Void>empty() : turn.toItsEnd(removeAll(name))))
        : Mono.empty());
  }

  private Mono<Void> removeAll(String name) {
    return stores.removeAll(name).doOnNext(was -> {
      KnownNames.Known one = known.of(name);
      if (one != null) {
        watch.forget(one);
      }
    }).then();
  }

  /// Looks what became of a put that did not end well: it may have stored its value all the same.
  ///
  /// @param old what lay in the place of the new value when all its bytes had come; null if the put had no other place
  ///     than `before`, or was not as far, and so stored nothing
  private void ended(String name, KnownNames.@Nullable Known before, @Nullable Optional<StoredValue> old, int size,
      LongSupplier untilMillis) {
    long until = untilMillis.getAsLong();
    heed(before, until);
    if (old != null) {
      ValueStore store = stores.store(size);
      watch.whileOpen(store.heads(List.of(store.headKey(name))).next()).filter(found -> found.name().equals(name))
          .subscribe(found -> {
            boolean isNew = old.filter(found::equals).isEmpty();
            KnownNames.Known now = known(found, size, isNew ? until : 0);
            if (before == null || !known.replace(before, now)) {
              known.addIfAbsent(now);
            }
            watch.review(known.of(name)); // its parts may be gone
          }, failure -> LOG.debug("a value of a put that ended is known when it is used", failure));
    }
  }

  /// Looks what became of a value whose put did not end well: the new value may be there all the same.
  private void heed(KnownNames.@Nullable Known before, long untilMillis) {
    if (before != null && known.heedEvents(before)) {
      watch.whileOpen(stores.store(before.size()).heads(List.of(before.marks().getFirst())).next())
          .filter(now -> !now.equals(before.stored()))
          .subscribe(now -> {
            known.replace(before, known(now, before.size(), untilMillis));
            watch.review(known.of(now.name())); // its parts may be gone
          }, failure -> known.forget(before));
      watch.review(before);
    }
  }
}
