package io.penstock.node.door;

import io.penstock.node.text.Reason;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierEvent;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Brings the known names of a space in line with its tiers: looks for the names of the values that they have, and
/// forgets a name when its value is gone. Safe from any thread.
final class NameWatch {
  private static final Logger LOG = LoggerFactory.getLogger(NameWatch.class);
  /// Memory that the key of a block takes while names are looked for, roughly.
  private static final int KEY_BYTES = 64;

  private final SizedStores stores;
  private final NameTurns turns;
  private final LongSupplier nanos;
  private final KnownNames known;
  private final Disposable.Composite watching = Disposables.composite();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final List<NameSearch> searches;
  /// Searches under way, by size.
  private final List<Disposable.Swap> searching;
  private final AtomicInteger unsearched = new AtomicInteger();
  private volatile Consumer<String> gone = name -> {};

  /// @param memory of names, and the pace at which they are looked for
  NameWatch(SizedStores stores, NameTurns turns, NameMemory memory, DoorTerms.Threads threads, LongSupplier nanos) {
    this.stores = stores;
    this.turns = turns;
    this.nanos = nanos;
    this.known = new KnownNames(memory.bytes(), this::end);
    this.searches = IntStream.range(0, stores.count()).mapToObj(size -> new NameSearch(stores.tier(size),
        stores.store(size), memory.bytesPerSecond(), memory.bytes() / KEY_BYTES, threads)).toList();
    this.searching = Stream.generate(Disposables::swap).limit(stores.count()).toList();
  }

  /// The names that it brings in line.
  KnownNames known() {
    return known;
  }

  /// Follows the tiers, and looks for names, until [#close()].
  void start() {
    for (int i = 0; i < stores.count(); i++) {
      int size = i;
      BlockTier tier = stores.tier(size);
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
          LOG.warn("names of values of {} are known when they are used: {}", stores.tier(size).info().name(),
              Reason.of(failure));
        }));
  }

  /// Ends a value whose end is known no more.
  private void end(KnownNames.Known one) {
    whileOpen(turns.run(one.name(), stores.remove(one))).subscribe(was -> gone.accept(one.name()),
        failure -> LOG.debug("a value that ends by itself stays for now", failure));
  }

  /// Work that ends with this watch. Nothing of it is kept when it is done.
  <T> Mono<T> whileOpen(Mono<T> work) {
    return work.takeUntilOther(closed.asMono());
  }

  /// Forgets a name unless its value is there: an event may be about a value that another has replaced since.
  void review(KnownNames.@Nullable Known one) {
    if (one != null) {
      whileOpen(stores.tier(one.size()).contains(one.marks()))
          .filter(there -> there.count() < one.marks().size() && known.forget(one))
          .subscribe(lost -> gone.accept(one.name()), failure -> known.forget(one));
    }
  }

  /// Forgets the name of a value that is gone, and tells so, unless another value has the name by now.
  void forget(KnownNames.Known one) {
    if (known.forget(one)) {
      gone.accept(one.name());
    }
  }

  /// Tells that the value of a name is gone.
  void tellGone(String name) {
    gone.accept(name);
  }

  /// Tells `gone` the name of each value that is no more, whatever took it.
  void onGone(Consumer<String> gone) {
    this.gone = this.gone.andThen(gone);
  }

  /// Whether all names are known that there were when it started, and all since: the search for them has ended, and
  /// none went for want of memory.
  boolean isComplete() {
    return unsearched.get() == 0 && !known.isSome();
  }

  /// Follows the tiers no longer.
  void close() {
    watching.dispose();
    closed.tryEmitEmpty();
  }
}
