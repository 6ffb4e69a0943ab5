package io.penstock.node.door;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.StoredValue;
import io.penstock.flow.ValueStore;
import io.penstock.node.text.Reason;
import io.penstock.operator.InTurn;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The values of one space, in the form of `PROTOCOL.md`, section 8. A value lies in the tier with the longest parts
/// that waste at most a third of its bytes; else in that with the shortest.
///
/// The names of values that were put or found here are kept in memory, with their lengths, until the tier says that
/// they are gone: a question for one of them costs one lookup. Those that lie in the tiers already are looked for while
/// the node serves. Safe from any thread; every `Mono` and `Flux` is cold.
public final class DoorValues {
  private static final Logger LOG = LoggerFactory.getLogger(DoorValues.class);
  private static final int HEAD_BYTES = 36;
  private static final int ALIGNMENT = 64;
  private static final int WASTE = 3;
  /// How long a writer waits for the one that it gives way to.
  private static final Duration WAY = Duration.ofMillis(100);
  /// The condition that always holds.
  public static final Condition ANY = version -> {};
  /// Memory that the key of a block takes while names are looked for, roughly.
  private static final int KEY_BYTES = 64;

  private final List<BlockTier> tiers;
  private final List<ValueStore> stores;
  private final int[] partBytes;
  private final KnownNames known;
  private final NameTurns turns = new NameTurns();
  private final InstantSource wall;
  private final LongSupplier nanos;
  private final Scheduler timers;
  private final Disposable.Composite watching = Disposables.composite();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final List<NameSearch> searches;
  /// Searches under way, by size.
  private final List<Disposable.Swap> searching;
  private final AtomicInteger unsearched = new AtomicInteger();
  private volatile Consumer<String> gone = name -> {};

  /// @param tiers the longest parts first; at least one
  /// @param memory of names, and the pace at which they are looked for
  DoorValues(List<BlockTier> tiers, NameMemory memory, DoorTerms.Threads threads, DoorTerms.Clocks clocks) {
    this.nanos = clocks.nanos();
    this.timers = threads.timers();
    if (tiers.isEmpty()) {
      throw new IllegalArgumentException("tiers must be at least one (was none)");
    }
    this.tiers = List.copyOf(tiers);
    this.stores = tiers.stream().map(tier -> new ValueStore(tier, turns::run)).toList();
    this.partBytes = tiers.stream().mapToInt(tier -> tier.info().space().layout().blockBytes()).toArray();
    this.wall = clocks.wall();
    this.known = new KnownNames(memory.bytes(), this::end);
    this.searches = IntStream.range(0, tiers.size()).mapToObj(size -> new NameSearch(tiers.get(size),
        stores.get(size), memory.bytesPerSecond(), memory.bytes() / KEY_BYTES, threads)).toList();
    this.searching = Stream.generate(Disposables::swap).limit(tiers.size()).toList();
  }

  /// Follows what becomes of the values, and looks for their names, until [#close()].
  void watch() {
    for (int i = 0; i < tiers.size(); i++) {
      int size = i;
      BlockTier tier = tiers.get(size);
      watching.add(tier.stat().flatMapMany(stat -> tier.events(stat.lastSequence()))
          .subscribe(event -> changed(event, size),
              failure -> LOG.warn("values of {} that are gone are found by readers alone: {}",
                  tier.info().name(), Reason.of(failure))));
      watching.add(searching.get(size));
      search(size);
    }
  }

  private void changed(TierEvent event, int size) {
    switch (event) {
      case TierEvent.Evicted evicted -> review(known.of(evicted.key()));
      case TierEvent.Removed removed -> review(known.of(removed.key()));
      case TierEvent.Lost lost -> review(known.of(lost.key()));
      case TierEvent.LevelUp up -> search(size);
      case TierEvent.LevelDown down -> searchAgain(size);
      case TierEvent.Skipped skipped -> searchAgain(size);
      default -> {
      }
    }
  }

  private void searchAgain(int size) {
    known.forgetAll(size);
    search(size);
  }

  /// Looks for the names of the values that a tier has, instead of a search that is under way.
  private void search(int size) {
    AtomicBoolean isUnderWay = new AtomicBoolean(true);
    unsearched.incrementAndGet();
    searching.get(size).update(searches.get(size).values(key -> known.of(key) != null, known::leaveOut)
        .doOnNext(stored -> {
          KnownNames.Known one = new KnownNames.Known(stored, size, 0, nanos.getAsLong());
          known.addIfAbsent(one);
          review(known.of(one.name()));
        })
        .doFinally(end -> {
          if (isUnderWay.getAndSet(false)) {
            unsearched.decrementAndGet();
          }
        })
        .subscribe(found -> {}, failure -> {
          known.leaveOut();
          LOG.warn("names of values of {} are known when they are used: {}", tiers.get(size).info().name(),
              Reason.of(failure));
        }));
  }

  /// Work that ends with these values. Nothing of it is kept when it is done.
  private <T> Mono<T> whileOpen(Mono<T> work) {
    return work.takeUntilOther(closed.asMono());
  }

  /// Ends a value whose end is known no more.
  private void end(KnownNames.Known one) {
    whileOpen(turns.run(one.name(), remove(one))).subscribe(was -> gone.accept(one.name()),
        failure -> LOG.debug("a value that ends by itself stays for now", failure));
  }

  /// Forgets a name unless its value is there: an event may be about a value that another has replaced since.
  private void review(KnownNames.@Nullable Known one) {
    if (one != null) {
      whileOpen(tiers.get(one.size()).contains(one.marks()))
          .filter(there -> there.count() < one.marks().size() && known.forget(one))
          .subscribe(lost -> gone.accept(one.name()), failure -> known.forget(one));
    }
  }

  /// Tells `gone` the name of each value that is no more, whatever took it.
  public void onGone(Consumer<String> gone) {
    this.gone = this.gone.andThen(gone);
  }

  /// Stores a value, in the place of the value of this name if there is one.
  ///
  /// @param bytes of the value, as [ValueStore#put] takes them
  /// @return true if the value was stored; false if another writer commits one first
  public Mono<Boolean> put(String name, long length, Flux<MemorySegment> bytes) {
    return put(name, length, bytes, ANY);
  }

  /// Stores a value as the other form does, if `condition` holds. The value that is there stays if another writer is
  /// first, so the client is to be told of it.
  public Mono<Boolean> put(String name, long length, Flux<MemorySegment> bytes, Condition condition) {
    return put(name, (store, same, before, last) -> store.replace(same, length, bytes, before, last),
        size(name, length), () -> 0, condition, Mono.just(condition.equals(ANY)));
  }

  /// What must hold for a put to replace what is there.
  public interface Condition {
    /// Called when all bytes have come, in the turn of the put: no other put of a door of this node changes the value
    /// until this one has stored its own. What it throws ends the put, which then changes nothing.
    ///
    /// @param version of the value that is there; null if there is none
    void require(@Nullable BlockHash version);
  }

  /// Stores a value whose bytes are written where they are to lie, and that may end by itself.
  ///
  /// @param untilMillis asked when all bytes have come: milliseconds since 1970 at which the value ends, 0 for never. A
  ///     restart of the node forgets it
  /// @param replaces subscribed if another writer is to store its value first: whether the client of this one is told
  ///     that its value was stored all the same. Then no older value is left under the name
  public Mono<Boolean> put(String name, long length, ValueStore.Filling bytes, LongSupplier untilMillis,
      Mono<Boolean> replaces) {
    return put(name, length, bytes, untilMillis, ANY, replaces);
  }

  /// Stores a value as the other form does, if `condition` holds. The value that is there stays if another writer is
  /// first, so the client is to be told of it.
  public Mono<Boolean> put(String name, long length, ValueStore.Filling bytes, LongSupplier untilMillis,
      Condition condition) {
    return put(name, length, bytes, untilMillis, condition, Mono.just(condition.equals(ANY)));
  }

  private Mono<Boolean> put(String name, long length, ValueStore.Filling bytes, LongSupplier untilMillis,
      Condition condition, Mono<Boolean> replaces) {
    return put(name, (store, same, before, last) -> store.replace(same, length, bytes, before, last),
        size(name, length), untilMillis, condition, replaces);
  }

  private interface Replacing {
    /// @param name the very text that is known already, so that each value of a name does not keep another
    Mono<StoredValue> in(ValueStore store, String name, @Nullable StoredValue before, Mono<StoredValue> last);
  }

  /// The new value takes the place of the old one when all its bytes have come: it has memory by then, and the tiers
  /// are asked for the old one not before. A value of this name in another size goes just before the new one is
  /// visible: a node that dies between the two steps, and starts again, has neither, and not the old one beside the
  /// new one. Of writers of one name at a time, the one that is known last has it.
  ///
  /// A writer without a condition that gives way to another one waits until that one has stored its value: then it is
  /// as if it had stored its own just before. If the other one fails, or takes too long, it takes away what lies under
  /// the name, for a client that was told that its value is stored must not read an older one. Each of these changes
  /// has a turn of its own, so that none of them takes away what another put stores between its look and its removal.
  /// That holds for all doors of this node. A value that another client of the node stores in these moments, without a
  /// door, may go, too.
  ///
  /// @param size that the new value gets
  private Mono<Boolean> put(String name, Replacing bytes, int size, LongSupplier untilMillis, Condition condition,
      Mono<Boolean> replaces) {
    return Mono.using(() -> turns.enter(name),
        turn -> put(turn, name, bytes, size, untilMillis, condition, replaces), NameTurns.Turn::leave);
  }

  private Mono<Boolean> put(NameTurns.Turn turn, String name, Replacing bytes, int size, LongSupplier untilMillis,
      Condition condition, Mono<Boolean> replaces) {
    turn.write();
    KnownNames.Known before = known.of(name);
    if (before != null) {
      known.ignoreEvents(before);
    }
    AtomicReference<KnownNames.@Nullable Known> going = new AtomicReference<>(before);
    AtomicReference<@Nullable Optional<StoredValue>> old = new AtomicReference<>();
    Mono<StoredValue> last = turn.begin().then(required(name, condition)).then(Mono.defer(() -> {
      KnownNames.Known now = known.of(name);
      if (now != null && !now.equals(before)) {
        known.ignoreEvents(now);
        going.set(now);
      }
      return now != null && now.size() == size
          ? Mono.just(now.stored())
          : turn.toItsEnd((now == null ? removeFrom(name, size) : remove(now)).then(headAt(name, size)))
              .doOnNext(old::set).flatMap(Mono::justOrEmpty);
    }));
    Mono<StoredValue> replaced = before != null && before.size() == size
        ? bytes.in(stores.get(size), before.name(), before.stored(), last)
        : bytes.in(stores.get(size), name, null, last);
    return replaced
        .flatMap(stored -> {
          turn.stored();
          KnownNames.Known displaced =
              known.add(new KnownNames.Known(stored, size, untilMillis.getAsLong(), nanos.getAsLong()));
          return displaced == null || displaced.size() == size || displaced.equals(going.get())
              ? Mono.just(true)
              : turn.toItsEnd(remove(displaced)).thenReturn(true);
        }).switchIfEmpty(Mono.defer(() -> {
          heed(going.get(), 0);
          return giveWay(turn, name, replaces).thenReturn(false);
        })).doOnError(failure -> ended(name, going.get(), old.get(), size, untilMillis)).doFinally(end -> {
          if (end == SignalType.CANCEL) { // its room is given back by now, so that no commit follows
            ended(name, going.get(), old.get(), size, untilMillis);
          }
        });
  }

  /// Asks `condition`, in a turn; so it takes no other turn, as a look for what is whole would.
  private Mono<Void> required(String name, Condition condition) {
    return condition.equals(ANY)
        ? Mono.empty()
        : Mono.defer(() -> {
          KnownNames.Known one = known.of(name);
          return one == null
              ? Flux.range(0, stores.size()).concatMap(size -> headAt(name, size), 1).mapNotNull(at -> at.orElse(null))
                  .next().singleOptional()
              : Mono.just(Optional.of(one.stored()).filter(there -> !isOver(one)));
        }).doOnNext(there -> condition.require(there.map(at -> at.info().version()).orElse(null))).then();
  }

  /// Waits for the writer that stores its value first, and takes away what lies under the name if there was none.
  private Mono<Void> giveWay(NameTurns.Turn turn, String name, Mono<Boolean> replaces) {
    turn.giveWay();
    return replaces.defaultIfEmpty(false).flatMap(isTold -> isTold
        ? turn.others().timeout(Mono.delay(WAY, timers), Mono.empty()).then(turn.begin())
            .then(Mono.defer(() -> turn.isOvertaken() ? Mono.<Void>empty() : turn.toItsEnd(removeAll(name))))
        : Mono.empty());
  }

  private Mono<Void> removeAll(String name) {
    return removeFrom(name, -1).doOnNext(was -> {
      KnownNames.Known one = known.of(name);
      if (one != null && known.forget(one)) {
        gone.accept(name);
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
      ValueStore store = stores.get(size);
      whileOpen(store.heads(List.of(store.headKey(name))).next()).filter(found -> found.name().equals(name))
          .subscribe(found -> {
            boolean isNew = old.filter(found::equals).isEmpty();
            KnownNames.Known now = new KnownNames.Known(found, size, isNew ? until : 0, nanos.getAsLong());
            if (before == null || !known.replace(before, now)) {
              known.addIfAbsent(now);
            }
            review(known.of(name)); // its parts may be gone
          }, failure -> LOG.debug("a value of a put that ended is known when it is used", failure));
    }
  }

  /// The value that lies in one size, as far as its head tells; parts of it may be gone. No read where there is none.
  private Mono<Optional<StoredValue>> headAt(String name, int size) {
    return stores.get(size).find(name).singleOptional();
  }

  /// Removes this value, and no other of its name. In a turn of the name.
  private Mono<Boolean> remove(KnownNames.Known one) {
    return stores.get(one.size()).remove(one.stored());
  }

  /// Looks what became of a value whose put did not end well: the new value may be there all the same.
  private void heed(KnownNames.@Nullable Known before, long untilMillis) {
    if (before != null && known.heedEvents(before)) {
      whileOpen(stores.get(before.size()).heads(List.of(before.marks().getFirst())).next())
          .filter(now -> !now.equals(before.stored()))
          .subscribe(now -> {
            known.replace(before, new KnownNames.Known(now, before.size(), untilMillis, nanos.getAsLong()));
            review(known.of(now.name())); // its parts may be gone
          }, failure -> known.forget(before));
      review(before);
    }
  }

  private int size(String name, long length) {
    int before = (HEAD_BYTES + name.getBytes(StandardCharsets.UTF_8).length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    for (int i = 0; i < partBytes.length - 1; i++) {
      long taken = Math.ceilDiv(length + before, (long) partBytes[i]) * partBytes[i];
      if (taken - length <= length / WASTE) {
        return i;
      }
    }
    return partBytes.length - 1;
  }

  /// @param but size that is left alone; -1 for none
  private Mono<Boolean> removeFrom(String name, int but) {
    return Flux.range(0, stores.size()).filter(i -> i != but).concatMap(i -> removeAt(name, i))
        .reduce(false, Boolean::logicalOr);
  }

  private Mono<Boolean> removeAt(String name, int size) {
    ValueStore store = stores.get(size);
    return tiers.get(size).contains(List.of(store.headKey(name)))
        .flatMap(there -> there.count() == 0 ? Mono.just(false) : store.remove(name));
  }

  /// Finds the value of `name`; empty if there is none.
  ///
  /// @param scope owns the parts that are read
  public Mono<LeasedValue> get(String name, BlockScope scope) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one == null) {
        return Flux.range(0, stores.size()).concatMap(i -> find(name, i, 0, scope), 1).next();
      }
      return isOver(one)
          ? removeOver(one).then(Mono.empty())
          : stores.get(one.size()).get(one.stored(), scope)
              .doOnNext(found -> learn(one, found, one.size(), one.untilMillis()))
              .switchIfEmpty(Mono.defer(() -> {
                known.forget(one);
                return get(name, scope);
              }));
    });
  }

  private Mono<LeasedValue> find(String name, int size, long untilMillis, BlockScope scope) {
    return Mono.defer(() -> {
      KnownNames.Known before = known.of(name);
      return stores.get(size).get(name, scope).doOnNext(found -> learn(before, found, size, untilMillis));
    });
  }

  /// Knows what a read found, unless a put or another read was quicker: the read may have found an older value.
  private void learn(KnownNames.@Nullable Known before, LeasedValue found, int size, long untilMillis) {
    if (before != null && found.is(before.stored())) {
      return;
    }
    KnownNames.Known now = new KnownNames.Known(found.stored(), size, untilMillis, nanos.getAsLong());
    if (before == null) {
      known.addIfAbsent(now);
    } else {
      known.replace(before, now);
    }
  }

  private boolean isOver(KnownNames.Known one) {
    return one.untilMillis() != 0 && one.untilMillis() <= wall.millis();
  }

  /// The length of the value of `name` where it is known without a question to a tier.
  public OptionalLong knownLength(String name) {
    KnownNames.Known one = known.of(name);
    return one == null || isOver(one) ? OptionalLong.empty() : OptionalLong.of(one.length());
  }

  /// Whether the value of `name` is known to be there, without a question to a tier. It counts as used, at most once in
  /// `graceNanos`, if it lies in memory: what was just found is not the next to be evicted, and a question starves no
  /// writer.
  public boolean isKnown(String name, long graceNanos) {
    KnownNames.Known one = known.of(name);
    if (one == null || isOver(one)) {
      return false;
    }
    long now = nanos.getAsLong();
    if (now - one.usedNanos().get() > graceNanos) {
      one.usedNanos().set(now);
      whileOpen(stores.get(one.size()).touch(one.stored())).subscribe(used -> {},
          failure -> LOG.debug("a value that was found is not kept", failure));
    }
    return true;
  }

  /// The length of the value of `name`; empty if there is none.
  public Mono<Long> length(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null) {
        return isOver(one) ? removeOver(one).then(Mono.empty()) : Mono.just(one.length());
      }
      return Flux.range(0, stores.size()).concatMap(i -> lookAt(name, i, LeasedValue::length), 1).next();
    });
  }

  /// The bytes that the value of `name` takes in its tiers, which are those of its blocks: more than its length. Empty
  /// if there is none.
  public Mono<Long> bytes(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null) {
        return isOver(one)
            ? removeOver(one).then(Mono.empty())
            : Mono.just(one.stored().blocks() * partBytes[one.size()]);
      }
      return Flux.range(0, stores.size())
          .concatMap(i -> lookAt(name, i, found -> found.stored().blocks() * partBytes[i]), 1).next();
    });
  }

  private <T> Mono<T> lookAt(String name, int size, Function<LeasedValue, T> fact) {
    ValueStore store = stores.get(size);
    return tiers.get(size).contains(List.of(store.headKey(name))).flatMap(there -> there.count() == 0
        ? Mono.empty()
        : Mono.usingWhen(Mono.fromSupplier(BlockScope::new), scope -> find(name, size, 0, scope).map(found -> {
          found.close();
          return fact.apply(found);
        }), scope -> Mono.fromRunnable(scope::close)));
  }

  /// Figures of the names.
  Names names() {
    return new Names(known.count(), isComplete());
  }

  /// Names of the values of a space.
  ///
  /// @param known how many the node knows
  /// @param complete as [#isComplete()]
  public record Names(int known, boolean complete) {}

  /// What is known of the value of `name` without its bytes; empty if there is none.
  public Mono<ValueStore.Info> info(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null) {
        return isOver(one)
            ? removeOver(one).then(Mono.empty())
            : Mono.just(one.stored().info());
      }
      return Flux.range(0, stores.size()).concatMap(i -> lookAt(name, i, LeasedValue::info), 1).next();
    });
  }

  /// Finds a part of the value of `name`, as [ValueStore#get(String, long, long, BlockScope)] does; empty if there is
  /// none.
  ///
  /// @param scope owns the parts that are read
  public Mono<LeasedValue> get(String name, long offset, long bytes, BlockScope scope) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null && isOver(one)) {
        return removeOver(one).then(Mono.empty());
      }
      return one == null
          ? Flux.fromIterable(stores).concatMap(store -> store.get(name, offset, bytes, scope), 1).next()
          : stores.get(one.size()).get(name, offset, bytes, scope).switchIfEmpty(Mono.defer(() -> {
            known.forget(one);
            return get(name, offset, bytes, scope);
          }));
    });
  }

  /// Removes the value of `name`. Reads in progress keep their bytes.
  ///
  /// @return whether there was one
  public Mono<Boolean> remove(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      boolean wasOver = one != null && isOver(one);
      Mono<Boolean> removed = one == null ? removeFrom(name, -1) : stores.get(one.size()).remove(name);
      return removed.map(was -> {
        boolean ours = one != null && known.forget(one);
        if (was || ours) {
          gone.accept(name);
        }
        return was && !wasOver;
      });
    });
  }

  private Mono<Void> removeIfOver(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      return one == null || !isOver(one) ? Mono.empty() : removeOver(one);
    });
  }

  /// Removes a value whose time is over, and no other one that has its name by now.
  private Mono<Void> removeOver(KnownNames.Known one) {
    return turns.run(one.name(), remove(one)).doOnNext(was -> {
      if (known.forget(one)) {
        gone.accept(one.name());
      }
    }).then();
  }

  /// When the value of `name` ends by itself, in milliseconds since 1970; 0 for never, -1 if its name is not known.
  public long untilMillis(String name) {
    KnownNames.Known one = known.of(name);
    return one == null || isOver(one) ? -1 : one.untilMillis();
  }

  /// Lets the value of `name` end by itself; 0 for never.
  ///
  /// @return false if its name is not known
  public boolean end(String name, long untilMillis) {
    KnownNames.Known one = known.of(name);
    return one != null && !isOver(one) && known.replace(one, one.until(untilMillis));
  }

  /// Removes the values whose time is over.
  ///
  /// @return cold; completes when they are gone
  Mono<Void> removeEnded() {
    return Mono.defer(() -> Flux.fromIterable(known.endedBy(wall.millis())).concatMap(this::removeIfOver).then());
  }

  /// Names of values that are known, sorted, from the one after `after` on. Those that other clients of the node store
  /// are known when they are used here, or when the node starts again.
  ///
  /// @param after empty text for the first
  public Iterable<String> names(String after) {
    return known.names(after);
  }

  /// Number of the names that [#names] has.
  public int count() {
    return known.count();
  }

  /// Number of these names whose values end by themselves.
  public int ending() {
    return known.ending();
  }

  /// Number of the values that are known and of which a block lies in memory alone: they end with the node.
  Mono<Long> inMemoryAlone() {
    return Flux.fromIterable(tiers)
        .concatMap(tier -> tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance), 1)
        .ofType(TierEvent.Present.class)
        .filter(block -> block.levels().stream().noneMatch(level -> level.medium() == Medium.DISK))
        .mapNotNull(block -> known.of(block.key())).map(KnownNames.Known::name).distinct().count();
  }

  /// Whether [#names] has all names that there were when the node began, and all that came here since: the search for
  /// them has ended, and none went for want of memory.
  public boolean isComplete() {
    return unsearched.get() == 0 && !known.isSome();
  }

  /// Follows no longer what becomes of the values.
  void close() {
    watching.dispose();
    closed.tryEmitEmpty();
  }
}
