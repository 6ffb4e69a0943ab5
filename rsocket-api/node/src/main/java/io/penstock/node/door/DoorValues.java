package io.penstock.node.door;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockScope;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValueStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import java.lang.foreign.MemorySegment;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The values of one space, in the form of `PROTOCOL.md`, section 8. A value lies in the tier with the longest parts
/// that waste at most a third of its bytes; else in that with the shortest.
///
/// The names of values that were put or found here are kept in memory, with their lengths, until the tier says that
/// they are gone: a question for one of them costs one lookup. Those that lie in the tiers already are looked for while
/// the node serves. Safe from any thread; every `Mono` and `Flux` is cold.
public final class DoorValues {
  private static final Logger LOG = LoggerFactory.getLogger(DoorValues.class);
  /// The condition that always holds.
  public static final Condition ANY = version -> {};

  private final SizedStores stores;
  private final NameTurns turns = new NameTurns();
  private final NameWatch watch;
  private final KnownNames known;
  private final ValuePuts puts;
  private final InstantSource wall;
  private final LongSupplier nanos;

  /// @param tiers the longest parts first; at least one
  /// @param memory of names, and the pace at which they are looked for
  DoorValues(List<BlockTier> tiers, NameMemory memory, DoorTerms.Threads threads, DoorTerms.Clocks clocks) {
    this.wall = clocks.wall();
    this.nanos = clocks.nanos();
    this.stores = new SizedStores(tiers, turns);
    this.watch = new NameWatch(stores, turns, memory, threads, nanos);
    this.known = watch.known();
    this.puts = new ValuePuts(stores, watch, turns, threads, clocks);
  }

  /// Follows what becomes of the values, and looks for their names, until [#close()].
  void watch() {
    watch.start();
  }

  /// Tells `gone` the name of each value that is no more, whatever took it.
  public void onGone(Consumer<String> gone) {
    watch.onGone(gone);
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
    return puts.put(name, length, bytes, condition, Mono.just(condition.equals(ANY)));
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
    return puts.put(name, length, bytes, untilMillis, ANY, replaces);
  }

  /// Stores a value as the other form does, if `condition` holds. The value that is there stays if another writer is
  /// first, so the client is to be told of it.
  public Mono<Boolean> put(String name, long length, ValueStore.Filling bytes, LongSupplier untilMillis,
      Condition condition) {
    return puts.put(name, length, bytes, untilMillis, condition, Mono.just(condition.equals(ANY)));
  }

  /// Finds the value of `name`; empty if there is none.
  ///
  /// @param scope owns the parts that are read
  public Mono<LeasedValue> get(String name, BlockScope scope) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one == null) {
        return Flux.range(0, stores.count()).concatMap(i -> find(name, i, 0, scope), 1).next();
      }
      return one.isOver(wall)
          ? removeOver(one).then(Mono.empty())
          : stores.store(one.size()).get(one.stored(), scope)
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
      return stores.store(size).get(name, scope).doOnNext(found -> learn(before, found, size, untilMillis));
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

  /// The length of the value of `name` where it is known without a question to a tier.
  public OptionalLong knownLength(String name) {
    KnownNames.Known one = known.of(name);
    return one == null || one.isOver(wall) ? OptionalLong.empty() : OptionalLong.of(one.length());
  }

  /// Whether the value of `name` is known to be there, without a question to a tier. It counts as used, at most once in
  /// `graceNanos`, if it lies in memory: what was just found is not the next to be evicted, and a question starves no
  /// writer.
  public boolean isKnown(String name, long graceNanos) {
    KnownNames.Known one = known.of(name);
    if (one == null || one.isOver(wall)) {
      return false;
    }
    long now = nanos.getAsLong();
    if (now - one.usedNanos().get() > graceNanos) {
      one.usedNanos().set(now);
      watch.whileOpen(stores.store(one.size()).touch(one.stored())).subscribe(used -> {},
          failure -> LOG.debug("a value that was found is not kept", failure));
    }
    return true;
  }

  /// The length of the value of `name`; empty if there is none.
  public Mono<Long> length(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null) {
        return one.isOver(wall) ? removeOver(one).then(Mono.empty()) : Mono.just(one.length());
      }
      return Flux.range(0, stores.count()).concatMap(i -> lookAt(name, i, LeasedValue::length), 1).next();
    });
  }

  /// The bytes that the value of `name` takes in its tiers, which are those of its blocks: more than its length. Empty
  /// if there is none.
  public Mono<Long> bytes(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null) {
        return one.isOver(wall)
            ? removeOver(one).then(Mono.empty())
            : Mono.just(stores.bytes(one.stored(), one.size()));
      }
      return Flux.range(0, stores.count())
          .concatMap(i -> lookAt(name, i, found -> stores.bytes(found.stored(), i)), 1).next();
    });
  }

  private <T> Mono<T> lookAt(String name, int size, Function<LeasedValue, T> fact) {
    ValueStore store = stores.store(size);
    return stores.tier(size).contains(List.of(store.headKey(name))).flatMap(there -> there.count() == 0
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
        return one.isOver(wall)
            ? removeOver(one).then(Mono.empty())
            : Mono.just(one.stored().info());
      }
      return Flux.range(0, stores.count()).concatMap(i -> lookAt(name, i, LeasedValue::info), 1).next();
    });
  }

  /// Finds a part of the value of `name`, as [ValueStore#get(String, long, long, BlockScope)] does; empty if there is
  /// none.
  ///
  /// @param scope owns the parts that are read
  public Mono<LeasedValue> get(String name, long offset, long bytes, BlockScope scope) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      if (one != null && one.isOver(wall)) {
        return removeOver(one).then(Mono.empty());
      }
      return one == null
          ? Flux.fromIterable(stores.stores()).concatMap(store -> store.get(name, offset, bytes, scope), 1).next()
          : stores.store(one.size()).get(name, offset, bytes, scope).switchIfEmpty(Mono.defer(() -> {
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
      boolean wasOver = one != null && one.isOver(wall);
      Mono<Boolean> removed = one == null ? stores.removeAll(name) : stores.store(one.size()).remove(name);
      return removed.map(was -> {
        boolean ours = one != null && known.forget(one);
        if (was || ours) {
          watch.tellGone(name);
        }
        return was && !wasOver;
      });
    });
  }

  private Mono<Void> removeIfOver(String name) {
    return Mono.defer(() -> {
      KnownNames.Known one = known.of(name);
      return one == null || !one.isOver(wall) ? Mono.empty() : removeOver(one);
    });
  }

  /// Removes a value whose time is over, and no other one that has its name by now.
  private Mono<Void> removeOver(KnownNames.Known one) {
    return turns.run(one.name(), stores.remove(one)).doOnNext(was -> watch.forget(one)).then();
  }

  /// When the value of `name` ends by itself, in milliseconds since 1970; 0 for never, -1 if its name is not known.
  public long untilMillis(String name) {
    KnownNames.Known one = known.of(name);
    return one == null || one.isOver(wall) ? -1 : one.untilMillis();
  }

  /// Lets the value of `name` end by itself; 0 for never.
  ///
  /// @return false if its name is not known
  public boolean end(String name, long untilMillis) {
    KnownNames.Known one = known.of(name);
    return one != null && !one.isOver(wall) && known.replace(one, one.until(untilMillis));
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

  /// Milliseconds from `millis` on for which these values last, all together. A sum that is too large for a number of
  /// 64 bits lacks its high bits.
  public long leftMillis(long millis) {
    return known.leftMillis(millis);
  }

  /// Number of the values that are known and of which a block lies in memory alone: they end with the node.
  Mono<Long> inMemoryAlone() {
    return Flux.fromIterable(stores.tiers())
        .concatMap(tier -> tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance), 1)
        .ofType(TierEvent.Present.class)
        .filter(block -> block.levels().stream().noneMatch(level -> level.medium() == Medium.DISK))
        .mapNotNull(block -> known.of(block.key())).map(KnownNames.Known::name).distinct().count();
  }

  /// Whether [#names] has all names that there were when the node began, and all that came here since: the search for
  /// them has ended, and none went for want of memory.
  public boolean isComplete() {
    return watch.isComplete();
  }

  /// Follows no longer what becomes of the values.
  void close() {
    watch.close();
  }
}
