package io.penstock.node.door;

import io.penstock.block.BlockScope;
import io.penstock.flow.ValueStore;
import io.penstock.tier.BlockTier;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.NavigableSet;
import java.util.concurrent.ConcurrentSkipListSet;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The values of one space, in the form of `PROTOCOL.md`, section 8. A value lies in the tier with the longest parts
/// that waste at most a third of its bytes; else in that with the shortest. Safe from any thread; every `Mono` and
/// `Flux` is cold.
public final class DoorValues {
  private static final int HEAD_BYTES = 36;
  private static final int ALIGNMENT = 64;
  private static final int WASTE = 3;

  private final List<ValueStore> stores;
  private final List<Integer> partBytes;
  private final NavigableSet<String> names = new ConcurrentSkipListSet<>();

  /// @param tiers the longest parts first; at least one
  DoorValues(List<BlockTier> tiers) {
    if (tiers.isEmpty()) {
      throw new IllegalArgumentException("tiers must be at least one (was none)");
    }
    this.stores = tiers.stream().map(ValueStore::new).toList();
    this.partBytes = tiers.stream().map(tier -> tier.info().space().layout().blockBytes()).toList();
  }

  /// Stores a value, in the place of the value of this name if there is one.
  ///
  /// @param bytes of the value, as [ValueStore#put] takes them
  /// @return true if the value was stored; false if another writer commits one first
  public Mono<Boolean> put(String name, long length, Flux<MemorySegment> bytes) {
    int chosen = size(name, length);
    return stores.get(chosen).upsert(name, length, bytes).flatMap(stored -> {
      if (stored) {
        names.add(name);
      }
      return stored ? removeFrom(name, chosen).thenReturn(true) : Mono.just(false);
    });
  }

  private int size(String name, long length) {
    int before = (HEAD_BYTES + name.getBytes(StandardCharsets.UTF_8).length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    for (int i = 0; i < partBytes.size() - 1; i++) {
      long taken = Math.ceilDiv(length + before, (long) partBytes.get(i)) * partBytes.get(i);
      if (taken - length <= length / WASTE) {
        return i;
      }
    }
    return partBytes.size() - 1;
  }

  /// @param but size that is left alone; -1 for none
  private Mono<Boolean> removeFrom(String name, int but) {
    return Flux.range(0, stores.size()).filter(i -> i != but).concatMap(i -> stores.get(i).remove(name))
        .reduce(false, Boolean::logicalOr);
  }

  /// Finds the value of `name`; empty if there is none.
  ///
  /// @param scope owns the parts that are read
  public Mono<ValueStore.Value> get(String name, BlockScope scope) {
    return Flux.fromIterable(stores).concatMap(store -> store.get(name, scope), 1).next()
        .doOnNext(found -> names.add(name)).switchIfEmpty(Mono.fromRunnable(() -> names.remove(name)));
  }

  /// The length of the value of `name`; empty if there is none.
  public Mono<Long> length(String name) {
    return Flux.fromIterable(stores).concatMap(store -> store.length(name), 1).next();
  }

  /// What is known of the value of `name` without its bytes; empty if there is none.
  public Mono<ValueStore.Info> info(String name) {
    return Flux.fromIterable(stores).concatMap(store -> store.info(name), 1).next();
  }

  /// Finds a part of the value of `name`, as [ValueStore#get(String, long, long, BlockScope)] does; empty if there is
  /// none.
  ///
  /// @param scope owns the parts that are read
  public Mono<ValueStore.Value> get(String name, long offset, long bytes, BlockScope scope) {
    return Flux.fromIterable(stores).concatMap(store -> store.get(name, offset, bytes, scope), 1).next();
  }

  /// Removes the value of `name`. Reads in progress keep their bytes.
  ///
  /// @return whether there was one
  public Mono<Boolean> remove(String name) {
    return removeFrom(name, -1).doOnNext(removed -> names.remove(name));
  }

  /// Names of values that were put or read here, sorted, from the one after `after` on. Some may be gone.
  ///
  /// @param after empty text for the first
  public Iterable<String> names(String after) {
    return names.tailSet(after, false);
  }
}
