package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.BlockName;
import io.penstock.cluster.directory.Holders;
import io.penstock.cluster.directory.MapLoss;
import io.penstock.cluster.directory.SharedMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongPredicate;
import org.infinispan.AdvancedCache;
import org.infinispan.container.entries.InternalCacheEntry;
import org.infinispan.distribution.LocalizedCacheTopology;
import org.infinispan.functional.EntryView.ReadWriteEntryView;
import org.infinispan.functional.FunctionalMap.ReadWriteMap;
import org.infinispan.functional.Param.StatisticsMode;
import org.infinispan.functional.impl.FunctionalMapImpl;
import org.infinispan.functional.impl.ReadWriteMapImpl;
import org.infinispan.remoting.transport.Address;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.scheduler.Scheduler;

/// The [SharedMap] in a distributed cache of Infinispan, whose keys and values are bytes.
final class DistributedMap implements SharedMap {
  private static final int PURGED_AT_ONCE = 512;
  /// How long an owner is waited for.
  private static final Duration SILENCE = Duration.ofSeconds(1);
  private static final int MOST_OWNERS = BlockName.SEGMENTS;

  private final AdvancedCache<byte[], byte[]> cache;
  private final ReadWriteMap<byte[], byte[]> functions;
  private final Flux<MapLoss> losses;
  private final Scheduler waiting;
  private final Scheduler sweeper;
  private final Scheduler timers;
  private final LongAdder unanswered = new LongAdder();

  /// @param waiting virtual threads, each of which waits for a change: Infinispan changes many entries in no other way
  /// @param sweeper one thread, which walks over all entries kept here
  /// @param timers of waits for answers; never used for work
  DistributedMap(AdvancedCache<byte[], byte[]> cache, Flux<MapLoss> losses, Scheduler waiting, Scheduler sweeper,
      Scheduler timers) {
    this.cache = cache;
    this.functions = ReadWriteMapImpl.create(FunctionalMapImpl.create(cache)).withParams(StatisticsMode.SKIP);
    this.losses = losses;
    this.waiting = waiting;
    this.sweeper = sweeper;
    this.timers = timers;
  }

  @Override
  public Mono<Void> announce(long round, int level, long[] former, List<BlockName> names) {
    return change(names, new Announce(round, level, former));
  }

  @Override
  public Mono<Void> forget(long[] rounds, List<BlockName> names) {
    return change(names, new Forget(rounds));
  }

  /// One command for each owner, all at once. A command for several would lock the names kept here while it waits for
  /// other members, and two members that change the same names would wait for each other.
  private Mono<Void> change(List<BlockName> names,
      Function<ReadWriteEntryView<byte[], byte[]>, @Nullable Void> function) {
    if (names.size() == 1) {
      return Mono.fromCompletionStage(() -> functions.eval(names.getFirst().bytes(), function)).then();
    }
    return Flux.defer(() -> Flux.fromIterable(byOwner(names).values()))
        .flatMap(some -> Mono.<Void>fromRunnable(() -> changeNow(some, function)).subscribeOn(waiting), MOST_OWNERS)
        .then();
  }

  private Map<Address, Set<byte[]>> byOwner(List<BlockName> names) {
    LocalizedCacheTopology topology = cache.getDistributionManager().getCacheTopology();
    Map<Address, Set<byte[]>> byOwner = new HashMap<>();
    for (BlockName name : names) {
      Address owner = topology.getSegmentDistribution(name.segment()).primary();
      byOwner.computeIfAbsent(owner == null ? topology.getLocalAddress() : owner, any -> new HashSet<>())
          .add(name.bytes());
    }
    return byOwner;
  }

  private void changeNow(Set<byte[]> keys, Function<ReadWriteEntryView<byte[], byte[]>, @Nullable Void> function) {
    try {
      functions.evalMany(keys, function).forEach(nothing -> {});
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /// One question for each owner, all at once. What an owner does not tell in time counts as without holders: a member
  /// that falls silent hides the names that it keeps, and no others. Fails only if no question can be asked.
  @Override
  public Mono<List<byte[]>> locate(List<BlockName> names) {
    return Mono.defer(() -> {
      Collection<Set<byte[]>> asked = byOwner(names).values();
      return Flux.fromIterable(asked)
          .flatMapDelayError(keys -> Mono.fromCompletionStage(() -> cache.getAllAsync(keys)), MOST_OWNERS, 1)
          .takeUntilOther(Mono.delay(SILENCE, timers)).materialize().collectList()
          .doOnNext(answers -> unanswered.add(asked.size() - answers.stream().filter(Signal::isOnNext).count()))
          .flatMap(answers -> inOrder(names, answers));
    });
  }

  @Override
  public long unanswered() {
    return unanswered.sum();
  }

  private static Mono<List<byte[]>> inOrder(List<BlockName> names, List<Signal<Map<byte[], byte[]>>> answers) {
    Throwable failure = answers.getLast().getThrowable();
    if (failure != null && answers.size() == 1 && !names.isEmpty()) {
      return Mono.error(failure);
    }
    FoundNames found = new FoundNames(names.size());
    for (Signal<Map<byte[], byte[]>> answer : answers) {
      Map<byte[], byte[]> part = answer.get();
      if (part != null) {
        part.forEach(found::put);
      }
    }
    return Mono.just(found.inOrder(names));
  }

  @Override
  public Mono<long[]> unknown(LongPredicate known) {
    return Mono.fromCallable(() -> {
      Set<Long> unknown = new HashSet<>();
      for (InternalCacheEntry<byte[], byte[]> entry : cache.getDataContainer()) {
        byte[] holders = value(entry);
        for (int i = 0; i < Holders.count(holders); i++) {
          if (!known.test(Holders.roundAt(holders, i))) {
            unknown.add(Holders.roundAt(holders, i));
          }
        }
      }
      return unknown.stream().mapToLong(Long::longValue).toArray();
    }).subscribeOn(sweeper);
  }

  @Override
  public Mono<Void> purge(long[] rounds) {
    return Mono.<Void>fromRunnable(() -> purgeNow(rounds)).subscribeOn(sweeper);
  }

  private void purgeNow(long[] rounds) {
    Forget forget = new Forget(rounds);
    Set<byte[]> some = new HashSet<>();
    for (InternalCacheEntry<byte[], byte[]> entry : cache.getDataContainer()) {
      byte[] holders = value(entry);
      if (!Arrays.equals(holders, Holders.without(holders, round -> Holders.contains(rounds, round)))) {
        some.add(key(entry));
      }
      if (some.size() == PURGED_AT_ONCE) {
        changeNow(some, forget);
        some.clear();
      }
    }
    if (!some.isEmpty()) {
      changeNow(some, forget);
    }
  }

  private static byte[] key(InternalCacheEntry<?, ?> entry) {
    return Bytes.of(entry.getKey());
  }

  private static byte[] value(InternalCacheEntry<?, ?> entry) {
    return Bytes.of(entry.getValue());
  }

  @Override
  public Flux<MapLoss> losses() {
    return losses;
  }
}
